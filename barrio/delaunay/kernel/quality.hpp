#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Area and edge lengths of a triangle.
struct Shape {
  double double_area = 0.0;
  std::array<double, 3> squares{};  ///< of the lengths of edges; edge i lies opposite corner i
  std::uint32_t shortest = 0;       ///< index of the shortest edge

  Shape(const Point& a, const Point& b, const Point& c) noexcept {
    const Point u{b[0] - a[0], b[1] - a[1]};
    const Point v{c[0] - a[0], c[1] - a[1]};
    const Point w{c[0] - b[0], c[1] - b[1]};
    double_area = u[0] * v[1] - u[1] * v[0];
    squares = {w[0] * w[0] + w[1] * w[1], v[0] * v[0] + v[1] * v[1], u[0] * u[0] + u[1] * u[1]};
    shortest = squares[0] <= squares[1] ? (squares[0] <= squares[2] ? 0U : 2U) : (squares[1] <= squares[2] ? 1U : 2U);
  }
  /// Return the squared sine of the smallest angle.
  [[nodiscard]] double sharpness() const noexcept {
    return double_area / squares[next_corner(shortest)] * double_area / squares[previous_corner(shortest)];
  }
  /// Tell whether the smallest angle, opposite the shortest edge, is smaller than the one with this sine.
  [[nodiscard]] bool is_sharper(double sine_squared) const noexcept {
    return double_area * double_area <
           sine_squared * squares[next_corner(shortest)] * squares[previous_corner(shortest)];
  }
};

/// Return the position of a new point for a triangle with the shortest edge ab: the circumcentre, or a point on the way
/// to it from the middle of ab, where ab is seen under an angle that is just large enough.
/// @param reach  max distance from the middle of ab, in lengths of ab
[[nodiscard]] inline Point steiner_point(const Point& a, const Point& b, const Point& c, double reach) noexcept {
  const Point u{b[0] - a[0], b[1] - a[1]};
  const Point v{c[0] - a[0], c[1] - a[1]};
  const double uu = u[0] * u[0] + u[1] * u[1];
  // from the middle of ab the centre is reached by ab turned left, times half the cotangent of the angle at c
  const double across = u[0] * v[1] - u[1] * v[0];
  const double height = 0.5 * (v[0] * (v[0] - u[0]) + v[1] * (v[1] - u[1])) / across;
  const double taken = height > reach && uu > 0.0 ? reach : height;
  return {a[0] + (0.5 * u[0] - taken * u[1]), a[1] + (0.5 * u[1] + taken * u[0])};
}

}  // namespace barrio::delaunay::detail
