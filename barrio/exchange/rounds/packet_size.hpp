#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace barrio::exchange::detail {

/// Size limit of the first packet of a round on one way between two neighbours. Both ends compute it from the bytes
/// that went that way in earlier rounds, so it costs no message. Later packets of a round have the standard size.
struct PacketSize {
  std::size_t least;  ///< bytes; also of the first round
  std::size_t most;   ///< bytes; equal to `least` where the size was chosen by the user

  /// Compute the size after a round that brought `n_bytes` that way: room for as much, shrinking only gradually.
  [[nodiscard]] std::size_t after(std::size_t size, std::uint64_t n_bytes) const noexcept {
    const auto wanted = std::bit_ceil(std::min<std::uint64_t>(n_bytes, most));
    return std::clamp(std::max<std::size_t>(wanted, size / 2), least, most);
  }
};

}  // namespace barrio::exchange::detail
