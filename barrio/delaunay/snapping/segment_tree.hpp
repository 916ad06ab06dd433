#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// A box of the plane.
struct Box {
  Point low{};
  Point high{};
};

/// Return the box around two points.
[[nodiscard]] Box box_of(const Point& a, const Point& b) noexcept;

/// Tree over boxes, to find those near a segment. The boxes are split at the median, so their distribution does not
/// matter.
class SegmentTree {
 public:
  /// Build the tree. Cost: O(n log n)
  explicit SegmentTree(std::span<const Box> boxes);

  /// Call `visit(row)` for each box within a distance of a segment, and perhaps for some that are farther.
  template <class Visit>
  void near(const Point& a, const Point& b, double distance, Visit&& visit) const;

 private:
  struct Node {
    Box box;
    std::int32_t first = 0;   // row in `rows_`
    std::int32_t count = 0;   // of rows; 0 for a node with two children
    std::int32_t second = 0;  // the first child follows its parent
  };
  std::int32_t build(std::span<const Box> boxes, std::int32_t first, std::int32_t end);
  static bool is_near(const Box& box, const Point& a, const Point& b, double distance) noexcept;

  std::vector<Node> nodes_;
  std::vector<std::int32_t> rows_;
  std::vector<Box> sorted_;  // by `rows_`
};

inline bool SegmentTree::is_near(const Box& box, const Point& a, const Point& b, double distance) noexcept {
  for (std::size_t k = 0; k < 2; ++k)
    if (std::fmin(a[k], b[k]) - distance > box.high[k] || std::fmax(a[k], b[k]) + distance < box.low[k]) return false;
  const double dx = b[0] - a[0];
  const double dy = b[1] - a[1];
  const double x = 0.5 * (box.low[0] + box.high[0]) - a[0];
  const double y = 0.5 * (box.low[1] + box.high[1]) - a[1];
  const double reach = std::abs(dx) * (0.5 * (box.high[1] - box.low[1]) + distance) +
                       std::abs(dy) * (0.5 * (box.high[0] - box.low[0]) + distance);
  constexpr double rounding = 1e-15;
  const double slack = rounding * (std::abs(dx) + std::abs(dy)) *
                       (std::abs(x) + std::abs(y) + std::abs(a[0]) + std::abs(a[1]) + std::abs(b[0]) + std::abs(b[1]));
  return std::abs(dx * y - dy * x) <= reach + slack;
}

template <class Visit>
void SegmentTree::near(const Point& a, const Point& b, double distance, Visit&& visit) const {
  if (nodes_.empty()) return;
  std::array<std::int32_t, 64> stack;  // the depth is the logarithm of the number of boxes
  std::size_t n = 0;
  stack[n++] = 0;
  while (n > 0) {
    const std::int32_t at = stack[--n];
    const Node& node = nodes_[at];
    if (!is_near(node.box, a, b, distance)) continue;
    for (std::int32_t i = node.first; i < node.first + node.count; ++i)
      if (is_near(sorted_[i], a, b, distance)) visit(rows_[i]);
    if (node.count > 0) continue;
    stack[n++] = node.second;
    stack[n++] = at + 1;
  }
}

}  // namespace barrio::delaunay::detail
