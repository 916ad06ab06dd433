#pragma once

/// @file Exact geometric predicates: orientation and in-circle tests.

#include <array>
#include <cmath>

#include "barrio/geometry/detail/signs.hpp"

// The sign of each determinant is exact, so a triangulation can rely on it. All functions are local.
//
// A sign is taken from rounded numbers where their error bound allows it; otherwise from integers of up to 256 bits
// where the coordinates are multiples of a common power of two, as on lattices; otherwise from exact sums of doubles.
// Signs are exact for coordinates that are 0 or whose magnitudes lie between 1e-45 and 1e60, on machines that round
// doubles as IEEE 754 prescribes: see `check_arithmetic`. Source: Shewchuk 1997, "Adaptive precision floating-point
// arithmetic and fast robust geometric predicates".

namespace barrio::geometry {

using detail::Point2;
/// Smallest magnitude of coordinates for which signs are exact; 0 is allowed too.
inline constexpr double min_exact = 1e-45;
/// Largest magnitude of coordinates for which signs are exact.
inline constexpr double max_exact = 1e60;
/// Position in space.
using Point3 = std::array<double, 3>;

/// Compute the orientation of three points.
/// @return 1 if a, b, c run counterclockwise, -1 if clockwise, 0 if they lie on a line
[[nodiscard]] inline int orient2d(const Point2& a, const Point2& b, const Point2& c) {
  const double left = (a[0] - c[0]) * (b[1] - c[1]);
  const double right = (a[1] - c[1]) * (b[0] - c[0]);
  const int sure = detail::sign_if_sure(left - right, std::abs(left) + std::abs(right), 5.0);
  return sure != detail::not_sure ? sure : detail::exact_orient2d(a, b, c);
}
/// Compute the orientation of four points.
/// @return sign of det(b - a, c - a, d - a): 1 for a positive tetrahedron, 0 if the four lie in a plane
[[nodiscard]] int orient3d(const Point3& a, const Point3& b, const Point3& c, const Point3& d);
/// Tell on which side of the circle through a, b, c a point d lies.
/// @return 1 inside, -1 outside, 0 on the circle, for a counterclockwise triangle; reversed for a clockwise one
[[nodiscard]] inline int incircle(const Point2& a, const Point2& b, const Point2& c, const Point2& d) {
  const double ax = a[0] - d[0];
  const double ay = a[1] - d[1];
  const double bx = b[0] - d[0];
  const double by = b[1] - d[1];
  const double cx = c[0] - d[0];
  const double cy = c[1] - d[1];
  const double bc_left = bx * cy;
  const double bc_right = by * cx;
  const double ca_left = cx * ay;
  const double ca_right = cy * ax;
  const double ab_left = ax * by;
  const double ab_right = ay * bx;
  const double a_lift = ax * ax + ay * ay;
  const double b_lift = bx * bx + by * by;
  const double c_lift = cx * cx + cy * cy;
  const double rounded = a_lift * (bc_left - bc_right) + b_lift * (ca_left - ca_right) + c_lift * (ab_left - ab_right);
  const double permanent = a_lift * (std::abs(bc_left) + std::abs(bc_right)) +
                           b_lift * (std::abs(ca_left) + std::abs(ca_right)) +
                           c_lift * (std::abs(ab_left) + std::abs(ab_right));
  const int sure = detail::sign_if_sure(rounded, permanent, 12.0);
  return sure != detail::not_sure ? sure : detail::exact_incircle(a, b, c, d);
}
/// Tell on which side of the circle a point d lies, with ties broken by coordinates (symbolic perturbation). It is as
/// if the point with the largest x, and of those with the largest y, were lifted a little, the next one by much less,
/// and so on. Points on one circle then have one answer everywhere, whatever their numbers are, and the Delaunay
/// triangulation that satisfies it is unique.
/// @param[in] points  a, b, c, d; different @pre a, b, c do not lie on a line
/// @return 1 or -1. Source: Devillers and Teillaud 2011, "Perturbations for Delaunay and weighted Delaunay 3D
/// triangulations"
[[nodiscard]] int incircle_unique(const std::array<Point2, 4>& points);
/// Decide the tie as `incircle_unique` does, for four points known to lie on one circle.
[[nodiscard]] int incircle_of_one_circle(const std::array<Point2, 4>& points);

/// Check that this build rounds as exact signs require. A compiler that may reorder sums (-ffast-math) or fuse
/// products into them breaks this. Cost: microseconds.
/// @throws Error{failed} if a known result is not reproduced
void check_arithmetic();

}  // namespace barrio::geometry
