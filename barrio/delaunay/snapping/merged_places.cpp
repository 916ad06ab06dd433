#include "barrio/delaunay/snapping/merged_places.hpp"

#include <algorithm>
#include <cmath>

#include "barrio/base/hash.hpp"

namespace barrio::delaunay::detail {

std::uint64_t SparsePlaces::key(std::int64_t x, std::int64_t y) noexcept {
  return mix64(static_cast<std::uint64_t>(x)) + static_cast<std::uint64_t>(y);
}

std::int64_t SparsePlaces::square(double x) const noexcept {
  constexpr double width = 8;  // so that most positions need one square alone
  return static_cast<std::int64_t>(std::floor(x / (width * distance_)));
}

std::int32_t SparsePlaces::nearest(const Point& p) const {
  std::int32_t found = -1;
  double best = distance_ * distance_;
  constexpr double more = 1.001;  // than rounding takes away
  const double reach = more * distance_;
  for (std::int64_t i = square(p[0] - reach); i <= square(p[0] + reach); ++i) {
    for (std::int64_t k = square(p[1] - reach); k <= square(p[1] + reach); ++k) {
      const auto at = first_.find(key(i, k));
      if (at == first_.end()) continue;
      for (std::int32_t row = at->second; row >= 0; row = next_[row]) {
        const double dx = places_[row][0] - p[0];
        const double dy = places_[row][1] - p[1];
        const double distance = dx * dx + dy * dy;
        if (distance > best || (distance == best && found >= 0 && row > found)) continue;
        best = distance;
        found = row;
      }
    }
  }
  return found;
}

void SparsePlaces::add(const Point& p) {
  const auto row = static_cast<std::int32_t>(places_.size());
  const auto [at, is_first] = first_.try_emplace(key(square(p[0]), square(p[1])), row);
  next_.push_back(is_first ? -1 : at->second);
  at->second = row;
  places_.push_back(p);
}

std::vector<Point> merge_points(std::span<const Point> points, double distance, std::vector<std::int32_t>& site_of) {
  std::vector<Point> sorted(points.begin(), points.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  SparsePlaces sites(distance);
  for (const Point& p : sorted)
    if (sites.nearest(p) < 0) sites.add(p);
  site_of.clear();
  for (const Point& p : points) site_of.push_back(sites.nearest(p));
  return sites.places();
}

}  // namespace barrio::delaunay::detail
