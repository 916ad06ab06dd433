#include "barrio/delaunay/size/sample_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Return twice the area of a triangle.
double turn(const Point& a, const Point& b, const Point& p) noexcept {
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

bool contains(const SizeField::Corners& t, const Point& p) noexcept {
  return turn(t[0], t[1], p) >= 0 && turn(t[1], t[2], p) >= 0 && turn(t[2], t[0], p) >= 0;
}

}  // namespace

/// A triangle and a limit.
struct SampleGrid::Query {
  SizeField::Corners corners;
  Rectangle box;
  double limit;

  /// Tell whether a rectangle may have a part in the triangle: no side of either separates them.
  [[nodiscard]] bool meets(const Rectangle& cell) const noexcept {
    for (std::size_t k = 0; k < 2; ++k)
      if (cell.low[k] > box.high[k] || box.low[k] > cell.high[k]) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      const Point& a = corners[i];
      const Point& b = corners[i == 2 ? 0 : i + 1];
      // the corner of the rectangle that lies farthest to the left of the edge
      const Point p{b[1] > a[1] ? cell.low[0] : cell.high[0], b[0] > a[0] ? cell.high[1] : cell.low[1]};
      if (turn(a, b, p) < 0) return false;
    }
    return true;
  }
};

SampleGrid::SampleGrid(std::function<double(const Point&)> function, const Rectangle& domain, double resolution)
    : function_(std::move(function)), domain_(domain) {
  constexpr double usual_samples = 1 << 18;
  constexpr double max_samples = 1 << 24;
  const Point size{domain.high[0] - domain.low[0], domain.high[1] - domain.low[1]};
  side_ = resolution > 0 ? resolution : std::sqrt(size[0]) * std::sqrt(size[1]) / std::sqrt(usual_samples);
  const double n_samples = std::ceil(size[0] / side_) * std::ceil(size[1] / side_);
  if (!(n_samples <= max_samples))
    refuse(ErrorCode::usage, fmt::format("resolution {:g}", resolution),
           fmt::format("needs {:.3g} samples of the areas, more than 2^24", n_samples),
           fmt::format("give at least {:.2g}, or sizes by distance, which need no samples",
                       1.1 * std::sqrt(size[0]) * std::sqrt(size[1]) / std::sqrt(max_samples)));
  Level level;
  for (std::size_t k = 0; k < 2; ++k)
    level.n[k] = std::max(static_cast<std::int64_t>(std::ceil(size[k] / side_)), std::int64_t{1});
  for (;; level.n = {(level.n[0] + 1) / 2, (level.n[1] + 1) / 2}) {
    level.values.assign(level.n[0] * level.n[1], 0.0);
    levels_.push_back(level);
    if (level.values.size() == 1) break;
  }
}

bool SampleGrid::is_below(const SizeField::Corners& corners, double limit) {
  const Rectangle box = bounding_rectangle(corners);
  // start where a few cells cover the triangle
  const double width = std::max(box.high[0] - box.low[0], box.high[1] - box.low[1]) / side_;
  constexpr double narrow = 1.5;  // centroids of such triangles lie as dense as samples
  if (width < narrow) return false;
  std::size_t level = 0;
  while (level + 1 < levels_.size() && std::ldexp(1.0, static_cast<int>(level)) < width) ++level;
  const double cell = std::ldexp(side_, static_cast<int>(level));
  const auto index = [&](std::size_t axis, double x) {
    const double place = std::floor((x - domain_.low[axis]) / cell);
    return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(levels_[level].n[axis] - 1)));
  };
  const Query query{corners, box, limit};
  for (std::int64_t j = index(1, box.low[1]); j <= index(1, box.high[1]); ++j)
    for (std::int64_t i = index(0, box.low[0]); i <= index(0, box.high[0]); ++i)
      if (search(query, level, i, j)) return true;
  return false;
}

bool SampleGrid::search(const Query& query, std::size_t level, std::int64_t i, std::int64_t j) {
  double& lowest = levels_[level].values[j * levels_[level].n[0] + i];
  if (lowest >= query.limit || !query.meets(cell(level, i, j))) return false;
  if (level == 0) {
    // outside of all triangles the function may have no value
    const Point place = place_in(i, j);
    if (!contains(query.corners, place)) return false;
    if (lowest == 0.0) lowest = function_(place);
    return lowest < query.limit;
  }
  const Level& finer = levels_[level - 1];
  double of_children = std::numeric_limits<double>::infinity();
  bool is_known = true;
  for (std::int64_t y = 2 * j; y < std::min(2 * j + 2, finer.n[1]); ++y)
    for (std::int64_t x = 2 * i; x < std::min(2 * i + 2, finer.n[0]); ++x) {
      if (search(query, level - 1, x, y)) return true;
      const double value = finer.values[y * finer.n[0] + x];
      of_children = std::min(of_children, value);
      is_known = is_known && value > 0;
    }
  if (is_known) lowest = of_children;
  return false;
}

Rectangle SampleGrid::cell(std::size_t level, std::int64_t i, std::int64_t j) const noexcept {
  const double side = std::ldexp(side_, static_cast<int>(level));
  const Point low{domain_.low[0] + static_cast<double>(i) * side, domain_.low[1] + static_cast<double>(j) * side};
  return {low, {low[0] + side, low[1] + side}};
}

/// Return the position of a sample, so that those of a row or column do not lie on a line.
Point SampleGrid::place_in(std::int64_t i, std::int64_t j) const noexcept {
  const std::uint64_t chance = mix64(static_cast<std::uint64_t>(j * levels_[0].n[0] + i));
  constexpr double unit = 1.0 / 4294967296.0;
  const double x = unit * static_cast<double>(chance & 0xffffffffU);
  const double y = unit * static_cast<double>(chance >> 32U);
  return {domain_.low[0] + side_ * (static_cast<double>(i) + x), domain_.low[1] + side_ * (static_cast<double>(j) + y)};
}

}  // namespace barrio::delaunay::detail
