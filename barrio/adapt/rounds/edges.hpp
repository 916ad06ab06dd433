#pragma once

#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Count the edges by length, each once, and the vertices that stay at edges that are too short, by what holds them.
/// Collective. @param tolerance  of planes and lines
/// @param[out] held  of each slot that is a vertex of this rank; nullptr: not wanted
/// @return the same on any distribution. Cost: O(n_tets), one reduction
[[nodiscard]] EdgeCounts count_edges(mpi::Context& context, Tets& tets, double tolerance, std::vector<HeldBy>* held);

}  // namespace barrio::adapt::detail
