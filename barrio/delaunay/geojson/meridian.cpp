#include "barrio/delaunay/geojson/meridian.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace barrio::delaunay::detail {
namespace {

bool is_at_pole(const Point& p) noexcept {
  constexpr double latitude = 89.99;  // where the map ends in some files
  return std::abs(p[1]) > latitude;
}

/// Tell whether an edge leads along a parallel from one end of the map to the other. @return 1 to the west, -1 to the
/// east, 0 if it does not
int whole_way(const Point& a, const Point& b, double last) noexcept {
  const bool is_whole = std::min(a[0], b[0]) == last - whole_circle && std::max(a[0], b[0]) == last;
  return !is_whole ? 0 : a[0] == last ? 1 : -1;
}

/// Tell whether an edge crosses the last meridian. @return 1 to the east, -1 to the west, 0 if it does not
/// @param leaves_whole  whether edges from one end of the map to the other do not
int crossing_direction(const Point& a, const Point& b, double last, bool leaves_whole) noexcept {
  const double step = b[0] - a[0];
  if (std::abs(step) <= whole_circle / 2) return 0;
  if (whole_way(a, b, last) != 0 && (leaves_whole || (is_at_pole(a) && is_at_pole(b)))) return 0;
  return step < 0 ? 1 : -1;
}

}  // namespace

void wrap_longitudes(std::vector<Ring>& rings) noexcept {
  for (Ring& ring : rings)
    for (Point& p : ring.positions)
      if (std::abs(p[0]) > whole_circle / 2) p[0] += p[0] > 0 ? -whole_circle : whole_circle;
}

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
    int n_back = 0;  // whole ways to the west less those to the east
    for (std::size_t i = 0; i < positions.size(); ++i) {
      sum += positions[i][1];
      n_back += whole_way(positions[i], positions[i + 1 < positions.size() ? i + 1 : 0], last);
    }
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
      const int direction = crossing_direction(a, b, last, n_back == 0);
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

void end_at_poles(std::vector<Ring>& rings, double last) noexcept {
  for (Ring& ring : rings) {
    const auto reaches = [&](double longitude) {
      return std::ranges::any_of(ring.positions, [&](const Point& p) { return p[0] == longitude && is_at_pole(p); });
    };
    if (!reaches(last) || !reaches(last - whole_circle)) continue;
    for (Point& p : ring.positions)
      if (is_at_pole(p)) p[1] = std::copysign(90.0, p[1]);
  }
}

}  // namespace barrio::delaunay::detail
