#pragma once

#include <cstdint>
#include <optional>

#include "barrio/base/json.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Up to which sizes a message needs the help of one side only; nothing where other work left too little time to find
/// it.
struct MessageLimits {
  /// Largest that MPI keeps at the receiver before a receive is posted.
  std::optional<std::uint64_t> eager_bytes;
  std::optional<std::uint64_t> arriving_bytes;  ///< largest that the receiver gets while its sender computes
  std::optional<std::uint64_t> detached_bytes;  ///< largest whose send completes while its receiver computes
  /// Of messages of half the eager limit: how many are kept at once, `max_at_once` at most.
  std::optional<std::uint64_t> at_once;
  bool is_cumulative = false;  ///< the limit is on all that is on its way, not on each message
  /// The same for sends that complete while their receiver computes.
  std::optional<std::uint64_t> detached_at_once;
  bool is_detached_cumulative = false;

  /// Whether all of them were found.
  [[nodiscard]] bool are_found() const noexcept {
    return eager_bytes && arriving_bytes && detached_bytes && at_once && detached_at_once;
  }
};

inline constexpr std::uint64_t largest_message = std::uint64_t{4} << 20U;
inline constexpr int max_at_once = 256;
inline constexpr double longest_search_seconds = 40.0;

/// Find the limits by bisection, to 64 bytes. Both sides of the pair. On a busy host an answer is taken from trials
/// that nothing has disturbed, and a limit for which these are too rare is left out. Cost: some 100 scripts of a
/// millisecond; where other work takes the cores, up to `longest_search_seconds`. Source: Saif 2004, sections 3.2.1
/// and 3.3.1.
MessageLimits find_limits(Pair& pair);
Json to_json(const MessageLimits& limits);

/// Half the time that a message of a size takes there and back. Both sides. The shortest of several.
double ping_pong_seconds(Pair& pair, std::size_t n_bytes);

}  // namespace barrio::probe
