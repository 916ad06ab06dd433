#pragma once

/// @file Partitioning and numbering of points along a Hilbert curve.

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Cut points into parts of equal weight, each a contiguous run of a Hilbert curve. Collective.
///
/// The curve fills the smallest cube around all points (a square or a line, if the points lie in an axis-parallel plane
/// or line). Points are ordered by (place on the curve, global id). Part p ends where the weight of all points up to
/// there would exceed (p + 1) / n_parts of the total. So the result depends on the points alone, not on their
/// distribution or the number of ranks. Points that move or change their weight a little change the parts only a
/// little; `rcb` cuts slightly less surface but does not promise that.
/// @param[in] points  shape (n, 3), model units; finite
/// @param[in] ids  one per point, unique over all ranks
/// @param[in] weights  one per point, >= 0; none, or all of all ranks 0, means 1 each
/// @param n_parts  > 0; parts differ by the weight of a point or two; there may be fewer points than parts
/// @return part of each point, 0-based
/// @throws AgreedError{bad_input} on all ranks for a coordinate that is not finite or a negative weight; {usage} for
/// n_parts < 1
/// Cost: log2(P) migrations of 32 bytes per point, 17 small reductions per level; memory O(n), nothing of size P.
/// Source: Hilbert 1891; the place on the curve after Skilling 2004.
std::vector<std::int32_t> hilbert(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                                  std::span<const std::int64_t> weights, int n_parts);

/// Number points along the same curve, over all ranks: 0, 1, 2, ... by (place on the curve, global id). Collective.
/// For new entities whose numbers must not depend on the distribution or the number of ranks.
/// @param[in] points  shape (n, 3), model units; finite
/// @param[in] ids  one per point, >= 0; they break ties between points at one place and must differ there
/// @return number of each point
/// @throws AgreedError{bad_input} on all ranks for a coordinate that is not finite
/// Cost: that of `hilbert` with one part per rank, and one routed request per point; memory O(n)
std::vector<GlobalId> hilbert_numbers(mpi::Context& context, std::span<const double> points,
                                      std::span<const GlobalId> ids);

}  // namespace barrio::partition
