#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::amr::detail {

/// A sum of doubles of any size without rounding: a whole number in digits of 32 bits, each with room for carries, so
/// that it does not matter who adds what, and in which order (Kulisch's long accumulator).
class ExactSum {
 public:
  void add(double x) noexcept;
  /// The sums over all ranks, each rounded once; NaN where something was not finite. Collective.
  [[nodiscard]] static std::vector<double> over_all(mpi::Context& context, std::span<ExactSum> sums);

 private:
  static constexpr int digit_bits = 32;
  /// From 2^-1074 on to above the largest double times as many as there may be; the last one counts what is not finite.
  static constexpr std::size_t n_digits = 70;
  using Digits = std::array<std::int64_t, n_digits + 1>;
  static void carry(Digits& digits) noexcept;
  [[nodiscard]] static double rounded(Digits digits) noexcept;
  Digits digits_{};
  std::uint32_t n_since_carry_ = 0;
};

}  // namespace barrio::amr::detail
