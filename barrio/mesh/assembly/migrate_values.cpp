#include <algorithm>
#include <variant>

#include "barrio/mesh/assembly/carry_tags.hpp"
#include "barrio/mesh/assembly/migration.hpp"

// Values of tags and fields travel with the cells of their entities. In the end owners bring copies up to date.

namespace barrio::mesh {
namespace {

using detail::ByteValues;
using detail::ByteValuesView;
using detail::MessageReader;
using detail::MessageWriter;

/// Bytes of an entity's values in a field.
std::size_t bytes_per_entity(const FieldData& field) {
  return std::visit([&](const auto& values) { return sizeof(values[0]) * field.n_components; }, field.values);
}

std::span<const std::byte> bytes_of(const FieldData& field) {
  return std::visit([](const auto& values) { return std::as_bytes(std::span(values)); }, field.values);
}

}  // namespace

void MeshMigration::put_values(MessageWriter& out, Dim dim, std::span<const std::int32_t> ids) const {
  for (const detail::TagLookUp& values : old_tags_[index(dim)]) {
    ByteValues carried;
    for (const std::int32_t id : ids) {
      if (const std::size_t i = id; values.has(i)) {
        carried.add(values.of(i));
      } else {
        carried.add_nothing();
      }
    }
    carried.put_into(out);
  }
  for (const auto& field : old_.fields) {
    if (field->dim != dim) continue;
    const std::size_t n = bytes_per_entity(*field);
    const auto all = bytes_of(*field);
    std::vector<std::byte> carried;
    carried.reserve(n * ids.size());
    for (const std::int32_t id : ids) {
      const auto of_entity = all.subspan(n * id, n);
      carried.insert(carried.end(), of_entity.begin(), of_entity.end());
    }
    out.put(carried);
  }
}

void MeshMigration::read_values(Arrival& arrival, Dim dim) const {
  const auto d = index(dim);
  for (std::size_t t = 0; t < old_.tags.size(); ++t) arrival.tags[d].emplace_back(arrival.reader);
  for (const auto& field : old_.fields)
    if (field->dim == dim) arrival.fields[d].push_back(arrival.reader.get<std::byte>());
}

std::vector<MeshMigration::Origin> MeshMigration::origins_of(Dim dim) const {
  if (dim != Dim::vertex && dim != out_.cell_dim) {
    const auto d = index(dim);
    std::vector<Origin> origins;
    for (const GlobalId id : out_.entities[d].global_ids) {
      const std::int32_t place = side_origins_[d].places.find(id);
      origins.push_back(place < 0 ? Origin{} : side_origins_[d].origins[place]);
    }
    return origins;
  }
  const bool of_vertices = dim == Dim::vertex;
  const std::vector<LocalId>& at = of_vertices ? vertex_at_ : cell_at_;
  const std::vector<Origin>& by_place = of_vertices ? vertex_origins_ : cell_origins_;
  std::vector<Origin> origins(at.size());
  for (std::size_t place = 0; place < by_place.size(); ++place) origins[index(at[place])] = by_place[place];
  return origins;
}

void MeshMigration::take_values() {
  for (int d = 0; d <= value(out_.cell_dim); ++d) {
    if (!out_.halos[d]) continue;
    const std::vector<Origin> origins = origins_of(Dim{d});
    if (!out_.tags.empty()) take_tags(Dim{d}, origins);
    take_fields(Dim{d}, origins);
  }
}

void MeshMigration::take_tags(Dim dim, std::span<const Origin> origins) {
  const auto d = index(dim);
  const std::vector<detail::TagLookUp>& old = old_tags_[d];
  const auto with_value = [&](std::size_t t, LocalId id, auto&& visit) {
    const Origin& from = origins[index(id)];
    const std::size_t at = from.at;
    if (from.message == Origin::old_mesh) {
      if (!old[t].has(at)) return false;
      visit(old[t].of(at));
      return true;
    }
    const ByteValuesView& carried = arrivals_[from.message].tags[d][t];
    if (!carried.has(at)) return false;
    visit(carried[at]);
    return true;
  };
  detail::carry_tags(*hood_, *out_.halos[d], dim, out_.n_owned(dim), out_.tags, with_value);
}

void MeshMigration::take_fields(Dim dim, std::span<const Origin> origins) {
  const auto d = index(dim);
  std::size_t place = 0;  // among the fields of this dimension
  for (std::size_t f = 0; f < old_.fields.size(); ++f) {
    const FieldData& field = *old_.fields[f];
    if (field.dim != dim) continue;
    const std::size_t n_components = field.n_components;
    std::visit(
        [&]<class T>(const std::vector<T>& old) {
          std::vector<T> values(origins.size() * n_components);
          const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
          const std::size_t n = sizeof(T) * n_components;
          for (std::size_t i = 0; i < origins.size(); ++i) {
            const Origin& from = origins[i];
            if (from.message == Origin::owner) continue;
            const std::span<const std::byte> all = from.message == Origin::old_mesh
                                                       ? std::as_bytes(std::span(old))
                                                       : arrivals_[from.message].fields[d][place];
            std::ranges::copy(all.subspan(n * from.at, n), bytes.subspan(n * i, n).begin());
          }
          exchange::HaloExchange<T>(context_, out_.halos[d], values, field.n_components).exchange();
          out_.fields[f]->values = std::move(values);
        },
        field.values);
    place += 1;
  }
}

}  // namespace barrio::mesh
