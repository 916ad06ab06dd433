#include "barrio/delaunay/geojson/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "barrio/delaunay/geojson/meridian.hpp"
#include "barrio/delaunay/snapping/crossings.hpp"
#include "barrio/delaunay/snapping/segment_tree.hpp"

namespace barrio::delaunay::detail {
namespace {

Point middle_of(const Point& a, const Point& b) noexcept { return {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}; }

/// Return the width of a set of points.
double width_of_points(std::span<const Point> points) {
  Box box{points.front(), points.front()};
  for (const Point& p : points)
    for (std::size_t k = 0; k < 2; ++k) {
      box.low[k] = std::min(box.low[k], p[k]);
      box.high[k] = std::max(box.high[k], p[k]);
    }
  return std::max(box.high[0] - box.low[0], box.high[1] - box.low[1]);
}

/// Compute the distance of two near positions on the sphere, in degrees of a great circle.
double degrees_between(const Point& a, const Point& b) noexcept {
  const double shrinking = std::cos(0.5 * (a[1] + b[1]) * std::numbers::pi / 180);
  return std::hypot((b[0] - a[0]) * shrinking, b[1] - a[1]);
}

/// Find the usual length of a degree in the plane: the median over segments.
double length_of_degree(const PlanarGraph& graph, std::span<const Point> images) {
  std::vector<double> lengths;
  for (const PlanarGraph::Edge& segment : graph.segments) {
    const auto [a, b] = segment.ends;
    const double degrees = degrees_between(graph.points[a], graph.points[b]);
    constexpr double at_pole = 1e-3;  // there, edges in degrees are no lengths
    if (degrees > at_pole * std::sqrt(squared_gap(graph.points[a], graph.points[b])))
      lengths.push_back(std::sqrt(squared_gap(images[a], images[b])) / degrees);
  }
  if (lengths.empty()) return 0.0;
  const auto half = lengths.begin() + std::ssize(lengths) / 2;
  std::ranges::nth_element(lengths, half);
  return *half;
}

/// Cut segments in the middle, in degrees, where another point lies between the image of the segment and the straight
/// line between the images of its ends.
/// @param[in,out] images  of the graph's points
void cut_bent_segments(PlanarGraph& graph, std::vector<Point>& images, const Project& project, double tolerance) {
  constexpr int max_levels = 20;
  constexpr double beyond = 1.5;  // a curve may be farther away elsewhere than in the middle
  std::vector<std::size_t> rows;
  for (std::size_t s = 0; s < graph.segments.size(); ++s) rows.push_back(s);
  for (int level = 0; level < max_levels && !rows.empty(); ++level) {
    std::vector<Point> middles;
    for (const std::size_t s : rows)
      middles.push_back(middle_of(graph.points[graph.segments[s].ends[0]], graph.points[graph.segments[s].ends[1]]));
    std::vector<Point> bent = middles;
    project(bent);
    std::vector<Box> boxes;
    for (const Point& p : images) boxes.push_back({p, p});
    const SegmentTree tree(boxes);
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [u, v] = graph.segments[rows[i]].ends;
      const Point a = images[u];
      const Point b = images[v];
      const double height = std::sqrt(squared_gap(bent[i], a, b));
      if (height <= tolerance / 4) continue;
      bool has_others = false;
      tree.near(a, b, beyond * height, [&](std::int32_t other) {
        const Point& p = images[other];
        // ends may be there twice, where both sides of the last meridian lie in one place
        const bool is_end = std::min(squared_gap(p, a), squared_gap(p, b)) <= tolerance * tolerance;
        has_others = has_others || (!is_end && squared_gap(p, a, b) <= beyond * beyond * height * height);
      });
      if (!has_others) continue;
      const auto point = static_cast<std::int32_t>(graph.points.size());
      graph.points.push_back(middles[i]);
      images.push_back(bent[i]);
      graph.segments.push_back({.ends = {point, v}, .marker = graph.segments[rows[i]].marker});
      graph.sides.push_back(graph.sides[rows[i]]);
      graph.segments[rows[i]].ends[1] = point;
      parts.push_back(rows[i]);
      parts.push_back(graph.segments.size() - 1);
    }
    rows = std::move(parts);
  }
}

}  // namespace

double double_area(std::span<const Point> ring) noexcept {
  const Point& o = ring.front();
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    const Point& a = ring[i];
    const Point& b = ring[i + 1];
    sum += (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  }
  return sum;
}

MapProperties try_projection(const Project& project, std::span<const Point> positions, double last) {
  std::vector<Point> places(positions.begin(), positions.end());
  std::vector<std::pair<std::size_t, std::size_t>> twins;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i][0] != last && positions[i][0] != last - whole_circle) continue;
    twins.emplace_back(i, places.size());
    places.push_back({positions[i][0] == last ? last - whole_circle : last, positions[i][1]});
  }
  // a small triangle beside the position next to the equator, towards the middle of the map
  const Point corner = *std::ranges::min_element(positions, {}, [](const Point& p) { return std::abs(p[1]); });
  const double step = 1e-3;
  const double x = corner[0] > last - whole_circle / 2 ? -step : step;
  const double y = corner[1] > 0 ? -step : step;
  const std::size_t first = places.size();
  for (const Point& p : {corner, Point{corner[0] + x, corner[1]}, Point{corner[0], corner[1] + y}}) places.push_back(p);
  const bool was_left = x * y > 0;
  project(places);
  MapProperties map;
  const bool is_left = double_area(std::span(places).subspan(first, 3)) > 0;
  map.mirrors = was_left != is_left;
  const double near = 1e-6 * width_of_points(std::span(places).first(positions.size()));
  map.joins = !twins.empty() && std::ranges::all_of(twins, [&](const auto& twin) {
    return squared_gap(places[twin.first], places[twin.second]) <= near * near;
  });
  return map;
}

void to_plane(PlanarGraph& graph, const Project& project, const MapProperties& map, SnapReport& report) {
  std::vector<Point> images = graph.points;
  project(images);
  double largest = 0.0;
  for (const Point& p : images) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
  const double tolerance = std::max(report.tolerance * length_of_degree(graph, images), 2 * min_tolerance(largest));
  cut_bent_segments(graph, images, project, tolerance);
  graph.points = std::move(images);
  if (map.mirrors)
    for (auto& [left, right] : graph.sides) std::swap(left, right);
  const SnapReport again = snap(graph, {.tolerance = tolerance, .drops_loose_points = true});
  report.vanished_regions.insert(report.vanished_regions.end(), again.vanished_regions.begin(),
                                 again.vanished_regions.end());
  std::ranges::sort(report.vanished_regions);
}

}  // namespace barrio::delaunay::detail
