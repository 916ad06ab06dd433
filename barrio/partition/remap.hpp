#pragma once

/// @file Renumbering of parts that keeps as much weight as possible on its rank.

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Renumber parts so that much of their weight is already on the rank it will go to. Part p goes to rank p. Collective.
///
/// Ranks and parts are matched stably, by the weight of a part that lies on a rank: the heaviest pair first, then the
/// heaviest of the remaining ones. So at least half as much weight stays as with the best numbering. Ties go to the
/// lower number. The unmatched parts and ranks are paired in order.
/// A refused rank proposes for its next part, which may displace another rank in turn. Such a chain takes one pass per
/// link. It ends after `max_passes`; ranks without a part by then count as unmatched, so less weight may stay than the
/// bound above.
/// @param[in] part  of each item that this rank has now, 0 <= part < context.size()
/// @param[in] weights  one per item, >= 0; empty means 1 each
/// @return new part of each item: part numbers are permuted, the same way on every rank
/// Cost: a sort of the items, memory O(items); per pass a reduction and two routed exchanges of a few bytes a rank;
/// four more exchanges at the end. On 64 simulated ranks one pass suffices after a mesh was cut again. Random shares
/// need 64 passes to settle, but 16 keep as much weight.
/// Source: Oliker and Biswas 1998 for the objective; Gale and Shapley 1962 for the matching (deferred acceptance).
[[nodiscard]] std::vector<std::int32_t> remap(mpi::Context& context, std::vector<std::int32_t> part,
                                              std::span<const std::int64_t> weights = {}, int max_passes = 16);

}  // namespace barrio::partition
