#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Renumber parts that are to go to the ranks of their number, so that much weight is where it is to be. Collective.
///
/// A rank and a part belong together if neither shares more weight with another that it could have: the heaviest pair
/// first, then the heaviest of what is left. So at least half as much stays as any numbering could keep. Where weights
/// tie, the lower number counts. Parts without a rank and ranks without a part follow each other in order.
/// @param[in] part  of each item that this rank has now, 0 <= part < context.size()
/// @param[in] weights  one per item, >= 0; empty means 1 each
/// @return new part of each item: part numbers are permuted, the same way on every rank
/// Cost: a sort of the items, memory O(items); a reduction and two routed exchanges of a few bytes a rank for each pass
/// in which some rank is refused and asks for another part; refusals that follow from each other take a pass each, so
/// that no bound holds but the number of proposals. Four exchanges more at the end.
/// Source: Oliker and Biswas 1998 for what is wanted; pairs by deferred acceptance, Gale and Shapley 1962.
[[nodiscard]] std::vector<std::int32_t> remap(mpi::Context& context, std::vector<std::int32_t> part,
                                              std::span<const std::int64_t> weights = {});

}  // namespace barrio::partition
