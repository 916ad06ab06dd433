#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/candidate.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap::detail {

struct SearchPlan {
  double seconds = 1.0;  ///< of work
  std::uint64_t seed = 1;
  const std::vector<bool>& is_fixed;        ///< by rank; empty: no rank is fixed
  const Placement* construction = nullptr;  ///< the construction method's result, if it was made and no rank is fixed
  double bottleneck = 0.0;                  ///< share of the busiest node in the objective, see `mixed_cost`
};

/// Search from several starts, in rungs of work that end at powers of two of seconds. Each rung begins with many
/// starts, continues with short runs from the best of them, then with longer runs from the best of these. The rungs do
/// not depend on the total time, and the best is kept: more time never finds a worse result. Deterministic unless the
/// deadline passes.
/// @return the best, which is `given` if nothing is better; of two with the same cost, the one with the smaller load on
/// its busiest node
/// @param[out] is_complete  false if the deadline passed first
Candidate search(const CommunicationGraph& graph, const Machine& machine, const Candidate& given,
                 const SearchPlan& plan, Deadline deadline, bool& is_complete);

}  // namespace barrio::rankmap::detail
