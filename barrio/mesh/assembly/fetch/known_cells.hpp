#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables/id_index.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh::detail {

/// Cells and vertices that a rank knows before there is a local order: the first value in the chain that builds a mesh.
/// MeshBuilder and MeshAdoption fill it with own cells, `add_ghosts` adds ghosts, `number` brings it into the local
/// order.
///
/// Vertices and cells are identified by place: the order in which this rank first met them. Own cells, and the vertices
/// that they use, come first and ascend with global ids; ghosts and their vertices follow.
struct KnownCells {
  Dim dim = Dim::volume;
  EntityTable cells;  ///< without owners, order and sharers; nodes are places of vertices
  std::vector<std::int32_t> parts;
  std::size_t n_own = 0;  ///< cells
  IdIndex vertices;
  std::size_t n_used = 0;                    ///< vertices of own cells
  std::vector<double> coordinates;           ///< shape (vertices, 3)
  std::vector<Rank> vertex_owners;           ///< by place
  std::vector<std::int32_t> vertex_sharers;  ///< by place: a number in `rank_sets`, -1 if only one rank's cells use it
  RankSets rank_sets;                        ///< of ranks whose cells use a vertex
  std::vector<SetRun> vertex_sets;           ///< memberships, as runs of places
  std::vector<SetRun> cell_sets;
  bool takes_ghosts = false;

  /// Give the vertices of own cells places, and store these in `cells.nodes`. Local.
  /// @param[in] nodes  of all own cells
  void index_vertices(std::span<const GlobalId> nodes);
  /// Do the same in place: `cells.nodes` holds the global ids as numbers, which fit there.
  void index_vertices();
  /// Give places to vertices whose ids are known.
  /// @param[in] ids  ascending, without repetition
  void index_known(std::span<const GlobalId> ids, std::size_t n_nodes);
  /// Return the capacity for n own items with ghosts behind, so that ghosts need no reallocation. The room stays
  /// untouched until they come.
  [[nodiscard]] std::size_t with_room(std::size_t n) const noexcept { return takes_ghosts ? n + n / 4 : n; }
};

}  // namespace barrio::mesh::detail
