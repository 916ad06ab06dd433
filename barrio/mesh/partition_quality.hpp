#pragma once

/// @file Quality of a partition: balance, ghost cells, shared vertices, neighbours and cut sides.

#include <cstdint>
#include <span>

#include "barrio/base/json.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Quality of a partition for a computation with a halo of one layer of cells with a common vertex.
struct PartitionQuality {
  int n_parts = 0;                ///< empty ones included
  double imbalance = 1.0;         ///< largest part / mean part, in cells
  double weight_imbalance = 1.0;  ///< the same in weight
  int n_empty_parts = 0;          ///< parts without cells

  std::int64_t n_ghost_cells = 0;        ///< of all parts together: cells of other parts that touch them
  std::int64_t max_ghost_cells = 0;      ///< of one part
  std::int64_t n_shared_vertices = 0;    ///< vertices of two parts or more
  std::int64_t max_shared_vertices = 0;  ///< of one part
  double mean_neighbours = 0.0;          ///< number of parts that share a vertex with a part
  std::int64_t max_neighbours = 0;       ///< of one part

  std::int64_t n_cut_sides = 0;    ///< sides between cells of different parts
  std::int64_t n_split_parts = 0;  ///< parts in several pieces; a piece is connected by sides
};

/// Judge the partition of tables. Collective.
/// @param[in] weights  of this rank's top cells, in the order of `MeshTables::parts`; empty means 1 each
/// @return the same on every rank and for any number of ranks
/// @pre tables.n_parts > 0
/// Cost: the dual graph and its connected pieces; memory O(n_local + n_parts).
PartitionQuality partition_quality(mpi::Context& context, const MeshTables& tables,
                                   std::span<const std::int64_t> weights = {});

/// Convert to JSON with the keys parts, imbalance, weight_imbalance, empty_parts, ghost_cells, max_ghost_cells,
/// shared_vertices, max_shared_vertices, mean_neighbours, max_neighbours, and where known cut_sides, split_parts.
Json to_json(const PartitionQuality& quality);

}  // namespace barrio::mesh
