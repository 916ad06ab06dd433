#include "barrio/delaunay/snapping/crossings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "barrio/base/sort_unique.hpp"
#include "barrio/delaunay/snapping/segment_tree.hpp"
#include "barrio/geometry/predicates.hpp"

namespace barrio::delaunay::detail {
namespace {

using Places = std::array<Point, 2>;

/// Boxes around parts of segments, so that long ones do not have large boxes.
struct Parts {
  std::vector<Box> boxes;
  std::vector<std::int32_t> segments;  // of each box
};

Parts cut_into_parts(std::span<const Places> segments) {
  Parts parts;
  double sum = 0.0;
  for (const auto& [a, b] : segments) sum += std::sqrt(squared_gap(a, b));
  const double usual = sum / static_cast<double>(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& [a, b] = segments[i];
    const double n = std::max(1.0, std::ceil(std::sqrt(squared_gap(a, b)) / usual));
    for (double k = 0; k < n; ++k) {
      const auto at = [&](double part) { return Point{a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])}; };
      parts.boxes.push_back(box_of(k == 0 ? a : at(k / n), k + 1 == n ? b : at((k + 1) / n)));
      parts.segments.push_back(static_cast<std::int32_t>(i));
    }
  }
  return parts;
}

}  // namespace

double squared_gap(const Point& a, const Point& b) noexcept {
  const double dx = b[0] - a[0];
  const double dy = b[1] - a[1];
  return dx * dx + dy * dy;
}

double squared_gap(const Point& p, const Point& a, const Point& b) noexcept {
  const double dx = b[0] - a[0];
  const double dy = b[1] - a[1];
  const double px = p[0] - a[0];
  const double py = p[1] - a[1];
  const double along = px * dx + py * dy;
  const double length = dx * dx + dy * dy;
  if (along <= 0.0) return px * px + py * py;
  if (along >= length) return squared_gap(p, b);
  const double across = px * dy - py * dx;
  return across * (across / length);
}

Point crossing_of(const Point& a, const Point& b, const Point& c, const Point& d) noexcept {
  const double over = (c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0]);
  const double under = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0]);
  const double part = under == 0.0 ? 0.5 : std::clamp(over / under, 0.0, 1.0);
  return {a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])};
}

bool do_cross(const Point& a, const Point& b, const Point& c, const Point& d) {
  return geometry::orient2d(a, b, c) * geometry::orient2d(a, b, d) < 0 &&
         geometry::orient2d(c, d, a) * geometry::orient2d(c, d, b) < 0;
}

std::vector<std::array<std::int32_t, 2>> find_crossings(std::span<const Places> segments,
                                                        std::span<const char> is_sought) {
  std::vector<std::array<std::int32_t, 2>> found;
  if (segments.empty()) return found;
  const Parts parts = cut_into_parts(segments);
  const SegmentTree tree(parts.boxes);
  std::vector<std::int32_t> others;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (is_sought[i] == 0) continue;
    const auto& [a, b] = segments[i];
    others.clear();
    // parts end at rounded places, beside their segment
    const double rounding = 1e-15 * (std::abs(a[0]) + std::abs(a[1]) + std::abs(b[0]) + std::abs(b[1]));
    tree.near(a, b, rounding, [&](std::int32_t part) { others.push_back(parts.segments[part]); });
    sort_unique(others);
    const auto row = static_cast<std::int32_t>(i);
    for (const std::int32_t other : others) {
      if (other == row || (other < row && is_sought[other] != 0)) continue;
      const auto& [c, d] = segments[other];
      if (do_cross(a, b, c, d)) found.push_back({std::min(row, other), std::max(row, other)});
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace barrio::delaunay::detail
