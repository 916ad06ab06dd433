#include "barrio/geometry/predicates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/geometry/predicates/expansion.hpp"
#include "barrio/geometry/predicates/integers.hpp"

namespace barrio::geometry {
namespace {

using detail::Expansion;
using detail::not_sure;
using detail::Scratch;
using detail::sign_if_sure;

template <class T>
T minor2(const T& ax, const T& ay, const T& bx, const T& by) {
  return ax * by - ay * bx;
}

/// Compute the determinant of rows (a, b, c), expanded along the last column.
template <class T>
T minor3(const std::array<T, 3>& a, const std::array<T, 3>& b, const std::array<T, 3>& c) {
  return a[2] * minor2(b[0], b[1], c[0], c[1]) + b[2] * minor2(c[0], c[1], a[0], a[1]) +
         c[2] * minor2(a[0], a[1], b[0], b[1]);
}

/// Compute the same expansion with magnitudes, which bounds the error.
double permanent3(const std::array<double, 3>& a, const std::array<double, 3>& b, const std::array<double, 3>& c) {
  const auto two = [](const std::array<double, 3>& p, const std::array<double, 3>& q) {
    return std::abs(p[0] * q[1]) + std::abs(p[1] * q[0]);
  };
  return std::abs(a[2]) * two(b, c) + std::abs(b[2]) * two(c, a) + std::abs(c[2]) * two(a, b);
}

template <std::size_t n>
std::array<double, n> rounded_difference(const std::array<double, n>& a, const std::array<double, n>& b) noexcept {
  std::array<double, n> out{};
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
  return out;
}

std::array<Expansion, 2> exact_difference(Scratch& scratch, const Point2& a, const Point2& b) {
  return {Expansion(scratch, a[0], b[0]), Expansion(scratch, a[1], b[1])};
}

std::array<Expansion, 3> exact_difference(Scratch& scratch, const Point3& a, const Point3& b) {
  return {Expansion(scratch, a[0], b[0]), Expansion(scratch, a[1], b[1]), Expansion(scratch, a[2], b[2])};
}

std::array<Expansion, 3> lifted(const std::array<Expansion, 2>& p) { return {p[0], p[1], p[0] * p[0] + p[1] * p[1]}; }

/// Write the differences of n points to a last one as integers times a common power of two: they may be so although
/// the points are not, as near each other and far from the origin, or although the rounded differences are not exact.
/// @return the coordinates of the n differences, with magnitudes below 2^62; nothing if they need more bits
template <std::size_t n, std::size_t width>
std::optional<std::array<std::int64_t, n * width>> integer_differences(
    const std::array<const std::array<double, width>*, n>& points, const std::array<double, width>& last) noexcept {
  std::array<double, n * width> differences{};
  bool are_exact = true;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      const detail::TwoTerms difference = detail::two_sum((*points[i])[k], -last[k]);
      differences[i * width + k] = difference.high;
      are_exact = are_exact && difference.low == 0.0;
    }
  }
  if (are_exact)
    if (const auto found = detail::in_common_unit(differences)) return found;
  std::array<double, (n + 1) * width> all{};
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t i = 0; i < n; ++i) all[i * width + k] = (*points[i])[k];
    all[n * width + k] = last[k];
  }
  const auto found = detail::in_common_unit(all);
  if (!found) return std::nullopt;
  std::array<std::int64_t, n * width> out{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < width; ++k) out[i * width + k] = (*found)[i * width + k] - (*found)[n * width + k];
  return out;
}

/// Tell whether magnitudes are below a power of two.
template <std::size_t n>
bool are_below(const std::array<std::int64_t, n>& x, unsigned power) noexcept {
  return std::ranges::all_of(x, [&](std::int64_t one) { return (one < 0 ? -one : one) >> power == 0; });
}

/// Return the sign of the determinant of rows (a, b, c), expanded along the last column.
/// @param is_small  whether it fits 128 bits
int sign_of_minor3(const std::array<std::array<detail::Int128, 3>, 3>& rows, bool is_small) noexcept {
  const auto& [a, b, c] = rows;
  if (is_small) return detail::sign_of(minor3(a, b, c));
  detail::Int256 sum = detail::Int256::product(a[2], minor2(b[0], b[1], c[0], c[1]));
  sum += detail::Int256::product(b[2], minor2(c[0], c[1], a[0], a[1]));
  sum += detail::Int256::product(c[2], minor2(a[0], a[1], b[0], b[1]));
  return sum.sign();
}

}  // namespace

