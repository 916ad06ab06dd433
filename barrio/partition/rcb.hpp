#pragma once

/// @file Recursive coordinate bisection of points.

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Cut points into parts of equal weight by recursive coordinate bisection. Collective.
///
/// Each cut goes across the longest side of the bounding box and is exact: points are ordered by (coordinate, global
/// id), and the lower side gets the longest run whose weight does not exceed its share. So the result depends on
/// the points alone, not on their distribution or the number of ranks.
/// @param[in] points  shape (n, 3), model units; not NaN
/// @param[in] ids  one per point, unique over all ranks
/// @param[in] weights  one per point, >= 0; none, or all of all ranks 0, means 1 each
/// @param n_parts  > 0; parts differ by the weight of a point or two; there may be fewer points than parts
/// @return part of each point, 0-based
/// @throws AgreedError{bad_input} on all ranks for a NaN coordinate or a negative weight; {usage} for n_parts < 1
/// Cost: log2(P) migrations of 48 bytes per point, 17 small reductions per level; memory O(n), nothing of size P.
/// Source: Berger and Bokhari 1987; the exact cut by radix selection is ours.
std::vector<std::int32_t> rcb(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                              std::span<const std::int64_t> weights, int n_parts);

}  // namespace barrio::partition
