#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Entities of one dimension in a LocalMesh, by place.
struct LocalEntities {
  std::vector<GlobalId> ids;          ///< distinct; an entity has the same one on all ranks
  std::vector<CellType> types;        ///< one entry if all have one type, else one each
  std::vector<std::int32_t> offsets;  ///< of `nodes`, shape (n + 1); empty if all have `nodes_per_entity` nodes
  int nodes_per_entity = 0;
  std::vector<LocalId> nodes;  ///< places of vertices
  /// Who else has it, by a number in `LocalMesh::rank_sets`; -1: nobody. May be empty if nobody shares any. Cells are
  /// never shared.
  std::vector<std::int32_t> sharers;

  [[nodiscard]] std::size_t size() const noexcept { return ids.size(); }
  [[nodiscard]] CellType type(std::size_t i) const noexcept { return types.size() == 1 ? types[0] : types[i]; }
  [[nodiscard]] std::span<const LocalId> nodes_of(std::size_t i) const& noexcept {
    const std::size_t width = nodes_per_entity;
    const std::size_t first = offsets.empty() ? i * width : static_cast<std::size_t>(offsets[i]);
    const std::size_t end = offsets.empty() ? first + width : static_cast<std::size_t>(offsets[i + 1]);
    return std::span(nodes).subspan(first, end - first);
  }
};

/// What one rank owns of a mesh: cells, the vertices and listed sides that these use, and who else uses them; without
/// ghosts, local order and plans. A Mesh comes apart into this value (`Mesh::release`) and is made from it (`adopt`):
/// change cells in between, or make it from your own.
///
/// Entities are known by place: where they stand here, in any order. What no cell uses is left out of the mesh.
struct LocalMesh {
  Dim cell_dim = Dim::volume;
  BuildOptions options = {};  ///< ghosts that the mesh had, or shall get
  std::vector<GlobalId> vertex_ids;
  std::vector<double> coordinates;           ///< shape (n, 3)
  std::vector<std::int32_t> vertex_sharers;  ///< as LocalEntities::sharers: ranks whose own cells use it
  RankSets rank_sets;                        ///< of at least two ranks, this one among them
  std::array<LocalEntities, 4> entities;     ///< by dimension: cells, and below them listed sides; [0] is unused
  std::vector<std::int32_t> cell_parts;      ///< of this rank's slice of parts; empty on all ranks: a part each
  int n_parts = 0;                           ///< of all ranks; unused without `cell_parts`
  PartSets part_sets;
  std::vector<MeshSet> sets;  ///< members by place; the same sets on every rank
  std::vector<MeshTag> tags;  ///< values by place; the same tags on every rank
  std::vector<FieldData>
      fields;                  ///< values by place, of all entities of their dimension; the same fields on every rank
  std::uint64_t revision = 0;  ///< of the mesh that this was

  [[nodiscard]] std::size_t n_vertices() const noexcept { return vertex_ids.size(); }
  [[nodiscard]] std::size_t size(Dim dim) const noexcept {
    return dim == Dim::vertex ? n_vertices() : entities[index(dim)].size();
  }
};

/// Drop the other cells, with their membership in sets and their values of tags and fields. Local. Vertices and listed
/// sides stay here; `adopt` leaves out what no cell uses any more. @param kept  places of cells
/// @throws Error{usage} for a place that does not exist
void keep_cells(LocalMesh& local, const Range& kept);

/// Make a mesh of what its ranks own. Collective.
///
/// Vertices and sides get an owner among their sharers, as `Mesh` says; ghosts are those that `LocalMesh::options` ask
/// for. Where copies of an entity differ in a tag or field, the owner's value counts.
/// @throws AgreedError{usage} on all ranks, naming the entity, for arrays that do not fit each other, an id given twice
/// on a rank, ranks that do not agree on who shares an entity or on its nodes or coordinates, a cell that two ranks
/// give, and sets, tags or fields that are not the same everywhere; `local` is untouched then. Two entities with one id
/// on ranks that share nothing are found by `Mesh::validate`. Cost: two small reductions, the messages of
/// `exchange::mutual_neighbours`, one round with those that share something, and the rounds of ghosts and copies; time
/// and memory O(n_local).
[[nodiscard]] Mesh adopt(mpi::Context& context, LocalMesh&& local);

}  // namespace barrio::mesh
