#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "barrio/base/error.hpp"
#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/assembly/selection.hpp"
#include "barrio/mesh/local_mesh.hpp"

// Take a mesh apart: owned entities stay, and so do the copies that own cells use; the others came as ghosts.

namespace barrio::mesh {
namespace {

using detail::Selection;

/// Move the arrays of a table, ghosts included.
LocalEntities moved_out(EntityTable& table) {
  LocalEntities out;
  out.nodes_per_entity = table.nodes_per_entity;
  out.types = std::move(table.types);
  out.offsets = std::move(table.offsets);
  out.nodes = std::move(table.nodes);
  out.ids = std::move(table.global_ids);
  return out;
}

void keep_nodes(LocalEntities& all, const Selection& kept, std::span<const std::int32_t> place_of_vertex) {
  if (all.offsets.empty()) {
    kept.keep(all.nodes, all.nodes_per_entity);
  } else {
    std::vector<std::int32_t> offsets{0};
    offsets.reserve(kept.size() + 1);
    std::size_t n = 0;
    kept.for_each([&](std::size_t id, std::int32_t /*place*/) {
      const auto nodes = all.nodes_of(id);
      std::ranges::copy(nodes, all.nodes.begin() + n);
      n += nodes.size();
      detail::append_row(offsets, nodes.size());
    });
    all.nodes.resize(n);
    all.offsets = std::move(offsets);
  }
  if (place_of_vertex.empty()) return;
  for (LocalId& v : all.nodes) v = LocalId{place_of_vertex[index(v)]};
}

/// Select the owned entities, and the copies that own cells use.
Selection used_by_own_cells(const Sharing& sharing, std::size_t n_owned) {
  Selection kept;
  kept.add({LocalId{0}, local_id(n_owned)});
  for (const LocalId id : sharing.shared)
    if (index(id) >= n_owned) kept.add(id);
  return kept;
}

/// Return the sharers of the kept entities, by place, as numbers in `sets`, to which their sets are added.
/// @param n  entities of the dimension
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

LocalMesh MeshAssembly::taken_apart(Mesh::Storage& old) {
  LocalMesh out;
  out.cell_dim = old.cell_dim;
  out.options = std::move(old.options);
  out.revision = old.revision;
  out.n_parts = old.n_parts;
  out.part_sets = std::move(old.part_sets);
  out.cell_parts = std::move(old.cell_parts);
  out.vertex_ids = std::move(old.vertices.global_ids);
  out.coordinates = std::move(old.vertices.coordinates);
  for (int d = 1; d <= value(out.cell_dim); ++d) out.entities[d] = moved_out(old.entities[d]);
  out.sets = std::move(old.sets);
  out.tags = std::move(old.tags);
  for (const std::unique_ptr<FieldData>& field : old.fields) out.fields.push_back(std::move(*field));
  return out;
}

void MeshAssembly::keep(LocalMesh& mesh, Dim dim, const Selection& kept,
                        std::span<const std::int32_t> place_of_vertex) {
  const auto d = index(dim);
  const bool drops_some = kept.size() < mesh.size(dim);
  if (dim == Dim::vertex) {
    kept.keep(mesh.vertex_ids);
    kept.keep(mesh.coordinates, 3);
  } else {
    LocalEntities& all = mesh.entities[d];
    keep_nodes(all, kept, place_of_vertex);
    if (all.types.size() > 1) kept.keep(all.types);
    kept.keep(all.ids);
    if (dim == mesh.cell_dim && !mesh.cell_parts.empty()) kept.keep(mesh.cell_parts);
  }
  if (!drops_some) return;
  for (MeshSet& set : mesh.sets) {
    Range& members = dim == Dim::vertex ? set.vertices : set.entities[d];
    members = kept.keep(members);
  }
  for (MeshTag& tag : mesh.tags) tag.on[d] = kept.keep(tag.on[d], tag.info);
  for (FieldData& field : mesh.fields)
    if (field.dim == dim) std::visit([&](auto& values) { kept.keep(values, field.n_components); }, field.values);
}

LocalMesh Mesh::released(Storage& old) {
  const int top = value(old.cell_dim);
  detail::Selections kept;
  RankSets sets;
  std::array<std::vector<std::int32_t>, 4> sharers;
  for (int d = 0; d <= top; ++d) {
    kept[d] = used_by_own_cells(old.sharing(Dim{d}), old.n_owned(Dim{d}));
    sharers[d] = sharers_by_place(old.sharing(Dim{d}), kept[d], old.n_local(Dim{d}), sets);
  }
  const std::vector<std::int32_t> place_of_vertex = kept[0].places(old.n_local(Dim::vertex));
  LocalMesh out = MeshAssembly::taken_apart(old);
  for (int d = 0; d <= top; ++d) MeshAssembly::keep(out, Dim{d}, kept[d], place_of_vertex);
  out.rank_sets = std::move(sets);
  out.vertex_sharers = std::move(sharers[0]);
  for (int d = 1; d <= top; ++d) out.entities[d].sharers = std::move(sharers[d]);
  return out;
}

LocalMesh Mesh::release() && {
  update_copies();
  const std::unique_ptr<Storage> old = std::move(storage_);
  return released(*old);
}

LocalMesh Mesh::released() {
  update_copies();
  const std::unique_ptr<Storage> copy = storage_->copy();
  return released(*copy);
}

void keep_cells(LocalMesh& local, const Range& kept) {
  const auto runs = kept.runs();
  const std::size_t n = local.size(local.cell_dim);
  if (!runs.empty() && (barrio::value(runs.front().first) < 0 || index(runs.back().last) > n))
    refuse(ErrorCode::usage, "cells to keep",
           fmt::format("refer to place {}, but there are {}",
                       barrio::value(runs.front().first) < 0 ? barrio::value(runs.front().first)
                                                             : barrio::value(runs.back().last) - 1,
                       n));
  Selection chosen;
  for (const LocalRange& run : runs) chosen.add(run);
  MeshAssembly::keep(local, local.cell_dim, chosen, {});
}

}  // namespace barrio::mesh
