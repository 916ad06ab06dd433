#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition::detail {

/// Sort key of a point: a word derived by the method, then the id. It gives a total order.
struct Key {
  std::uint64_t word;
  std::uint64_t id;
  auto operator<=>(const Key&) const = default;
};

struct WeightedKey {
  Key key;
  std::int64_t weight;
};

/// Position of a cut.
struct Cut {
  Key key{0, 0};                  ///< the first key, in global order, on the upper side
  std::int64_t weight_below = 0;  ///< total weight of the keys on the lower side
};

/// Find the end of the longest run of lowest keys whose weight does not exceed a share. Collective.
/// Cost: 16 reductions of 2 kB; memory O(n)
Cut find_cut(mpi::Context& context, std::vector<WeightedKey> candidates, std::int64_t share);

/// Compute the weight of n_low out of n_parts equal parts; exact for totals up to 2^63 / n_parts.
std::int64_t share_of(std::int64_t total, int n_low, int n_parts) noexcept;

/// Refuse points, weights or numbers of parts that a cut by coordinates cannot use. Collective.
/// @param needs_finite  refuse infinite coordinates too
/// @throws AgreedError as `rcb`
void check_points(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                  std::span<const std::int64_t> weights, int n_parts, bool needs_finite);

}  // namespace barrio::partition::detail
