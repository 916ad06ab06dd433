#include "barrio/delaunay/size/box_tree.hpp"

#include <numeric>
#include <tuple>

namespace barrio::delaunay::detail {

double squared_distance_to(const Rectangle& box, const Point& p) noexcept {
  const double x = std::max({box.low[0] - p[0], p[0] - box.high[0], 0.0});
  const double y = std::max({box.low[1] - p[1], p[1] - box.high[1], 0.0});
  return x * x + y * y;
}

BoxTree::BoxTree(std::span<const Rectangle> boxes, std::span<const double> values) : items_(boxes.size()) {
  std::iota(items_.begin(), items_.end(), 0U);
  if (!items_.empty()) build(boxes, values, 0, static_cast<std::uint32_t>(items_.size()));
}

std::uint32_t BoxTree::build(std::span<const Rectangle> boxes, std::span<const double> values, std::uint32_t first,
                             std::uint32_t end) {
  const auto at = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node{.first = first, .end = end};
  for (std::uint32_t i = first; i < end; ++i) {
    node.box.add(boxes[items_[i]].low);
    node.box.add(boxes[items_[i]].high);
    node.min_value = std::min(node.min_value, values[items_[i]]);
  }
  constexpr std::uint32_t max_items = 4;
  if (end - first > max_items) {
    const std::size_t axis = node.box.high[0] - node.box.low[0] >= node.box.high[1] - node.box.low[1] ? 0 : 1;
    const auto key = [&](std::uint32_t i) { return std::pair(boxes[i].low[axis] + boxes[i].high[axis], i); };
    const std::uint32_t middle = first + (end - first) / 2;
    std::ranges::nth_element(items_.begin() + first, items_.begin() + middle, items_.begin() + end, {}, key);
    node.left = build(boxes, values, first, middle);
    node.right = build(boxes, values, middle, end);
  }
  nodes_[at] = node;
  return at;
}

}  // namespace barrio::delaunay::detail
