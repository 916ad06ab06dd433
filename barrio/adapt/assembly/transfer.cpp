#include "barrio/adapt/assembly/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/byte_values.hpp"
#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

bool is_real(const mesh::FieldValues& values) {
  return std::holds_alternative<std::vector<double>>(values) || std::holds_alternative<std::vector<float>>(values);
}

/// Return owner and place of each local entity. Collective.
std::vector<Parent> parents_of(const mesh::Mesh& mesh, Dim dim) {
  std::vector<Parent> parents(mesh.n_local(dim));
  for (std::int32_t i = 0; std::cmp_less(i, mesh.n_owned(dim)); ++i) parents[i] = {mesh.context().rank(), i};
  exchange::HaloExchange<Parent>(mesh.context(), mesh.halo_plan(dim), parents, 1).exchange();
  return parents;
}

/// Distinct parents of a list, and the place of each entry of the list among them.
struct Asked {
  std::vector<Parent> distinct;    // by rank and place
  std::vector<std::size_t> place;  // of each in the list

  explicit Asked(std::span<const Parent> parents) : distinct(parents.begin(), parents.end()) {
    const auto is_less = [](const Parent& a, const Parent& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
    };
    std::ranges::sort(distinct, is_less);
    const auto rest = std::ranges::unique(distinct);
    distinct.erase(rest.begin(), rest.end());
    place.reserve(parents.size());
    for (const Parent& one : parents)
      place.push_back(std::ranges::lower_bound(distinct, one, is_less) - distinct.begin());
  }
};

}  // namespace

bool names_entities(const mesh::MeshTag& tag) {
  if (tag.info.type != mesh::TagType::entity) return false;
  const std::vector<std::byte>& bytes = tag.on_sets.items.bytes;
  std::vector<mesh::EntityCode> codes(bytes.size() / sizeof(mesh::EntityCode));
  if (!codes.empty()) std::memcpy(codes.data(), bytes.data(), codes.size() * sizeof(mesh::EntityCode));
  return std::ranges::any_of(codes,
                             [](mesh::EntityCode code) { return code != mesh::EntityCode::none && !is_set(code); });
}

Transfer::Transfer(const mesh::Mesh& mesh, const std::string& parent_field, const std::string& left_behind) {
  for (std::size_t f = 0; f < mesh.fields().size(); ++f)
    if (mesh.fields()[f]->name != left_behind) add_field(mesh, f);
  if (!parent_field.empty()) add_parent_field(mesh, parent_field);
  find_tags(mesh);
  if (!of_vertices_.empty()) vertex_parents_ = parents_of(mesh, Dim::vertex);
  if (!of_cells_.empty()) cell_parents_ = parents_of(mesh, Dim::volume);
  carried_.vertex_parents = !of_vertices_.empty();
  carried_.tet_parents = !of_cells_.empty();
  take_linear(mesh);
}

void Transfer::add_field(const mesh::Mesh& mesh, std::size_t from) {
  const mesh::FieldData& field = *mesh.fields()[from];
  if (field.dim != Dim::vertex && field.dim != Dim::volume) return;
  const std::size_t at = fields_.size();
  fields_.push_back({field.name, field.dim, field.n_components, {}});
  std::visit([&]<class T>(const std::vector<T>&) { fields_.back().values = std::vector<T>(); }, field.values);
  const std::size_t n_components = field.n_components;
  if (field.dim == Dim::vertex && is_real(field.values)) {
    linear_.push_back({false, from, at, carried_.n_values, n_components});
    carried_.n_values += n_components;
    return;
  }
  Kept kept{false, at, 0, {}, {}};
  std::visit(
      [&]<class T>(const std::vector<T>& values) {
        kept.row_bytes = sizeof(T) * n_components;
        kept.rows.resize(mesh.n_owned(field.dim) * kept.row_bytes);
        if (!kept.rows.empty()) std::memcpy(kept.rows.data(), values.data(), kept.rows.size());
      },
      field.values);
  (field.dim == Dim::vertex ? of_vertices_ : of_cells_).push_back(std::move(kept));
}

void Transfer::add_parent_field(const mesh::Mesh& mesh, const std::string& name) {
  std::vector<std::int64_t> ids;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    ids.push_back(value(mesh.cells().id(c)) + 1);  // as GLOBAL_ID in files
    ids.push_back(0);
  }
  Kept kept{false, fields_.size(), 2 * sizeof(std::int64_t), {}, {}};
  kept.rows.resize(ids.size() * sizeof(std::int64_t));
  if (!ids.empty()) std::memcpy(kept.rows.data(), ids.data(), kept.rows.size());
  fields_.push_back({name, Dim::volume, 2, std::vector<std::int64_t>()});
  of_cells_.push_back(std::move(kept));
  has_parent_field_ = true;
}

