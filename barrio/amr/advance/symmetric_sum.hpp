#pragma once

#include <array>
#include <cstddef>

namespace barrio::amr::detail {

/// Sum the values of a row, square or cube of `n` points a side (n is even). Mirrored values have the same sum, bit by
/// bit, and in a square transposed ones too: opposite points are added first.
template <std::size_t Dims>
[[nodiscard]] inline double symmetric_sum(const double* first, const std::array<std::ptrdiff_t, Dims>& strides,
                                          std::ptrdiff_t n) noexcept {
  const std::ptrdiff_t last = n - 1;
  double sum = 0.0;
  if constexpr (Dims == 1) {
    for (std::ptrdiff_t i = 0; i < n / 2; ++i) sum += first[i * strides[0]] + first[(last - i) * strides[0]];
  } else if constexpr (Dims == 2) {
    const auto at = [&](std::ptrdiff_t i, std::ptrdiff_t j) { return first[i * strides[0] + j * strides[1]]; };
    if (n == 2) return (at(0, 0) + at(1, 1)) + (at(1, 0) + at(0, 1));
    const auto four = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      return (at(i, j) + at(last - i, last - j)) + (at(last - i, j) + at(i, last - j));
    };
    for (std::ptrdiff_t i = 0; i < n / 2; ++i) {
      sum += four(i, i);
      for (std::ptrdiff_t j = i + 1; j < n / 2; ++j) sum += four(i, j) + four(j, i);
    }
  } else {
    const auto at = [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
      return first[i * strides[0] + j * strides[1] + k * strides[2]];
    };
    const auto eight = [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
      return ((at(i, j, k) + at(last - i, last - j, last - k)) + (at(last - i, j, k) + at(i, last - j, last - k))) +
             ((at(i, last - j, k) + at(last - i, j, last - k)) + (at(i, j, last - k) + at(last - i, last - j, k)));
    };
    if (n == 2) return eight(0, 0, 0);
    for (std::ptrdiff_t k = 0; k < n / 2; ++k)
      for (std::ptrdiff_t j = 0; j < n / 2; ++j)
        for (std::ptrdiff_t i = 0; i < n / 2; ++i) sum += eight(i, j, k);
  }
  return sum;
}

}  // namespace barrio::amr::detail
