#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "barrio/mpi/collectives.hpp"

namespace barrio::amr::detail {

/// Sums of numbers below a bound, exact: whole numbers of 126 bits, of which MPI adds three parts of 42.
class ExactSum {
 public:
  /// @param most  no number is larger @param n  at most so many are added
  ExactSum(double most, std::int64_t n)
      : shift_(124 - (most > 0.0 ? std::ilogb(most) + 1 : 0) -
               static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)))) {}
  void add(double x) noexcept { sum_ += static_cast<__int128>(std::ldexp(x, shift_)); }
  [[nodiscard]] double over_all(mpi::Context& context) const {
    constexpr int bits = 42;
    constexpr __int128 mask = (__int128{1} << bits) - 1;
    std::array<std::int64_t, 3> parts{static_cast<std::int64_t>(sum_ & mask),
                                      static_cast<std::int64_t>((sum_ >> bits) & mask),
                                      static_cast<std::int64_t>(sum_ >> (2 * bits))};
    mpi::all_reduce(context, std::span<std::int64_t>(parts), MPI_SUM);
    const __int128 sum = (static_cast<__int128>(parts[2]) << (2 * bits)) + (static_cast<__int128>(parts[1]) << bits) +
                         static_cast<__int128>(parts[0]);
    return std::ldexp(static_cast<double>(sum), -shift_);
  }

 private:
  int shift_;
  __int128 sum_ = 0;
};

}  // namespace barrio::amr::detail
