#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap::detail {

/// Whether whole groups of cores can be moved, and that can change the cost: they are of one size, above one, and not
/// all equally far from each other.
bool can_move_groups(const Machine& machine);

/// Anneal where whole groups of ranks are, each staying together: what single exchanges reach only over worse
/// placements. Never worse. Groups with a fixed rank stay. Local; deterministic unless the deadline passes.
/// @pre can_move_groups(machine)
void move_groups(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                 const std::vector<bool>& is_fixed, std::uint64_t n_moves, std::uint64_t seed, Deadline deadline = {});

}  // namespace barrio::rankmap::detail
