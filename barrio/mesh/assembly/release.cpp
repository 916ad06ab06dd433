#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/selection.hpp"
#include "barrio/mesh/local_mesh.hpp"

// A mesh comes apart: what is owned stays, and so do the copies that own cells use; the rest came from other ranks.

namespace barrio::mesh {
namespace {

using detail::Selection;

LocalEntities taken_apart(EntityTable& table, const Selection& kept, std::span<const std::int32_t> place_of_vertex) {
  LocalEntities out;
  out.nodes_per_entity = table.nodes_per_entity;
  if (table.offsets.empty()) {
    kept.keep(table.nodes, table.nodes_per_entity);
  } else {
    out.offsets = {0};
    out.offsets.reserve(kept.size() + 1);
    std::size_t n = 0;
    kept.for_each([&](std::size_t id, std::int32_t /*place*/) {
      const auto nodes = table.nodes_of(id);
      std::ranges::copy(nodes, table.nodes.begin() + n);
      n += nodes.size();
      out.offsets.push_back(static_cast<std::int32_t>(n));
    });
    table.nodes.resize(n);
  }
  for (LocalId& v : table.nodes) v = LocalId{place_of_vertex[index(v)]};
  if (!table.has_one_type) kept.keep(table.types);
  kept.keep(table.global_ids);
  out.types = std::move(table.types);
  out.nodes = std::move(table.nodes);
  out.ids = std::move(table.global_ids);
  return out;
}

/// What is owned, and the copies that own cells use.
Selection used_by_own_cells(const Sharing& sharing, std::size_t n_owned) {
  Selection kept;
  kept.add({LocalId{0}, local_id(n_owned)});
  for (const LocalId id : sharing.shared)
    if (index(id) >= n_owned) kept.add(id);
  return kept;
}

/// Who shares what stays, by place; its sets of ranks become known to `sets`. @param n  entities of the dimension
std::vector<std::int32_t> sharers_by_place(const Sharing& sharing, const Selection& kept, std::size_t n,
                                           RankSets& sets) {
  std::vector<std::int32_t> sharers;
  if (sharing.shared.empty()) return sharers;
  sharers.assign(kept.size(), -1);
  const std::vector<std::int32_t> places = kept.places(n);
  std::vector<std::int32_t> number(sharing.rank_sets.size(), -1);
  for (std::size_t s = 0; s < sharing.shared.size(); ++s) {
    const std::int32_t place = places[index(sharing.shared[s])];
    if (place < 0) continue;
    std::int32_t& known = number[sharing.sharer_sets[s]];
    if (known < 0) known = sets.add(sharing.sharers_of(s));
    sharers[place] = known;
  }
  return sharers;
}

}  // namespace

LocalMesh MeshAssembly::taken_apart(Mesh::Storage& old, const detail::Selections& kept) {
  LocalMesh out;
  out.cell_dim = old.cell_dim;
  out.options = std::move(old.options);
  out.revision = old.revision;
  out.n_parts = old.n_parts;
  out.part_sets = std::move(old.part_sets);
  std::array<std::size_t, 4> n{};
  for (int d = 0; d < 4; ++d) n[d] = old.n_local(Dim{d});
  const std::vector<std::int32_t> place_of_vertex = kept[0].places(n[0]);
  for (int d = 1; d <= value(out.cell_dim); ++d)
    out.entities[d] = mesh::taken_apart(old.entities[d], kept[d], place_of_vertex);
  kept[index(out.cell_dim)].keep(old.cell_parts);
  kept[0].keep(old.vertices.global_ids);
  kept[0].keep(old.vertices.coordinates, 3);
  out.cell_parts = std::move(old.cell_parts);
  out.vertex_ids = std::move(old.vertices.global_ids);
  out.coordinates = std::move(old.vertices.coordinates);
  for (MeshSet& set : old.sets) {
    set.vertices = kept[0].keep(set.vertices);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = kept[d].keep(set.entities[d]);
  }
  out.sets = std::move(old.sets);
  for (MeshTag& tag : old.tags)
    for (std::size_t d = 0; d < 4; ++d)
      if (kept[d].size() < n[d]) tag.on[d] = kept[d].keep(tag.on[d], tag.info);
  out.tags = std::move(old.tags);
  for (const std::unique_ptr<FieldData>& field : old.fields) {
    std::visit([&](auto& values) { kept[index(field->dim)].keep(values, field->n_components); }, field->values);
    out.fields.push_back(std::move(*field));
  }
  return out;
}

LocalMesh Mesh::release() && {
  update_copies();
  const std::unique_ptr<Storage> old = std::move(storage_);
  detail::Selections kept;
  kept[0] = used_by_own_cells(old->vertices, old->vertices.n_owned);
  for (std::size_t d = 1; d < 4; ++d) kept[d] = used_by_own_cells(old->entities[d], old->entities[d].n_owned);
  RankSets sets;
  std::array<std::vector<std::int32_t>, 4> sharers;  // before ids go
  for (int d = 0; d <= value(old->cell_dim); ++d)
    sharers[d] = sharers_by_place(old->sharing(Dim{d}), kept[d], old->n_local(Dim{d}), sets);
  LocalMesh out = MeshAssembly::taken_apart(*old, kept);
  out.rank_sets = std::move(sets);
  out.vertex_sharers = std::move(sharers[0]);
  for (std::size_t d = 1; d < 4; ++d) out.entities[d].sharers = std::move(sharers[d]);
  return out;
}

}  // namespace barrio::mesh
