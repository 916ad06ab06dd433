#include <algorithm>
#include <variant>

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
  const exchange::HaloPlan& plan = *out_.halos[d];
  const std::vector<detail::TagLookUp>& old = old_tags_[d];
  // Call `visit(bytes)` with the value that an owned entity has brought, if it has one.
  const auto with_value = [&](std::size_t t, const Origin& from, auto&& visit) {
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

  auto round = hood_->begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < plan.readers.size(); ++r) {
    message.clear();
    for (std::size_t t = 0; t < old.size(); ++t) {
      ByteValues values;
      for (const LocalId id : plan.sent_to(r))
        if (!with_value(t, origins[index(id)], [&](std::span<const std::byte> bytes) { values.add(bytes); }))
          values.add_nothing();
      values.put_into(message);
    }
    std::ranges::copy(message.bytes(), round.allocate(plan.readers[r], message.bytes().size()).begin());
  }
  round.close();
  std::vector<std::vector<std::byte>> heard;  // by ascending owner, as copies stand
  for (const auto& [from, bytes] : round.received()) heard.emplace_back(bytes.begin(), bytes.end());
  std::vector<MessageReader> readers(heard.begin(), heard.end());

  const std::size_t n_owned = out_.n_owned(dim);
  for (std::size_t t = 0; t < old.size(); ++t) {
    const bool length_varies = out_.tags[t].info.length_varies;
    MeshTag::Values& values = out_.tags[t].on[d];
    const auto add = [&](LocalId id, std::span<const std::byte> bytes) {
      values.entities.insert(id);
      values.items.add(bytes, length_varies);
    };
    for (std::size_t i = 0; i < n_owned; ++i)
      with_value(t, origins[i], [&](std::span<const std::byte> bytes) { add(local_id(i), bytes); });
    for (std::size_t in = 0; in < plan.incoming.size(); ++in) {
      const ByteValuesView carried(readers[in]);
      for (std::size_t i = 0; i < carried.size(); ++i)
        if (carried.has(i)) add(plan.incoming[in].first + static_cast<std::int32_t>(i), carried[i]);
    }
    values.items.bytes.shrink_to_fit();
  }
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
