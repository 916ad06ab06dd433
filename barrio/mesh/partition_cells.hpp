#pragma once

/// @file Partition of the cells of a mesh into parts.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Return the names of the partitioners that `partition_cells` knows, whether or not this build has them.
std::vector<std::string> partitioner_names();

/// Refuse an unknown partitioner before there is a mesh to partition. Local.
/// @throws AgreedError{usage}
void check_partitioner(const std::string& method);

/// Give each top cell a part. Collective. Fills `tables.parts` and `tables.n_parts`; `tables.part_sets` is then empty.
/// @param method
/// - "rcb": recursive bisection by cell centres. The same parts for any rank count; compact boxes.
/// - "hilbert": runs of a Hilbert curve through the centres. The same parts for any rank count. The parts have a little
///   more surface than those of rcb, but small changes of mesh or weights move few cells to other parts, and parts with
///   near numbers are near each other.
/// - "metis": by the dual graph (cells with common sides), on one rank; rcb first clusters the cells if there are more
///   than METIS can take. The same parts for any rank count; fewest cut sides for meshes up to its limit.
/// - "ptscotch": by the same graph, in parallel. Depends on the rank count.
/// - "hypergraph": by the cells around each vertex, in parallel by Zoltan: fewest values sent between parts that add up
///   vertex fields, for more time. Depends on the rank count.
/// @param[in] weights  of this rank's top cells, >= 0, in the order of `MeshTables::parts`; none, or all 0, means 1
/// each. See `compute_cell_weights`.
/// @throws AgreedError{usage} for a method that is unknown or missing from this build, or n_parts < 1; {bad_input} for
/// a negative weight, in the coordinate methods
void partition_cells(mpi::Context& context, MeshTables& tables, int n_parts, const std::string& method = "rcb",
                     std::span<const std::int64_t> weights = {});

}  // namespace barrio::mesh
