#pragma once

/// @file One rank's share of a mesh as plain arrays: taken from a mesh, changed, made into a mesh again.

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
  int nodes_per_entity = 0;           ///< if `offsets` is empty
  std::vector<LocalId> nodes;         ///< places of vertices
  /// Sharers of each entity, as a number in `LocalMesh::rank_sets`; -1: this rank alone. May be empty if nothing is
  /// shared. Cells are never shared.
  std::vector<std::int32_t> sharers;

  /// Return the number of entities of this rank.
  [[nodiscard]] std::size_t size() const noexcept { return ids.size(); }
  /// Return the type of the entity at a place.
  [[nodiscard]] CellType type(std::size_t i) const noexcept { return types.size() == 1 ? types[0] : types[i]; }
  /// Return the nodes of the entity at a place, as places of vertices.
  [[nodiscard]] std::span<const LocalId> nodes_of(std::size_t i) const& noexcept {
    if (offsets.empty()) {
      const std::size_t n = nodes_per_entity;
      return std::span(nodes).subspan(i * n, n);
    }
    const std::size_t first = offsets[i];
    return std::span(nodes).subspan(first, offsets[i + 1] - first);
  }
};

/// One rank's share of a mesh: its cells, the vertices and listed sides that these use, and the other users of both;
/// without ghosts, local order and plans. A Mesh comes apart into this value (`Mesh::release`) and is made from it
/// (`adopt`): change cells in between, or fill it from your own data.
///
/// Entities are identified by place: their position in these arrays, in any order. The mesh leaves out entities that no
/// cell uses.
struct LocalMesh {
  Dim cell_dim = Dim::volume;                ///< the same on every rank
  BuildOptions options = {};                 ///< ghosts that the mesh had, or is to get
  std::vector<GlobalId> vertex_ids;          ///< distinct; a vertex has the same one on all ranks
  std::vector<double> coordinates;           ///< shape (n, 3)
  std::vector<std::int32_t> vertex_sharers;  ///< as LocalEntities::sharers
  RankSets rank_sets;                        ///< each of at least two ranks, including this one
  std::array<LocalEntities, 4> entities;     ///< by dimension: cells, and below them listed sides; [0] is unused
  std::vector<std::int32_t> cell_parts;      ///< in this rank's slice of parts; empty on all ranks: one part per rank
  int n_parts = 0;                           ///< on all ranks; unused without `cell_parts`
  PartSets part_sets;                        ///< the file's data on this rank's slice of parts
  std::vector<MeshSet> sets;                 ///< members by place; the same sets on every rank
  std::vector<MeshTag> tags;                 ///< values by place; the same tags on every rank
  std::vector<FieldData>
      fields;                  ///< values by place, of all entities of their dimension; the same fields on every rank
  std::uint64_t revision = 0;  ///< of the former mesh

  /// Return the number of vertices of this rank, shared ones included.
  [[nodiscard]] std::size_t n_vertices() const noexcept { return vertex_ids.size(); }
  /// Return the number of entities of this rank in a dimension; below the cells only listed ones.
  [[nodiscard]] std::size_t size(Dim dim) const noexcept {
    return dim == Dim::vertex ? n_vertices() : entities[index(dim)].size();
  }
};

/// Drop all cells but the given ones, with their membership in sets and their values of tags and fields. Local.
/// Vertices and listed sides stay; `adopt` leaves out those that no cell uses any more.
/// @param kept  places of cells
/// @throws Error{usage} for a place that does not exist
void keep_cells(LocalMesh& local, const Range& kept);

/// Make a mesh from the shares of all ranks. Collective.
///
/// Vertices and sides get an owner among their sharers, as described at `Mesh`; ghosts are those that
/// `LocalMesh::options` ask for. If copies of an entity differ in a tag or field, the owner's value counts.
/// @throws AgreedError{usage} on all ranks, naming the entity, for arrays that do not fit each other, an id given twice
/// on a rank, ranks that disagree on the sharers, nodes or coordinates of an entity, a cell given by two ranks, and
/// sets, tags or fields that differ between ranks; `local` is then untouched. Only `Mesh::validate` finds two entities
/// with one id on ranks that share nothing.
/// Cost: two small reductions, the messages of `exchange::mutual_neighbours`, one round with those that share
/// something, and the rounds of ghosts and copies; time and memory O(n_local).
[[nodiscard]] Mesh adopt(mpi::Context& context, LocalMesh&& local);

}  // namespace barrio::mesh
