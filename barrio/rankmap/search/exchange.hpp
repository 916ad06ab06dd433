#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"
#include "barrio/rankmap/search/search_counts.hpp"

namespace barrio::rankmap {

/// Improve a placement by the pair exchange method: go through the pairs of cores (i, j) cyclically in the order of
/// equation (2), exchange if that lowers the cost, continue with the next pair, stop when no pair does. The cores are
/// searched in blocks, one after the other: both cores of a pair are in one block of `block` cores. Pairs in one group
/// of interchangeable cores and pairs of free cores are skipped. Never makes the placement worse.
/// Local. Deterministic unless the deadline passes. @param[in] block  cores per block, >= 1; n_cores or more: one block
/// Cost per pair: O(partners of the two ranks), not O(ranks).
/// Source: Heider 1972, in Brandfass, Alrutz, Gerhold 2012, section 5.2.2.
SearchCounts exchange_in_blocks(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                                int block, Deadline deadline = {});

/// Improve a placement by exchanges between ranks that are one or two steps apart in the communication graph, and by
/// moves to a free core near a partner, until none helps. Never makes the placement worse.
/// Local. Deterministic unless the deadline passes. @param[in] seed  0: ranks are visited in order; otherwise in a
/// random order, which may find another placement @param[in] is_fixed  by rank, whether it stays; empty: no rank is
/// fixed
/// Cost per round: O(sum over ranks of (two-step partners, at most n_ranks) * partners).
/// Source: the neighbourhood N_C^d of Schulz and Traeff 2017, with d = 2.
SearchCounts exchange_near_partners(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                                    std::uint64_t seed = 0, Deadline deadline = {},
                                    const std::vector<bool>& is_fixed = {});

}  // namespace barrio::rankmap
