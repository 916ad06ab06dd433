#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

/// A whole mesh on every rank, in plain containers, and serial results for comparison with Mesh.
/// Written from the definitions, without code of the room: cells of a part belong to the part's rank; a ghost of layer
/// 1 is a cell of another rank with a common vertex, a ghost of layer k + 1 has a common vertex with one of layer k. In
/// the conforming boxes of the tests, cells with two common vertices share an edge; tets with three and hexes with four
/// share a face.
struct WholeMesh {
  struct Cell {
    mesh::CellType type;
    std::vector<std::int64_t> nodes;
    int part;
  };
  std::vector<std::array<double, 3>> vertices;
  std::vector<Cell> cells;
  std::vector<std::vector<std::int64_t>> faces;  ///< that the tables list
  int n_parts = 0;

  /// Collect the tables of all ranks on every rank. Collective.
  WholeMesh(mpi::Context& context, const mesh::MeshTables& tables);

  [[nodiscard]] int rank_of(int part, int n_ranks) const;
  [[nodiscard]] std::set<std::int64_t> cells_of(int rank, int n_ranks) const;
  [[nodiscard]] std::set<std::int64_t> vertices_of(const std::set<std::int64_t>& cells) const;
  /// Return the ghosts of a rank. @param may  tells whether a cell may be a ghost there; empty: every cell may
  [[nodiscard]] std::set<std::int64_t> ghosts_of(int rank, int n_ranks, int n_layers = 1, std::size_t n_common = 1,
                                                 const std::function<bool(std::int64_t)>& may = {}) const;
  /// Return the listed faces with all vertices in one of some cells.
  [[nodiscard]] std::set<std::int64_t> faces_of(const std::set<std::int64_t>& some) const;
  /// Return the ranks whose cells use each vertex.
  [[nodiscard]] std::map<std::int64_t, std::set<int>> sharers(int n_ranks) const;
};

/// Give each cell a random part, by `seed()`: all ranks are neighbours, parts may be empty. Collective.
mesh::MeshTables scattered(mpi::Context& context, mesh::MeshTables tables, int n_parts);

/// Make a box of cells in `n_parts` parts. Collective.
mesh::MeshTables parted_box(mpi::Context& context, std::array<std::int64_t, 3> n, bool tets, int n_parts);

}  // namespace barrio::test
