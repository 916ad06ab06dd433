#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Signs of determinants: by long doubles where these are sure, otherwise by GMP's fractions.
class ExactSigns {
 public:
  /// Return 1 if a, b, c run counterclockwise, -1 if clockwise, 0 if they lie on a line.
  [[nodiscard]] int orientation(const Point& a, const Point& b, const Point& c);
  /// Return 1 if d lies inside the circle of the counterclockwise a, b, c, -1 outside, 0 on it.
  [[nodiscard]] int in_circle(const Point& a, const Point& b, const Point& c, const Point& d);
  [[nodiscard]] std::int64_t n_exact() const noexcept { return n_exact_; }

 private:
  std::int64_t n_exact_ = 0;
};

/// An edge with the area on its left.
struct Edge2 {
  Point from;
  Point to;
};
/// Return the area that loops of edges enclose, exact but for one final rounding.
[[nodiscard]] double exact_area(const std::vector<Edge2>& edges);
/// Return the difference of two such areas, rounded as well.
[[nodiscard]] double exact_difference(const std::vector<Edge2>& a, const std::vector<Edge2>& b);

}  // namespace barrio::delaunay::detail
