#include "barrio/mpi/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {

void ExactSum::add(double x) noexcept {
  constexpr int mantissa_bits = 52;
  constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
  constexpr std::uint64_t exponent_mask = 0x7ff;
  constexpr std::uint32_t max_adds = 1U << 30U;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits >> mantissa_bits) & exponent_mask;
  if (exponent == exponent_mask) {
    digits_[n_digits] += 1;
    return;
  }
  // Subnormal numbers have the exponent of the smallest normal ones, and no leading bit.
  const std::uint64_t mantissa = (bits & mantissa_mask) | (exponent == 0 ? 0 : std::uint64_t{1} << mantissa_bits);
  const std::uint64_t place = exponent == 0 ? 0 : exponent - 1;
  const unsigned __int128 wide = static_cast<unsigned __int128>(mantissa) << (place % digit_bits);
  std::int64_t* const digit = digits_.data() + place / digit_bits;
  const std::int64_t sign = std::signbit(x) ? -1 : 1;
  for (int d = 0; d < 3; ++d)
    digit[d] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(wide >> (d * digit_bits)));
  if (++n_since_carry_ == max_adds) {
    carry(digits_);
    n_since_carry_ = 0;
  }
}

/// Propagate carries: leave 32 bits in each digit except the last, which has the sign.
void ExactSum::carry(Digits& digits) noexcept {
  for (int d = 0; d + 1 < n_digits; ++d) {
    digits[d + 1] += digits[d] >> digit_bits;
    digits[d] &= 0xffffffff;
  }
}

double ExactSum::rounded(Digits digits) noexcept {
  if (digits[n_digits] != 0) return std::numeric_limits<double>::quiet_NaN();
  carry(digits);
  const bool is_negative = digits[n_digits - 1] < 0;
  if (is_negative) {
    for (int d = 0; d < n_digits; ++d) digits[d] = -digits[d];
    carry(digits);
  }
  int top = n_digits;
  while (top > 0 && digits[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  // Collect 64 leading bits, of which the conversion keeps 53. Bits below them only break ties of the rounding.
  std::uint64_t leading = 0;
  bool has_rest = false;
  int place = top * digit_bits;
  for (int d = top; d-- > 0;) {
    const std::uint64_t digit = digits[d];
    if (const int room = std::countl_zero(leading); room >= digit_bits) {
      leading = (leading << digit_bits) | digit;
      place -= digit_bits;
    } else if (room > 0 && !has_rest && place == (d + 1) * digit_bits) {
      leading = (leading << room) | (digit >> (digit_bits - room));
      has_rest = (digit << room & 0xffffffff) != 0;
      place -= room;
    } else {
      has_rest = has_rest || digit != 0;
    }
  }
  constexpr int lowest = 1074;
  const double size = std::ldexp(leading | (has_rest ? 1 : 0), place - lowest);
  return is_negative ? -size : size;
}

std::vector<double> ExactSum::over_all(mpi::Context& context, std::span<ExactSum> sums) {
  std::vector<Digits> digits;
  for (ExactSum& sum : sums) {
    carry(sum.digits_);
    digits.push_back(sum.digits_);
  }
  if (!digits.empty())
    mpi::all_reduce(context, std::span(digits.front().data(), digits.size() * (n_digits + 1)), MPI_SUM);
  std::vector<double> all;
  for (const Digits& one : digits) all.push_back(rounded(one));
  return all;
}

}  // namespace barrio::mpi
