#pragma once

#include <cstdint>

#include "barrio/base/json.hpp"
#include "barrio/probe/pair.hpp"

namespace barrio::probe {

/// Up to which sizes a message needs the help of one side only.
struct MessageLimits {
  std::uint64_t eager_bytes = 0;     ///< largest that MPI keeps at the receiver before a receive is posted
  std::uint64_t arriving_bytes = 0;  ///< largest that the receiver gets while its sender computes
  std::uint64_t detached_bytes = 0;  ///< largest whose send completes while its receiver computes
  /// Of messages of half the eager limit: how many are kept at once, `most_at_once` at most.
  std::uint64_t at_once = 0;
  bool is_cumulative = false;  ///< the limit is on all that is on its way, not on each message
  /// The same for sends that complete while their receiver computes.
  std::uint64_t detached_at_once = 0;
  bool is_detached_cumulative = false;
};

inline constexpr std::uint64_t largest_message = std::uint64_t{4} << 20U;
inline constexpr int most_at_once = 256;

/// Find the limits by bisection, to 64 bytes. Both sides of the pair. Cost: some 100 scripts of a millisecond.
/// Source: Saif 2004, sections 3.2.1 and 3.3.1.
MessageLimits find_limits(Pair& pair);
Json to_json(const MessageLimits& limits);

/// Half the time that a message of a size takes there and back. Both sides. The shortest of several.
double ping_pong_seconds(Pair& pair, std::size_t n_bytes);

}  // namespace barrio::probe
