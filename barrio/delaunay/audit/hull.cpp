#include "barrio/delaunay/audit/hull.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace barrio::delaunay::detail {
namespace {

/// Find the points that are farthest in eight directions, counterclockwise, each once.
std::vector<std::int32_t> farthest_points(std::span<const Point> points) {
  constexpr std::array<std::array<int, 2>, 8> directions{
      {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}};
  std::array<std::int32_t, 8> farthest{};
  for (std::int32_t i = 1; i < std::ssize(points); ++i)
    for (std::size_t k = 0; k < directions.size(); ++k) {
      const auto way = [&](const Point& p) { return directions[k][0] * p[0] + directions[k][1] * p[1]; };
      if (way(points[i]) > way(points[farthest[k]])) farthest[k] = i;
    }
  std::vector<std::int32_t> found;
  for (const std::int32_t i : farthest)
    if (std::ranges::find(found, i) == found.end()) found.push_back(i);
  return found;
}

/// List the points that may lie on the hull: all but those inside of the polygon of the farthest ones, if it is convex.
/// Source: Akl and Toussaint 1978
std::vector<std::int32_t> candidates(std::span<const Point> points, ExactSigns& signs) {
  const std::vector<std::int32_t> far = farthest_points(points);
  const std::size_t n = far.size();
  const auto at = [&](std::size_t k) -> const Point& { return points[far[k % n]]; };
  bool is_convex = n >= 3;
  for (std::size_t k = 0; k < n && is_convex; ++k) is_convex = signs.orientation(at(k), at(k + 1), at(k + 2)) > 0;
  std::vector<std::int32_t> found;
  for (std::int32_t i = 0; i < std::ssize(points); ++i) {
    bool is_inside = is_convex;
    for (std::size_t k = 0; k < n && is_inside; ++k) is_inside = signs.orientation(at(k), at(k + 1), points[i]) > 0;
    if (!is_inside) found.push_back(i);
  }
  return found;
}

}  // namespace

std::vector<PlanarGraph::Edge> hull_of(std::span<const Point> points, ExactSigns& signs) {
  std::vector<std::int32_t> order = candidates(points, signs);
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
