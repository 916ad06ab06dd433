#pragma once

#include <string>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap::detail {

/// A placement and what it was found by.
struct Candidate {
  Placement placement;
  double cost = 0.0;
  std::string method;
};

}  // namespace barrio::rankmap::detail
