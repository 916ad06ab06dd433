#include "barrio/delaunay/parallel/bisection.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace barrio::delaunay::detail {
namespace {

std::int64_t work_of(std::span<const WeightedPoint> points) noexcept {
  return std::accumulate(points.begin(), points.end(), std::int64_t{0},
                         [](std::int64_t sum, const WeightedPoint& point) { return sum + point.work; });
}

/// Find the coordinate below which a given work lies, about: a selection by halves, each of which is summed once.
double find_cut(std::span<WeightedPoint> points, std::size_t axis, std::int64_t wanted) {
  const auto along = [axis](const WeightedPoint& point) { return point.at[axis]; };
  std::size_t first = 0;
  std::size_t last = points.size();
  while (last - first > 1) {
    const std::size_t middle = first + (last - first) / 2;
    std::ranges::nth_element(points.begin() + first, points.begin() + middle, points.begin() + last, {}, along);
    const std::int64_t below = work_of(points.subspan(first, middle - first));
    if (below >= wanted) {
      last = middle;
    } else {
      wanted -= below;
      first = middle;
    }
  }
  return along(points[first]);
}

}  // namespace

Bisection::Bisection(std::span<const WeightedPoint> points, std::int32_t n_parts) {
  std::vector<WeightedPoint> all(points.begin(), points.end());
  cut(all, 0, n_parts);
}

std::int32_t Bisection::cut(std::span<WeightedPoint> points, std::int32_t first_part, std::int32_t n_parts) {
  const auto node = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({.lower = first_part});
  if (n_parts == 1) {
    work_.push_back(work_of(points));
    return node;
  }
  Rectangle box;
  for (const WeightedPoint& point : points) box.add(point.at);
  const std::size_t axis = points.empty() || box.high[0] - box.low[0] >= box.high[1] - box.low[1] ? 0 : 1;
  const std::int32_t n_lower = n_parts / 2;
  const double at = points.empty() ? 0.0 : find_cut(points, axis, work_of(points) / n_parts * n_lower);
  const auto upper = std::ranges::partition(points, [&](const WeightedPoint& point) { return point.at[axis] < at; });
  const auto n_below = static_cast<std::size_t>(upper.begin() - points.begin());
  const std::int32_t lower_node = cut(points.first(n_below), first_part, n_lower);
  const std::int32_t upper_node = cut(points.subspan(n_below), first_part + n_lower, n_parts - n_lower);
  nodes_[node] = {.at = at, .axis = static_cast<std::int32_t>(axis), .lower = lower_node, .upper = upper_node};
  return node;
}

std::int32_t Bisection::part_of(const Point& p) const noexcept {
  const Node* node = nodes_.data();
  while (node->axis >= 0) node = &nodes_[p[node->axis] < node->at ? node->lower : node->upper];
  return node->lower;
}

bool Bisection::cuts(const SizeField::Corners& corners) const noexcept {
  const Node* node = nodes_.data();
  while (node->axis >= 0) {
    const auto axis = static_cast<std::size_t>(node->axis);
    const auto [low, high] = std::ranges::minmax({corners[0][axis], corners[1][axis], corners[2][axis]});
    if (low < node->at && node->at <= high) return true;
    node = &nodes_[high < node->at ? node->lower : node->upper];
  }
  return false;
}

}  // namespace barrio::delaunay::detail
