#include "barrio/delaunay/shapes.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"

namespace barrio::delaunay {

void add_circle(PlanarGraph& graph, const Point& centre, double radius, int n, std::int32_t marker) {
  const auto first = static_cast<std::int32_t>(graph.points.size());
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    graph.points.push_back({centre[0] + radius * std::cos(angle), centre[1] + radius * std::sin(angle)});
    graph.segments.push_back({{first + i, first + (i + 1) % n}, marker});
  }
}

PlanarGraph pipe_section(int n_outside, int n_of_hole) {
  constexpr int n_holes = 7;
  PlanarGraph graph;
  add_circle(graph, {0, 0}, 1, n_outside, 1);
  for (int i = 0; i < n_holes; ++i) {
    const double angle = 2 * std::numbers::pi * i / n_holes;
    const Point centre{0.65 * std::cos(angle), 0.65 * std::sin(angle)};
    add_circle(graph, centre, 0.18, n_of_hole, 2 + i);
    graph.holes.push_back(centre);
  }
  return graph;
}

PlanarGraph unit_square(int n) {
  PlanarGraph graph;
  const auto along = [n](double i) { return i / n; };
  for (int i = 0; i < n; ++i) graph.points.push_back({along(i), 0});
  for (int i = 0; i < n; ++i) graph.points.push_back({1, along(i)});
  for (int i = 0; i < n; ++i) graph.points.push_back({1 - along(i), 1});
  for (int i = 0; i < n; ++i) graph.points.push_back({0, 1 - along(i)});
  for (int i = 0; i < 4 * n; ++i) graph.segments.push_back({{i, (i + 1) % (4 * n)}, 1 + i / n});
  return graph;
}

PlanarGraph polygon(std::vector<Point> corners) {
  PlanarGraph graph;
  const auto n = static_cast<std::int32_t>(corners.size());
  graph.points = std::move(corners);
  for (std::int32_t i = 0; i < n; ++i) graph.segments.push_back({{i, i + 1 < n ? i + 1 : 0}, 1});
  return graph;
}

PlanarGraph saw(int n_teeth, double width, double height, double gap) {
  std::vector<Point> corners;
  double x = 0;
  for (int i = 0; i < n_teeth; ++i) {
    corners.push_back({x, 0});
    corners.push_back({x + 0.5 * width, height});
    corners.push_back({x + width, 0});
    x += width * (1 + gap);
    if (gap == 0) corners.pop_back();
  }
  if (gap == 0) corners.push_back({x, 0});
  corners.push_back({corners.back()[0], -0.2 * height});
  corners.push_back({0, -0.2 * height});
  return polygon(std::move(corners));
}

PlanarGraph random_saw(std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<Point> corners;
  double x = 0;
  for (auto n = random() % 37 + 3; n-- > 0;) {
    corners.push_back({x, uniform(0, 1)});
    x += std::pow(10, uniform(-3, -0.5));
    corners.push_back({x, uniform(2, 10)});
    x += std::pow(10, uniform(-3, -0.5));
  }
  corners.push_back({x, 0});
  corners.push_back({x, -3});
  corners.push_back({0, -3});
  return polygon(std::move(corners));
}

PlanarGraph fractal_island(std::int64_t n_points, std::uint64_t seed) {
  // An edge becomes four: its outer thirds, and between them a peak on a random side. Around each edge lies a rhombus
  // with angles of 40 degrees at the edge's ends. If the peak rises by at most 45 degrees, the rhombi of the four edges
  // lie in it and meet only at common ends. So the curve never crosses itself.
  constexpr int n_corners = 16;
  constexpr double min_height = 0.05;
  constexpr double max_height = 1.0 / 6;
  std::vector<Point> ring;
  for (int i = 0; i < n_corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / n_corners;
    ring.push_back({std::cos(angle), std::sin(angle)});
  }
  std::uint64_t drawn = 0;
  while (std::ssize(ring) < n_points) {
    std::vector<Point> finer;
    finer.reserve(4 * ring.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Point& a = ring[i];
      const Point& b = ring[(i + 1) % ring.size()];
      const std::uint64_t chance = mix64(seed ^ mix64(drawn++));
      const double part = std::ldexp(chance >> 12U, -52);
      const double height = (min_height + part * (max_height - min_height)) * ((chance & 1U) != 0 ? 1 : -1);
      const auto at = [&](double along, double aside) {
        return Point{a[0] + along * (b[0] - a[0]) - aside * (b[1] - a[1]),
                     a[1] + along * (b[1] - a[1]) + aside * (b[0] - a[0])};
      };
      finer.insert(finer.end(), {a, at(1.0 / 3, 0), at(0.5, height), at(2.0 / 3, 0)});
    }
    ring = std::move(finer);
  }
  PlanarGraph graph;
  graph.points = std::move(ring);
  const auto n = static_cast<std::int32_t>(graph.points.size());
  for (std::int32_t i = 0; i < n; ++i) graph.segments.push_back({{i, (i + 1) % n}, 1});
  return graph;
}

}  // namespace barrio::delaunay
