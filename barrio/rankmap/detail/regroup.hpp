#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap::detail {

/// Whether moving whole groups of cores can change the cost: not where all are equally far from each other.
bool has_distant_groups(const Machine& machine);

/// Anneal where whole groups of ranks are, each staying together: what single exchanges reach only over worse
/// placements. Never worse. Groups with a fixed rank, and all if their sizes differ, stay. Local, deterministic.
/// @return whether it was complete
void move_groups(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                 const std::vector<bool>& is_fixed, std::uint64_t n_moves, std::uint64_t seed);

}  // namespace barrio::rankmap::detail
