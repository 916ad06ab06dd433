#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap::detail {

/// Tell whether whole groups of cores can move with effect on the cost: they have one size, above one, and are not all
/// equally far from each other.
bool can_move_groups(const Machine& machine);

/// Anneal the positions of whole groups of ranks, each staying together: single exchanges would reach the result only
/// through worse placements. Never worse. Groups with a fixed rank stay. Local; deterministic unless the deadline
/// passes.
/// @pre can_move_groups(machine)
void move_groups(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                 const std::vector<bool>& is_fixed, std::uint64_t n_moves, std::uint64_t seed, Deadline deadline = {});

}  // namespace barrio::rankmap::detail
