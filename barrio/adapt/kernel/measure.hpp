#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

inline Point operator-(const Point& a, const Point& b) noexcept { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Point operator+(const Point& a, const Point& b) noexcept { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Point operator*(double f, const Point& a) noexcept { return {f * a[0], f * a[1], f * a[2]}; }
inline double dot(const Point& a, const Point& b) noexcept { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Point cross(const Point& a, const Point& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Six times the volume, positive for (0, 1, 2, 3).
inline double volume6(const Point& a, const Point& b, const Point& c, const Point& d) noexcept {
  return dot(b - a, cross(c - a, d - a));
}

/// Cube of the mean ratio: 1 for a regular tetrahedron, 0 for a flat one, below 0 for an inverted one. It has the order
/// of the mean ratio, and needs no root.
inline double cubed_mean_ratio(const Point& a, const Point& b, const Point& c, const Point& d) noexcept {
  const Point ab = b - a;
  const Point ac = c - a;
  const Point ad = d - a;
  const Point bc = c - b;
  const Point bd = d - b;
  const Point cd = d - c;
  const double v6 = dot(ab, cross(ac, ad));
  const double sum = dot(ab, ab) + dot(ac, ac) + dot(ad, ad) + dot(bc, bc) + dot(bd, bd) + dot(cd, cd);
  return 432.0 * v6 * std::abs(v6) / (sum * sum * sum);
}

/// Return x^(-1/3) to 1e-9. Cheaper than the C library's, and the same bits everywhere. @pre x > 0 and normal
/// Source: Newton's method; the start as in Lomont 2003, "Fast inverse square root", for the third root
inline double inverse_cube_root(double x) noexcept {
  constexpr std::uint64_t start = 0x553EF0FF289DD796ULL;
  double y = std::bit_cast<double>(start - std::bit_cast<std::uint64_t>(x) / 3);
  for (int i = 0; i < 3; ++i) y *= (4.0 / 3) - (1.0 / 3) * x * (y * y * y);
  return y;
}

/// Return the step of a length, ascending: four for each factor of two, of which 0 is below 2^-8, and at most 62.
inline std::uint8_t step_of(double length) noexcept {
  constexpr unsigned bits_below = 50;  // two bits of the mantissa count
  constexpr std::int64_t first = (1023LL - 8) << 2;
  const auto step = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(length) >> bits_below) - first;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(step, 0, 62));
}

/// Length of an edge in units of the wanted size, where 1 is wanted: the integral of 1 / size along it, for a size that
/// grows geometrically. That is a logarithmic mean; (2 geometric + arithmetic mean) / 3 equals it to 1e-4 if the sizes
/// differ by a factor of 2. The same, bit by bit, from either end. Source: Pólya and Szegö 1951.
inline double metric_length(const Vertex& a, const Vertex& b) noexcept {
  const Point d = b.at - a.at;
  const double p = a.inverse_size;
  const double q = b.inverse_size;
  return std::sqrt(dot(d, d)) * (4.0 * std::sqrt(p * q) + (p + q)) / 6.0;
}

}  // namespace barrio::adapt::detail
