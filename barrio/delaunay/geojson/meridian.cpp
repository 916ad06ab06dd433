#include "barrio/delaunay/geojson/meridian.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace barrio::delaunay::detail {
namespace {

constexpr double whole_circle = 360.0;

/// Tell whether an edge crosses the last meridian. @return 1 to the east, -1 to the west, 0 if it does not
int crossing_direction(const Point& a, const Point& b, double last) noexcept {
  const double step = b[0] - a[0];
  if (std::abs(step) <= whole_circle / 2) return 0;
  const bool is_along = std::min(a[0], b[0]) == last - whole_circle && std::max(a[0], b[0]) == last;
  return is_along ? 0 : step < 0 ? 1 : -1;
}

}  // namespace

double last_meridian(const std::vector<Ring>& rings) noexcept {
  const bool is_positive = std::ranges::any_of(rings, [](const Ring& ring) {
    return std::ranges::any_of(ring.positions, [](const Point& p) { return p[0] > whole_circle / 2; });
  });
  return is_positive ? whole_circle : whole_circle / 2;
}

std::int64_t cut_at_meridian(std::vector<Ring>& rings, double last) {
  std::int64_t n_cut = 0;
  for (Ring& ring : rings) {
    const std::vector<Point> positions = ring.positions;
    const std::vector<std::int32_t> numbers = ring.numbers;
    double sum = 0.0;
    for (const Point& p : positions) sum += p[1];
    const double pole = sum < 0 ? -90.0 : 90.0;
    ring.positions.clear();
    ring.numbers.clear();
    const auto add = [&](const Point& p, std::int32_t number) {
      if (!ring.positions.empty() && ring.positions.back() == p) return;
      ring.positions.push_back(p);
      ring.numbers.push_back(number);
    };
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const Point& a = positions[i];
      const Point& b = positions[i + 1 < positions.size() ? i + 1 : 0];
      add(a, numbers[i]);
      const int direction = crossing_direction(a, b, last);
      if (direction == 0) continue;
      const double here = direction > 0 ? last : last - whole_circle;
      const double there = direction > 0 ? last - whole_circle : last;
      const double way = b[0] + direction * whole_circle - a[0];
      const double latitude = way == 0.0 ? a[1] : std::lerp(a[1], b[1], (here - a[0]) / way);
      for (const Point& p : {Point{here, latitude}, Point{here, pole}, Point{there, pole}, Point{there, latitude}})
        add(p, 0);
    }
    if (ring.positions.size() > positions.size()) ++n_cut;
    while (ring.positions.size() > 1 && ring.positions.back() == ring.positions.front()) {
      ring.positions.pop_back();
      ring.numbers.pop_back();
    }
  }
  return n_cut;
}

}  // namespace barrio::delaunay::detail
