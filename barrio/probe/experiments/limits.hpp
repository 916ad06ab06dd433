#pragma once

#include <cstdint>
#include <optional>

#include "barrio/base/json.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// The largest sizes up to which a message needs the help of one side only; empty where other work left too little time
/// to find them.
struct MessageLimits {
  /// Largest that MPI buffers at the receiver before a receive is posted.
  std::optional<std::uint64_t> eager_bytes;
  std::optional<std::uint64_t> arriving_bytes;  ///< largest that arrives while its sender computes
  std::optional<std::uint64_t> detached_bytes;  ///< largest whose send completes while its receiver computes
  /// Number of messages of half the eager limit that are buffered together, at most `max_at_once`.
  std::optional<std::uint64_t> at_once;
  bool is_cumulative = false;  ///< the limit is on all messages in flight, not on each
  /// The same for sends that complete while their receiver computes.
  std::optional<std::uint64_t> detached_at_once;
  bool is_detached_cumulative = false;

  /// Tell whether all of them were found.
  [[nodiscard]] bool are_found() const noexcept {
    return eager_bytes && arriving_bytes && detached_bytes && at_once && detached_at_once;
  }
};

inline constexpr std::uint64_t largest_message = std::uint64_t{4} << 20U;
inline constexpr int max_at_once = 256;
inline constexpr double longest_search_seconds = 40.0;

/// Find the limits by bisection, to 64 bytes. Both sides of the pair call it. On a busy host only undisturbed trials
/// count, and a limit with too few of them is left out. Cost: some 100 scripts of a millisecond; where other work takes
/// the cores, up to `longest_seconds`. Source: Saif 2004, sections 3.2.1 and 3.3.1.
MessageLimits find_limits(Pair& pair, double longest_seconds = longest_search_seconds);
Json to_json(const MessageLimits& limits);

/// Measure half the round-trip time of a message of a size: the shortest of several. Both sides of the pair call it.
double ping_pong_seconds(Pair& pair, std::size_t n_bytes);

}  // namespace barrio::probe
