#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "barrio/mpi/collectives.hpp"

namespace barrio::partition::detail {

/// Return weights, or none if all of all ranks are 0: these say nothing, and count as 1 each. Collective.
inline std::span<const std::int64_t> weights_that_count(mpi::Context& context, std::span<const std::int64_t> weights) {
  const std::int64_t largest = weights.empty() ? 0 : std::ranges::max(weights);
  return mpi::max(context, largest) > 0 ? weights : std::span<const std::int64_t>();
}

/// Convert weights to the narrower integers of a library that sums them. If the total does not fit, with room for small
/// factors, all weights are scaled down together. A positive weight stays positive.
/// @param total  sum of the weights over all ranks whose weights the library adds
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
