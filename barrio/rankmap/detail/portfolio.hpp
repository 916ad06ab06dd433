#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/deadline.hpp"

namespace barrio::rankmap::detail {

/// A placement and what it was found by.
struct Candidate {
  Placement placement;
  double cost = 0.0;
  std::string method;
};

struct SearchPlan {
  double seconds = 1.0;  ///< of work
  std::uint64_t seed = 1;
  const std::vector<bool>& is_fixed;        ///< by rank; empty: none
  const Placement* construction = nullptr;  ///< the construction method's, if it was made and no rank is fixed
};

/// Search from several starts, within so many seconds of work: first many starts, then short runs from the best of
/// them, then longer ones from the best of these. Deterministic unless the deadline passes. @return the best, which is
/// `given` if nothing is better
/// @param[out] is_complete  false if the deadline passed first
Candidate search(const CommunicationGraph& graph, const Machine& machine, const Candidate& given,
                 const SearchPlan& plan, Deadline deadline, bool& is_complete);

}  // namespace barrio::rankmap::detail
