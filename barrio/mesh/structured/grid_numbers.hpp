#pragma once

#include <array>
#include <cstdint>

// Whole numbers of grids in floating point, where products may exceed 2^63.

namespace barrio::mesh::detail {

/// Multiply a number per axis.
constexpr double product_of(const std::array<std::int64_t, 3>& n) noexcept {
  double product = 1.0;
  for (const std::int64_t along : n) product *= static_cast<double>(along);
  return product;
}

/// Divide one number by another.
constexpr double ratio_of(std::int64_t n, std::int64_t total) noexcept {
  return static_cast<double>(n) / static_cast<double>(total);
}

}  // namespace barrio::mesh::detail
