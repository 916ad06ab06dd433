#include "barrio/delaunay/snapping/segment_tree.hpp"

#include <algorithm>
#include <numeric>

namespace barrio::delaunay::detail {

Box box_of(const Point& a, const Point& b) noexcept {
  return {{std::min(a[0], b[0]), std::min(a[1], b[1])}, {std::max(a[0], b[0]), std::max(a[1], b[1])}};
}

SegmentTree::SegmentTree(std::span<const Box> boxes) : rows_(boxes.size()) {
  std::iota(rows_.begin(), rows_.end(), 0);
  if (!boxes.empty()) build(boxes, 0, static_cast<std::int32_t>(boxes.size()));
  for (const std::int32_t row : rows_) sorted_.push_back(boxes[row]);
}

std::int32_t SegmentTree::build(std::span<const Box> boxes, std::int32_t first, std::int32_t end) {
  constexpr std::int32_t max_rows = 8;
  Node node{.box = boxes[rows_[first]], .first = first};
  Box middles{.low = boxes[rows_[first]].low, .high = boxes[rows_[first]].low};
  for (std::int32_t i = first; i < end; ++i) {
    const Box& box = boxes[rows_[i]];
    for (std::size_t k = 0; k < 2; ++k) {
      node.box.low[k] = std::min(node.box.low[k], box.low[k]);
      node.box.high[k] = std::max(node.box.high[k], box.high[k]);
      const double middle = 0.5 * (box.low[k] + box.high[k]);
      middles.low[k] = i == first ? middle : std::min(middles.low[k], middle);
      middles.high[k] = i == first ? middle : std::max(middles.high[k], middle);
    }
  }
  const auto row = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back(node);
  if (end - first <= max_rows) {
    nodes_[row].count = end - first;
    return row;
  }
  const std::size_t axis = middles.high[0] - middles.low[0] >= middles.high[1] - middles.low[1] ? 0 : 1;
  const std::int32_t half = first + (end - first) / 2;
  std::nth_element(rows_.begin() + first, rows_.begin() + half, rows_.begin() + end,
                   [&](std::int32_t i, std::int32_t k) {
                     return boxes[i].low[axis] + boxes[i].high[axis] < boxes[k].low[axis] + boxes[k].high[axis];
                   });
  build(boxes, first, half);
  const std::int32_t second = build(boxes, half, end);
  nodes_[row].second = second;
  return row;
}

}  // namespace barrio::delaunay::detail
