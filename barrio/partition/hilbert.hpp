#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Cut points into parts of equal weight that are runs of a Hilbert curve. Collective.
///
/// The curve fills the smallest cube (a square or a line, if the points lie in an axis-parallel plane or line) around
/// all points; points are ordered by (place on it, global id), and part p ends where the weight of all points up to
/// there would exceed (p + 1) / n_parts of the whole. So the result depends on the points alone, not on their
/// distribution or the number of ranks, and points that move or change their weight a little change parts a little:
/// what `rcb`, which cuts a little less surface, does not promise.
/// @param[in] points  shape (n, 3), model units; finite
/// @param[in] ids  one per point, unique over all ranks
/// @param[in] weights  one per point, >= 0; empty means 1 each
/// @param n_parts  > 0; parts differ by the weight of a point or two; there may be fewer points than parts
/// @return part of each point, 0-based
/// @throws AgreedError{bad_input} on all ranks for a coordinate that is not finite or a negative weight; {usage} for
/// n_parts < 1
/// Cost: log2(P) migrations of 32 bytes per point, 17 small reductions per level; memory O(n), nothing of size P.
/// Source: Hilbert 1891; the place on the curve after Skilling 2004.
std::vector<std::int32_t> hilbert(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                                  std::span<const std::int64_t> weights, int n_parts);

/// Number points along the same curve, over all ranks: 0, 1, 2, ... by (place on it, global id). Collective.
/// For what is new and needs numbers that do not depend on the distribution or the number of ranks.
/// @param[in] points  shape (n, 3), model units; finite
/// @param[in] ids  one per point, >= 0; they decide between points that lie at one place, and are different there
/// @return number of each point
/// @throws AgreedError{bad_input} on all ranks for a coordinate that is not finite
/// Cost: that of `hilbert` for as many parts as ranks, and a routed request for each point; memory O(n)
std::vector<GlobalId> hilbert_numbers(mpi::Context& context, std::span<const double> points,
                                      std::span<const GlobalId> ids);

}  // namespace barrio::partition
