#include "barrio/delaunay/audit/hull.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace barrio::delaunay::detail {

std::vector<PlanarGraph::Edge> hull_of(std::span<const Point> points, ExactSigns& signs) {
  std::vector<std::int32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int32_t i) { return points[i]; });
  std::vector<std::int32_t> corners;
  // the lower half from left to right, then the upper one back
  for (int half = 0; half < 2; ++half) {
    const std::size_t first = corners.size();
    for (const std::int32_t i : order) {
      const auto corner = [&](std::size_t k) -> const Point& { return points[corners[corners.size() - k]]; };
      while (corners.size() >= first + 2 && signs.orientation(corner(2), corner(1), points[i]) <= 0) corners.pop_back();
      corners.push_back(i);
    }
    if (!corners.empty()) corners.pop_back();  // the other half begins there
    std::ranges::reverse(order);
  }
  std::vector<PlanarGraph::Edge> hull;
  for (std::size_t k = 0; corners.size() > 2 && k < corners.size(); ++k)
    hull.push_back({.ends = {corners[k], corners[(k + 1) % corners.size()]}, .marker = 0});
  return hull;
}

}  // namespace barrio::delaunay::detail