/// Find the tags that have values on vertices or cells of any rank, and those that all vertices have.
void Transfer::find_tags(const mesh::Mesh& mesh) {
  const auto tags = mesh.tags();
  std::vector<std::int64_t> numbers;  // of each tag: vertices and cells with a value, vertices without
  for (const mesh::MeshTag& tag : tags) {
    tags_.push_back({tag.info, {}, names_entities(tag) ? mesh::TagOnSets() : tag.on_sets});
    const mesh::LocalRange owned{LocalId{0}, local_id(mesh.n_owned(Dim::vertex))};
    const std::size_t n_with = tag.on[mesh::index(Dim::vertex)].entities.intersected(owned).size();
    numbers.push_back(n_with);
    numbers.push_back(tag.on[mesh::index(Dim::volume)].entities.size());
    numbers.push_back(mesh.n_owned(Dim::vertex) - n_with);
  }
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(numbers), MPI_SUM);
  for (std::size_t t = 0; t < tags.size(); ++t) {
    const mesh::TagInfo& info = tags[t].info;
    if (info.name == "GLOBAL_ID" || info.type == mesh::TagType::entity) continue;  // ids are new
    const bool is_linear = info.type == mesh::TagType::float64 && !info.length_varies && numbers[3 * t + 2] == 0;
    if (numbers[3 * t] > 0) add_tag(mesh, t, Dim::vertex, is_linear);
    if (numbers[3 * t + 1] > 0) add_tag(mesh, t, Dim::volume, false);
  }
}

void Transfer::add_tag(const mesh::Mesh& mesh, std::size_t at, Dim dim, bool is_linear) {
  const mesh::MeshTag& tag = mesh.tags()[at];
  if (is_linear) {
    const std::size_t n_components = tag.info.n_components;
    linear_.push_back({true, at, at, carried_.n_values, n_components});
    carried_.n_values += n_components;
    return;
  }
  (dim == Dim::vertex ? of_vertices_ : of_cells_).push_back({true, at, 0, {}, tag.on[mesh::index(dim)]});
}

/// Collect the linear values of all local vertices, in rows.
void Transfer::take_linear(const mesh::Mesh& mesh) {
  const std::size_t width = carried_.n_values;
  if (width == 0) return;
  values_.resize(mesh.n_local(Dim::vertex) * width);
  const std::size_t n_owned = mesh.n_owned(Dim::vertex);
  for (const Linear& one : linear_) {
    if (one.is_tag) {
      for (std::size_t v = 0; v < n_owned; ++v)
        std::memcpy(&values_[v * width + one.first], mesh.tags()[one.from].value(Dim::vertex, local_id(v)).data(),
                    one.n_components * sizeof(double));
      continue;
    }
    std::visit(
        [&](const auto& from) {
          for (std::size_t v = 0; v < n_owned; ++v)
            for (std::size_t i = 0; i < one.n_components; ++i)
              values_[v * width + one.first + i] = static_cast<double>(from[v * one.n_components + i]);
        },
        mesh.fields()[one.from]->values);
  }
  exchange::HaloExchange<double>(mesh.context(), mesh.halo_plan(Dim::vertex), values_, static_cast<int>(width))
      .exchange();
}

void Transfer::take_vertex(LocalId v, Slot slot, Tets& tets) const {
  std::ranges::copy(values_of(v), tets.values_of(slot).begin());
  tets.set_vertex_parent(slot, vertex_parent(v));
}

void Transfer::end_taking() {
  free_memory(values_);
  free_memory(vertex_parents_);
  free_memory(cell_parents_);
}

void Transfer::give(mpi::Context& context, const Tets& kernel, std::span<const Slot> vertices,
                    std::span<const Slot> tets, std::span<const Parent> others, mesh::LocalMesh& out) const {
  out.fields = fields_;
  for (mesh::FieldData& field : out.fields)
    std::visit([&](auto& values) { values.resize(out.size(field.dim) * field.n_components); }, field.values);
  out.tags = tags_;
  write_linear(kernel, vertices, out);
  std::vector<Parent> parents;
  if (carried_.vertex_parents) {
    for (const Slot v : vertices) parents.push_back(kernel.vertex_parent(v));
    write_kept(context, of_vertices_, Dim::vertex, parents, out);
  }
  if (!carried_.tet_parents) return;
  parents.clear();
  for (const Slot t : tets) parents.push_back(kernel.tet_parent(t));
  parents.insert(parents.end(), others.begin(), others.end());
  write_kept(context, of_cells_, Dim::volume, parents, out);
  if (!has_parent_field_) return;
  auto& pairs = std::get<std::vector<std::int64_t>>(out.fields.back().values);
  for (std::size_t c = 0; c < tets.size(); ++c) pairs[2 * c + 1] = kernel.tets[tets[c]].changed != 0 ? 1 : 0;
}

