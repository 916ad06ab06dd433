#pragma once

#include <cstdint>

namespace barrio::rankmap {

/// Counts of a search.
struct SearchCounts {
  std::uint64_t n_tried = 0;      ///< pairs whose change of cost was computed
  std::uint64_t n_exchanged = 0;  ///< exchanges made
  bool is_complete = true;        ///< false: the deadline passed first
};

}  // namespace barrio::rankmap
