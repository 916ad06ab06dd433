#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "barrio/delaunay/size_field.hpp"

namespace barrio::delaunay::detail {

/// Return the squared distance of a position from a rectangle.
[[nodiscard]] double squared_distance_to(const Rectangle& box, const Point& p) noexcept;

/// Binary tree of the boxes of items, halved at the median of the longer side. Each node knows the lowest value of its
/// items. It depends only on the boxes and their order.
class BoxTree {
 public:
  BoxTree() = default;
  BoxTree(std::span<const Rectangle> boxes, std::span<const double> values);

  /// Find the item nearest to a position. @param distance  squared, of an item
  /// @return the item and its squared distance; of several at the same distance, the one with the lowest number
  template <class Distance>
  [[nodiscard]] std::pair<std::uint32_t, double> nearest(const Point& p, Distance&& distance) const {
    std::pair<std::uint32_t, double> best{0, std::numeric_limits<double>::infinity()};
    if (!nodes_.empty()) descend(0, p, distance, best);
    return best;
  }

  /// Tell whether a test holds for an item that has a value below a limit and may meet a box.
  template <class Test>
  [[nodiscard]] bool any(const Rectangle& box, double limit, Test&& test) const {
    std::vector<std::uint32_t> open;
    if (!nodes_.empty()) open.push_back(0);
    while (!open.empty()) {
      const Node& node = nodes_[open.back()];
      open.pop_back();
      if (!(node.min_value < limit) || !meets(node.box, box)) continue;
      if (node.right == 0) {
        for (std::uint32_t i = node.first; i < node.end; ++i)
          if (test(items_[i])) return true;
      } else {
        open.push_back(node.right);
        open.push_back(node.left);
      }
    }
    return false;
  }

 private:
  struct Node {
    Rectangle box = {};
    double min_value = std::numeric_limits<double>::infinity();
    std::uint32_t first = 0;  // items of a leaf
    std::uint32_t end = 0;
    std::uint32_t left = 0;
    std::uint32_t right = 0;  // 0: this is a leaf
  };
  static bool meets(const Rectangle& a, const Rectangle& b) noexcept {
    return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] && b.low[1] <= a.high[1];
  }
  std::uint32_t build(std::span<const Rectangle> boxes, std::span<const double> values, std::uint32_t first,
                      std::uint32_t end);
  template <class Distance>
  void descend(std::uint32_t at, const Point& p, Distance& distance, std::pair<std::uint32_t, double>& best) const {
    const Node& node = nodes_[at];
    if (node.right == 0) {
      for (std::uint32_t i = node.first; i < node.end; ++i) {
        const double here = distance(items_[i]);
        if (here < best.second || (here == best.second && items_[i] < best.first)) best = {items_[i], here};
      }
      return;
    }
    std::uint32_t nearer = node.left;
    std::uint32_t farther = node.right;
    double to_nearer = squared_distance_to(nodes_[nearer].box, p);
    double to_farther = squared_distance_to(nodes_[farther].box, p);
    if (to_farther < to_nearer) {
      std::swap(nearer, farther);
      std::swap(to_nearer, to_farther);
    }
    if (to_nearer <= best.second) descend(nearer, p, distance, best);
    if (to_farther <= best.second) descend(farther, p, distance, best);
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> items_;
};

}  // namespace barrio::delaunay::detail