namespace detail {

int exact_orient2d(const Point2& a, const Point2& b, const Point2& c) {
  if (const auto d = integer_differences<2, 2>({&a, &b}, c))
    return sign_of(minor2<Int128>((*d)[0], (*d)[1], (*d)[2], (*d)[3]));
  Scratch scratch;
  const auto x = exact_difference(scratch, a, c);
  const auto y = exact_difference(scratch, b, c);
  return minor2(x[0], x[1], y[0], y[1]).sign();
}

int exact_incircle(const Point2& a, const Point2& b, const Point2& c, const Point2& d) {
  if (const auto of = integer_differences<3, 2>({&a, &b, &c}, d)) {
    std::array<std::array<Int128, 3>, 3> rows{};
    for (std::size_t i = 0; i < 3; ++i) {
      const Int128 x = (*of)[2 * i];
      const Int128 y = (*of)[2 * i + 1];
      rows[i] = {x, y, x * x + y * y};
    }
    return sign_of_minor3(rows, are_below(*of, 30));
  }
  Scratch scratch;
  return minor3(lifted(exact_difference(scratch, a, d)), lifted(exact_difference(scratch, b, d)),
                lifted(exact_difference(scratch, c, d)))
      .sign();
}

}  // namespace detail

int orient3d(const Point3& a, const Point3& b, const Point3& c, const Point3& d) {
  const auto u = rounded_difference(b, a);
  const auto v = rounded_difference(c, a);
  const auto w = rounded_difference(d, a);
  const int sure = sign_if_sure(minor3(u, v, w), permanent3(u, v, w), 9.0);
  if (sure != not_sure) return sure;
  if (const auto of = integer_differences<3, 3>({&b, &c, &d}, a)) {
    std::array<std::array<detail::Int128, 3>, 3> rows{};
    for (std::size_t i = 0; i < 9; ++i) rows[i / 3][i % 3] = (*of)[i];
    return sign_of_minor3(rows, are_below(*of, 40));
  }
  Scratch scratch;
  return minor3(exact_difference(scratch, b, a), exact_difference(scratch, c, a), exact_difference(scratch, d, a))
      .sign();
}

int incircle_unique(const std::array<Point2, 4>& points) {
  const int sign = incircle(points[0], points[1], points[2], points[3]);
  return sign != 0 ? sign : incircle_of_one_circle(points);
}

int incircle_of_one_circle(const std::array<Point2, 4>& points) {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  const auto exchange = [&](std::size_t i, std::size_t j) {
    if (points[order[i]] < points[order[j]]) std::swap(order[i], order[j]);
  };
  exchange(0, 1);
  exchange(2, 3);
  exchange(0, 2);
  exchange(1, 3);
  exchange(1, 2);
  for (const std::size_t i : order) {  // a point changes the sign when it is lifted unless the others lie on a line
    std::array<Point2, 3> corners{points[0], points[1], points[2]};
    if (i < 3) corners[i] = points[3];
    if (const int sign = orient2d(corners[0], corners[1], corners[2]); sign != 0) return i < 3 ? sign : -sign;
  }
  return 0;  // the precondition does not hold
}

void check_arithmetic() {
  constexpr double small = 0x1p-53;
  volatile double one = 1.0;  // keeps the compiler from folding constants
  const auto [sum, lost] = detail::two_sum(one, small * one);
  const double wide = one + 2 * small;
  const auto [product, rest] = detail::two_product(wide, wide);
  const Point2 a{0.5 * one, 0.5};
  const Point2 b{12.0, 12.0};
  const Point2 c{24.0, 24.0};
  const bool are_signs = orient2d({a[0] + small, a[1]}, b, c) == -orient2d({a[0], a[1] + small}, b, c) &&
                         orient2d(a, b, c) == 0 && orient2d({a[0] + small, a[1]}, b, c) != 0;
  if (sum == 1.0 && lost == small && product == 1.0 + 4 * small && rest == 4 * small * small && are_signs) return;
  throw Error(ErrorCode::failed,
              {.subject = "arithmetic",
               .cause = "does not round as IEEE 754 prescribes; signs of determinants would be wrong",
               .remedy = "build without -ffast-math and with -ffp-contract=off; on x86 with SSE2"});
}

}  // namespace barrio::geometry
