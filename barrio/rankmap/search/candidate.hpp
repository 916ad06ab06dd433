#pragma once

#include <string>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap::detail {

/// A placement and the method that found it.
struct Candidate {
  Placement placement;
  double cost = 0.0;
  std::string method;
};

}  // namespace barrio::rankmap::detail
