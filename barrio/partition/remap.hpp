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
/// A rank that is refused asks for its next part, which may refuse another in turn: such a chain takes a pass for each.
/// It is cut after `max_passes`, and who is without a part then is treated like ranks without one: they may keep less
/// than what is said above.
/// @param[in] part  of each item that this rank has now, 0 <= part < context.size()
/// @param[in] weights  one per item, >= 0; empty means 1 each
/// @return new part of each item: part numbers are permuted, the same way on every rank
/// Cost: a sort of the items, memory O(items); a reduction and two routed exchanges of a few bytes a rank for each
/// pass. Four exchanges more at the end. On 64 simulated ranks one pass does where a mesh was cut again; 64 settle
/// shares drawn at random, of which 16 keep as much. Source: Oliker and Biswas 1998 for what is wanted; pairs by
/// deferred acceptance, Gale and Shapley 1962.
[[nodiscard]] std::vector<std::int32_t> remap(mpi::Context& context, std::vector<std::int32_t> part,
                                              std::span<const std::int64_t> weights = {}, int max_passes = 16);

}  // namespace barrio::partition
