#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::partition::detail {

/// Total order of points: by a word that the kind of cut makes of each, then by id.
struct Key {
  std::uint64_t word;
  std::uint64_t id;
  auto operator<=>(const Key&) const = default;
};

struct WeightedKey {
  Key key;
  std::int64_t weight;
};

/// Where a cut goes.
struct Cut {
  Key key{0, 0};                  ///< the first key, in global order, that is not on the lower side any more
  std::int64_t weight_below = 0;  ///< of all keys on the lower side
};

/// Find where the longest run of lowest keys ends whose weight does not exceed a share. Collective.
/// Cost: 16 reductions of 2 kB; memory O(n)
Cut find_cut(mpi::Context& context, std::vector<WeightedKey> candidates, std::int64_t share);

/// Weight that n_low of n_parts equal parts have; exact for totals up to 2^63 / n_parts.
std::int64_t share_of(std::int64_t total, int n_low, int n_parts) noexcept;

/// Refuse what no cut by coordinates can use. Collective.
/// @param needs_finite  refuse infinite coordinates too
/// @throws AgreedError as `rcb`
void check_points(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                  std::span<const std::int64_t> weights, int n_parts, bool needs_finite);

}  // namespace barrio::partition::detail
