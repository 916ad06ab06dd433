#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace barrio::exchange::detail {

/// How large the first packet of a round may be on one way between two neighbours. Both ends compute it from what has
/// gone that way in the rounds before, so it costs no message. Later packets of a round have the standard size.
struct PacketSize {
  std::size_t least;  ///< bytes; of the first round too
  std::size_t most;   ///< bytes; equal to `least` where the size was chosen by the user

  /// The size in the round after one that brought `n_bytes` that way: room for as much, shrinking only gradually.
  [[nodiscard]] std::size_t after(std::size_t size, std::uint64_t n_bytes) const noexcept {
    const auto wanted = std::bit_ceil(std::min<std::uint64_t>(n_bytes, most));
    return std::clamp(std::max<std::size_t>(wanted, size / 2), least, most);
  }
};

}  // namespace barrio::exchange::detail
