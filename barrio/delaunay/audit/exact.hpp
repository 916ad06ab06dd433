#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Signs by long doubles where those are sure, and by fractions of GMP.
class ExactSigns {
 public:
  /// 1 if a, b, c run counterclockwise.
  [[nodiscard]] int orientation(const Point& a, const Point& b, const Point& c);
  /// 1 if d lies in the circle of the counterclockwise a, b, c.
  [[nodiscard]] int in_circle(const Point& a, const Point& b, const Point& c, const Point& d);
  [[nodiscard]] std::int64_t n_exact() const noexcept { return n_exact_; }

 private:
  std::int64_t n_exact_ = 0;
};

/// An edge, with the area to its left.
struct Edge2 {
  Point from;
  Point to;
};
/// Area that loops of edges enclose, without error until it is rounded once.
[[nodiscard]] double exact_area(const std::vector<Edge2>& edges);
/// Difference of two such areas.
[[nodiscard]] double exact_difference(const std::vector<Edge2>& a, const std::vector<Edge2>& b);

}  // namespace barrio::delaunay::detail
