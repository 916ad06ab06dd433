#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

/// A whole mesh on every rank, in plain containers, and the serial answers to what Mesh computes in parallel.
/// Written from the definitions, sharing no code with the room: cells of a part belong to the part's rank; a ghost of
/// layer 1 is a cell of another rank with a vertex in common, one of layer k + 1 has a vertex in common with one of
/// layer k. In the conforming boxes of the tests cells with two vertices in common have an edge in common, tets with
/// three and hexes with four a face.
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
  /// @param may  whether a cell may be a ghost there; empty: each may
  [[nodiscard]] std::set<std::int64_t> ghosts_of(int rank, int n_ranks, int n_layers = 1, std::size_t n_common = 1,
                                                 const std::function<bool(std::int64_t)>& may = {}) const;
  /// Listed faces with all vertices in one of some cells.
  [[nodiscard]] std::set<std::int64_t> faces_of(const std::set<std::int64_t>& some) const;
  /// Ranks whose cells use each vertex.
  [[nodiscard]] std::map<std::int64_t, std::set<int>> sharers(int n_ranks) const;
};

/// Give each cell a random part, by `seed()`: every rank borders on every other, parts may be empty. Collective.
mesh::MeshTables scattered(mpi::Context& context, mesh::MeshTables tables, int n_parts);

/// A box of cells, their parts set to one of `n_parts`. Collective.
mesh::MeshTables parted_box(mpi::Context& context, std::array<std::int64_t, 3> n, bool tets, int n_parts);

}  // namespace barrio::test
