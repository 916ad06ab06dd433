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
  /// Return a number in 0..n-1, by multiplication in place of division; the bias is below n / 2^32.
  int below(std::size_t n) noexcept { return scale(next() >> 32U, n); }
  /// Return a number in 0..n-1 by the lowest 32 bits.
  static int scale(std::uint64_t bits, std::size_t n) noexcept {
    return static_cast<int>((bits & 0xFFFF'FFFFU) * n >> 32U);
  }
  /// Return a number in [0, 1).
  double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Table of -log(u) of evenly spaced u, for Metropolis' criterion: a search draws one per move.
class Exponentials {
 public:
  Exponentials() noexcept {
    for (int i = 0; i < n_values; ++i) values_[i] = static_cast<float>(-std::log((i + 0.5) / n_values));
  }
  [[nodiscard]] float draw(std::uint64_t bits) const noexcept { return values_[bits % n_values]; }

 private:
  static constexpr int n_values = 4096;
  std::array<float, n_values> values_;
};

}  // namespace barrio::rankmap::detail