void Transfer::write_linear(const Tets& tets, std::span<const Slot> vertices, mesh::LocalMesh& out) const {
  for (const Linear& one : linear_) {
    if (one.is_tag) {
      mesh::MeshTag::Values& to = out.tags[one.at].on[mesh::index(Dim::vertex)];
      to.entities.insert({LocalId{0}, local_id(vertices.size())});
      for (const Slot v : vertices)
        to.items.add(std::as_bytes(tets.values_of(v).subspan(one.first, one.n_components)), false);
      continue;
    }
    std::visit(
        [&]<class T>(std::vector<T>& to) {
          for (std::size_t v = 0; v < vertices.size(); ++v)
            for (std::size_t i = 0; i < one.n_components; ++i)
              to[v * one.n_components + i] = static_cast<T>(tets.values_of(vertices[v])[one.first + i]);
        },
        out.fields[one.at].values);
  }
}

/// Pack the values that a rank asks for: all fields and tags in one message.
void Transfer::answer(const std::vector<Kept>& kept, std::span<const std::int32_t> places,
                      exchange::MessageWriter& message) const {
  for (const Kept& one : kept) {
    exchange::ByteValues values;
    for (const std::int32_t place : places) {
      if (!one.is_tag) {
        values.add(std::span(one.rows).subspan(place * one.row_bytes, one.row_bytes));
        continue;
      }
      const std::ptrdiff_t at = one.of_range.entities.place_of(LocalId{place});
      if (at < 0) {
        values.add_nothing();
      } else {
        values.add(one.of_range.items.value(at, tags_[one.at].info.value_bytes()));
      }
    }
    values.put_into(message);
  }
}

/// Give entities, by place, the values that they inherit. @param value  of the i-th one; nothing if it has no value
template <class ValueOf>
void Transfer::write(const Kept& one, Dim dim, std::size_t n, const ValueOf& value, mesh::LocalMesh& out) const {
  for (std::size_t i = 0; i < n; ++i) {
    const std::optional<std::span<const std::byte>> bytes = value(i);
    if (!bytes) continue;
    if (one.is_tag) {
      mesh::MeshTag::Values& to = out.tags[one.at].on[mesh::index(dim)];
      to.entities.insert(local_id(i));
      to.items.add(*bytes, tags_[one.at].info.length_varies);
      continue;
    }
    std::visit(
        [&](auto& to) {
          std::memcpy(reinterpret_cast<std::byte*>(to.data()) + i * one.row_bytes, bytes->data(), one.row_bytes);
        },
        out.fields[one.at].values);
  }
}

/// Fetch inherited values from the ranks that have them.
void Transfer::write_kept(mpi::Context& context, const std::vector<Kept>& kept, Dim dim,
                          std::span<const Parent> parents, mesh::LocalMesh& out) const {
  const Asked asked(parents);
  std::vector<Rank> ranks;
  std::vector<std::int32_t> places;
  for (const Parent& one : asked.distinct) {
    ranks.push_back(one.rank);
    places.push_back(one.place);
  }
  const exchange::Parcels<std::int32_t> requests = exchange::route(
      context, exchange::pack_by_rank(std::span<const Rank>(ranks), std::span<const std::int32_t>(places)));
  exchange::Parcels<std::byte> answers;
  exchange::MessageWriter message;
  for (std::size_t p = 0; p < requests.n_peers(); ++p) {
    message.clear();
    answer(kept, requests.of(p), message);
    answers.add(requests.peers[p], message.bytes());
  }
  const exchange::Parcels<std::byte> heard = exchange::route(context, answers);
  std::vector<exchange::MessageReader> readers;
  for (std::size_t p = 0; p < heard.n_peers(); ++p) readers.emplace_back(heard.of(p));
  for (const Kept& one : kept) {
    std::vector<exchange::ByteValuesView> views;              // of the ranks that answered, ascending
    std::vector<std::pair<std::size_t, std::size_t>> row_of;  // rows of `asked`, which are in that order
    for (std::size_t p = 0; p < readers.size(); ++p) {
      views.emplace_back(readers[p]);
      for (std::size_t i = 0; i < views.back().size(); ++i) row_of.emplace_back(p, i);
    }
    const auto value = [&](std::size_t i) -> std::optional<std::span<const std::byte>> {
      const auto [p, row] = row_of[asked.place[i]];
      if (!views[p].has(row)) return {};
      return views[p][row];
    };
    write(one, dim, parents.size(), value, out);
  }
}

}  // namespace barrio::adapt::detail
