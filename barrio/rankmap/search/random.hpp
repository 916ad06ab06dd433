#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "barrio/base/hash.hpp"

namespace barrio::rankmap::detail {

/// Random numbers that are the same with every compiler and library. SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(mix64(seed)) {}

  std::uint64_t next() noexcept { return mix64(state_++); }
  /// In 0..n-1, by multiplication in place of division; the bias is below n / 2^32.
  int below(int n) noexcept { return scale(static_cast<std::uint32_t>(next() >> 32U), n); }
  static int scale(std::uint32_t bits, int n) noexcept {
    return static_cast<int>((static_cast<std::uint64_t>(bits) * static_cast<std::uint64_t>(n)) >> 32U);
  }
  /// In [0, 1).
  double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// -log(u) of evenly spaced u, from which Metropolis draws: a search asks for one a move.
class Exponentials {
 public:
  Exponentials() noexcept {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = static_cast<float>(-std::log((static_cast<double>(i) + 0.5) / static_cast<double>(values_.size())));
  }
  [[nodiscard]] float draw(std::uint32_t bits) const noexcept { return values_[bits % values_.size()]; }

 private:
  std::array<float, 4096> values_;
};

}  // namespace barrio::rankmap::detail
