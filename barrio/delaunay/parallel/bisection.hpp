#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/size_field.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// A position with the work that is expected there.
struct WeightedPoint {
  Point at{};
  std::int64_t work = 0;
};

/// Recursive bisection of the plane by coordinates, into parts of about equal work. Source: Berger and Bokhari 1987
class Bisection {
 public:
  /// Cut. @param n_parts  at least 1; any number, not only powers of two
  /// Cost: O(n) for each level, and memory for a copy of the points
  Bisection(std::span<const WeightedPoint> points, std::int32_t n_parts);

  /// Return the part of a position. Parts that are near in number are mostly near in place.
  [[nodiscard]] std::int32_t part_of(const Point& p) const noexcept;
  /// Return the work of each part.
  [[nodiscard]] const std::vector<std::int64_t>& work() const noexcept { return work_; }
  /// Tell whether a cut passes between the corners of a triangle.
  [[nodiscard]] bool cuts(const SizeField::Corners& corners) const noexcept;

 private:
  struct Node {
    double at = 0.0;         // positions below it belong to the lower half
    std::int32_t axis = -1;  // -1: a part
    std::int32_t lower = 0;  // node, or the number of the part
    std::int32_t upper = 0;
  };
  std::int32_t cut(std::span<WeightedPoint> points, std::int32_t first_part, std::int32_t n_parts);

  std::vector<Node> nodes_;
  std::vector<std::int64_t> work_;
};

}  // namespace barrio::delaunay::detail
