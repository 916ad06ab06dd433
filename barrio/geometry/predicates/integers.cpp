#include "barrio/geometry/predicates/integers.hpp"

#include <algorithm>
#include <cmath>

namespace barrio::geometry::detail {
namespace {

constexpr std::uint64_t low_word(UInt128 x) noexcept { return static_cast<std::uint64_t>(x); }
constexpr std::uint64_t high_word(UInt128 x) noexcept { return static_cast<std::uint64_t>(x >> 64U); }
UInt128 magnitude(Int128 x) noexcept { return x < 0 ? -static_cast<UInt128>(x) : static_cast<UInt128>(x); }

}  // namespace

Int256 Int256::product(Int128 a, Int128 b) noexcept {
  const UInt128 x = magnitude(a);
  const UInt128 y = magnitude(b);
  const UInt128 low = UInt128{low_word(x)} * low_word(y);
  const UInt128 left = UInt128{high_word(x)} * low_word(y);
  const UInt128 right = UInt128{low_word(x)} * high_word(y);
  const UInt128 middle = UInt128{high_word(low)} + low_word(left) + low_word(right);
  const UInt128 high = UInt128{high_word(x)} * high_word(y) + high_word(left) + high_word(right) + high_word(middle);
  Int256 out;
  out.words_ = {low_word(low), low_word(middle), low_word(high), high_word(high)};
  if ((a < 0) != (b < 0)) out.negate();
  return out;
}

Int256& Int256::operator+=(const Int256& other) noexcept {
  UInt128 carry = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    carry += UInt128{words_[i]} + other.words_[i];
    words_[i] = low_word(carry);
    carry >>= 64U;
  }
  return *this;
}

void Int256::negate() noexcept {
  UInt128 carry = 1;
  for (std::uint64_t& word : words_) {
    carry += UInt128{~word};
    word = low_word(carry);
    carry >>= 64U;
  }
}

int Int256::sign() const noexcept {
  if ((words_[3] >> 63U) != 0) return -1;
  return (words_[0] | words_[1] | words_[2] | words_[3]) != 0 ? 1 : 0;
}

template <std::size_t n>
std::optional<std::array<std::int64_t, n>> in_common_unit(const std::array<double, n>& x) noexcept {
  double largest = 0.0;
  for (const double one : x) largest = std::max(largest, std::abs(one));
  if (largest == 0.0) return std::array<std::int64_t, n>{};
  int exponent = 0;
  std::frexp(largest, &exponent);  // below 2^exponent
  const double scale = std::ldexp(1.0, 61 - exponent);
  std::array<std::int64_t, n> out{};
  for (std::size_t i = 0; i < n; ++i) {
    const double scaled = x[i] * scale;  // exact: a power of two, far from underflow
    out[i] = static_cast<std::int64_t>(scaled);
    if (static_cast<double>(out[i]) != scaled) return std::nullopt;
  }
  return out;
}

template std::optional<std::array<std::int64_t, 4>> in_common_unit(const std::array<double, 4>&) noexcept;
template std::optional<std::array<std::int64_t, 6>> in_common_unit(const std::array<double, 6>&) noexcept;
template std::optional<std::array<std::int64_t, 8>> in_common_unit(const std::array<double, 8>&) noexcept;
template std::optional<std::array<std::int64_t, 9>> in_common_unit(const std::array<double, 9>&) noexcept;
template std::optional<std::array<std::int64_t, 12>> in_common_unit(const std::array<double, 12>&) noexcept;

}  // namespace barrio::geometry::detail
