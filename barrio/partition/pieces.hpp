#pragma once

/// @file Connected pieces of each part of a graph.

#include <cstdint>
#include <vector>

#include "barrio/partition/graph.hpp"

namespace barrio::partition {

/// Count the connected pieces of each part. Collective.
/// @param[in] part  of each of this rank's vertices, 0 <= part < n_parts
/// @return pieces of each part, the same on every rank; 0 for an empty part
/// Cost: about log2(pieces of slabs) rounds of four small messages to neighbours; memory O(n_local + n_parts).
/// Source: Shiloach and Vishkin 1982, applied to the pieces within the slab of each rank.
std::vector<std::int64_t> count_pieces(mpi::Context& context, const Graph& graph, const std::vector<std::int32_t>& part,
                                       int n_parts);

}  // namespace barrio::partition
