#pragma once

/// @file Exact sums of doubles over all ranks.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Exact sum of doubles of any size (Kulisch's long accumulator): an integer in digits of 32 bits, each with room for
/// carries. Neither the order of additions nor their distribution over ranks matters.
class ExactSum {
 public:
  /// Add a term. Local. A term that is not finite makes the sum over all ranks NaN.
  void add(double x) noexcept;
  /// Return the sums over all ranks, each rounded once; NaN if a term was not finite. Collective.
  [[nodiscard]] static std::vector<double> over_all(mpi::Context& context, std::span<ExactSum> sums);

 private:
  static constexpr int digit_bits = 32;
  /// Digits from 2^-1074 to above the largest possible sum; one more counts terms that are not finite.
  static constexpr int n_digits = 70;
  using Digits = std::array<std::int64_t, n_digits + 1>;
  static void carry(Digits& digits) noexcept;
  [[nodiscard]] static double rounded(Digits digits) noexcept;
  Digits digits_{};
  std::uint32_t n_since_carry_ = 0;
};

}  // namespace barrio::mpi
