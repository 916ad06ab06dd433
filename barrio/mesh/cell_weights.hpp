#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// How much work a cell is: the weight of its type times its value of the tag.
struct CellWeights {
  std::map<CellType, std::int64_t> by_type = {};  ///< >= 0; types that are not named weigh 1
  std::string tag = {};                           ///< of one number >= 0 on each top cell; empty: none
};

/// Compute the weight of each top cell, for `partition_cells`. Collective.
/// Values of an integer tag count as they are, those of a real one in steps of 2^-20 of the largest value of all.
/// @return in the order of `MeshTables::parts`; empty if nothing is asked for
/// @throws AgreedError{usage} for a tag that the mesh does not have or that is not one number; {bad_input} for a cell
/// without a value, for one that is negative or not finite, and if all weights add up to more than 2^62
std::vector<std::int64_t> compute_cell_weights(mpi::Context& context, const MeshTables& tables,
                                               const CellWeights& weights);

}  // namespace barrio::mesh
