#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace barrio::geometry::detail {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

[[nodiscard]] inline int sign_of(Int128 x) noexcept { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// A signed integer of 256 bits, as wide as determinants of the integers of `in_common_unit` need. Nothing is allocated
/// or rounded.
class Int256 {
 public:
  Int256() = default;
  /// Make the product a * b. @pre the magnitudes of both are below 2^127
  [[nodiscard]] static Int256 product(Int128 a, Int128 b) noexcept {
    const UInt128 x = magnitude(a);
    const UInt128 y = magnitude(b);
    const UInt128 low = UInt128{low_word(x)} * low_word(y);
    const UInt128 left = UInt128{high_word(x)} * low_word(y);
    const UInt128 right = UInt128{low_word(x)} * high_word(y);
    const UInt128 middle = UInt128{high_word(low)} + low_word(left) + low_word(right);
    const UInt128 high = UInt128{high_word(x)} * high_word(y) + high_word(left) + high_word(right) + high_word(middle);
    Int256 out;
    out.low_ = UInt128{low_word(middle)} << 64U | low_word(low);
    out.high_ = high;
    if ((a < 0) != (b < 0)) out.negate();
    return out;
  }

  Int256& operator+=(const Int256& other) noexcept {
    low_ += other.low_;
    high_ += other.high_ + (low_ < other.low_ ? 1U : 0U);
    return *this;
  }
  [[nodiscard]] int sign() const noexcept {
    if (static_cast<Int128>(high_) < 0) return -1;
    return (high_ | low_) != 0 ? 1 : 0;
  }

 private:
  static std::uint64_t low_word(UInt128 x) noexcept { return static_cast<std::uint64_t>(x); }
  static std::uint64_t high_word(UInt128 x) noexcept { return static_cast<std::uint64_t>(x >> 64U); }
  static UInt128 magnitude(Int128 x) noexcept { return x < 0 ? -static_cast<UInt128>(x) : static_cast<UInt128>(x); }
  void negate() noexcept {
    low_ = ~low_ + 1;
    high_ = ~high_ + (low_ == 0 ? 1U : 0U);
  }

  UInt128 low_ = 0;  // two's complement
  UInt128 high_ = 0;
};

/// Write doubles as integers times a common power of two, the largest one. @return the integers, with magnitudes below
/// 2^61; nothing if the doubles need more bits
template <std::size_t n>
[[nodiscard]] std::optional<std::array<std::int64_t, n>> in_common_unit(const std::array<double, n>& x) noexcept {
  double largest = 0.0;
  for (const double one : x) largest = std::max(largest, std::abs(one));
  if (largest == 0.0) return std::array<std::int64_t, n>{};
  constexpr int bias = 1023;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(largest) >> 52U) - bias;  // below 2^(exponent + 1)
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(60 - exponent + bias) << 52U);
  std::array<std::int64_t, n> out{};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double scaled = x[i] * scale;  // exact: a power of two, far from underflow
    out[i] = static_cast<std::int64_t>(scaled);
    if (static_cast<double>(out[i]) != scaled) return std::nullopt;
    bits |= out[i];
  }
  const int n_zeros = std::countr_zero(bits);
  for (std::int64_t& one : out) one >>= n_zeros;
  return out;
}

}  // namespace barrio::geometry::detail
