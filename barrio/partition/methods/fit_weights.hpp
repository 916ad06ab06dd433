#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace barrio::partition::detail {

/// Weights in the narrower integers of a library that adds them up: all are made smaller together if their sum does not
/// fit, with room for small factors. What had a weight keeps one.
/// @param total  of all ranks that the library adds up
template <class Integer>
std::vector<Integer> fit_weights(std::span<const std::int64_t> weights, std::int64_t total) {
  const std::int64_t divisor = total / (std::numeric_limits<Integer>::max() / 4) + 1;
  std::vector<Integer> fitting;
  fitting.reserve(weights.size());
  for (const std::int64_t weight : weights)
    fitting.push_back(static_cast<Integer>(std::max<std::int64_t>(weight / divisor, weight > 0 ? 1 : 0)));
  return fitting;
}

}  // namespace barrio::partition::detail
