#pragma once

#include <array>
#include <limits>

namespace barrio::geometry::detail {

using Point2 = std::array<double, 2>;

/// Answer of `sign_if_sure` where rounding errors could change the sign.
inline constexpr int not_sure = 2;

/// Return the sign of a rounded number if it is farther from 0 than its error bound, else `not_sure`.
/// @param permanent  sum of the magnitudes of all products @param factor  error bound in half ulps of `permanent`
[[nodiscard]] inline int sign_if_sure(double rounded, double permanent, double factor) noexcept {
  const double bound = factor * (std::numeric_limits<double>::epsilon() / 2) * permanent;
  if (rounded > bound) return 1;
  if (rounded < -bound) return -1;
  return permanent == 0.0 ? 0 : not_sure;
}

// Exact signs, for points where `sign_if_sure` is not sure.
[[nodiscard]] int exact_orient2d(const Point2& a, const Point2& b, const Point2& c);
[[nodiscard]] int exact_incircle(const Point2& a, const Point2& b, const Point2& c, const Point2& d);

}  // namespace barrio::geometry::detail
