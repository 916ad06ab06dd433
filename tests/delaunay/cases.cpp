#include "tests/delaunay/cases.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "barrio/delaunay/shapes.hpp"

namespace barrio::delaunay::test {
namespace {

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Tell whether two segments share more than a common end. Points in the middle of a segment are allowed.
bool cross(const PlanarGraph& graph, const PlanarGraph::Edge& s, const PlanarGraph::Edge& t) {
  const auto point = [&](std::int32_t i) { return graph.points[static_cast<std::size_t>(i)]; };
  const Point a = point(s.ends[0]);
  const Point b = point(s.ends[1]);
  const Point c = point(t.ends[0]);
  const Point d = point(t.ends[1]);
  const int of_c = geometry::orient2d(a, b, c);
  const int of_d = geometry::orient2d(a, b, d);
  const int of_a = geometry::orient2d(c, d, a);
  const int of_b = geometry::orient2d(c, d, b);
  return of_c * of_d < 0 && of_a * of_b < 0;
}

void add_segment_if_free(PlanarGraph& graph, std::int32_t a, std::int32_t b, std::int32_t marker) {
  if (a == b) return;
  const PlanarGraph::Edge edge{{a, b}, marker};
  if (std::ranges::none_of(graph.segments, [&](const PlanarGraph::Edge& other) { return cross(graph, edge, other); }))
    graph.segments.push_back(edge);
}

/// Add a point unless it is already there.
void add_point(PlanarGraph& graph, std::set<Point>& known, const Point& p) {
  if (known.insert(p).second) graph.points.push_back(p);
}

}  // namespace

PlanarGraph random_graph(std::mt19937_64& random, Hardness hardness, double min_gap) {
  PlanarGraph graph = unit_square(1);
  std::set<Point> known(graph.points.begin(), graph.points.end());
  const auto inner = [&] { return Point{uniform(random, 0.01, 0.99), uniform(random, 0.01, 0.99)}; };
  const int n = static_cast<int>(random() % 30) + 2;
  switch (hardness) {
    case Hardness::plain:
      for (int i = 0; i < n; ++i) add_point(graph, known, inner());
      break;
    case Hardness::lattice:
      for (int i = 0; i < n; ++i)
        add_point(graph, known, {static_cast<double>(random() % 7 + 1) / 8, static_cast<double>(random() % 7 + 1) / 8});
      break;
    case Hardness::collinear: {
      const auto y = static_cast<double>(random() % 62 + 1) / 64;  // so that the line is one without rounding
      for (int i = 0; i < n; ++i) add_point(graph, known, {uniform(random, 0.01, 0.99), y});
      for (int i = 0; i < n; ++i) add_point(graph, known, inner());
      break;
    }
    case Hardness::fans: {
      const Point centre = inner();
      add_point(graph, known, centre);
      const auto at = static_cast<std::int32_t>(graph.points.size()) - 1;
      const double narrow = std::pow(10.0, uniform(random, std::log10(min_gap), -0.5));
      for (int i = 0; i < n % 8 + 2; ++i) {
        const double angle = uniform(random, 0, narrow);
        const double length = uniform(random, 0.1, 1) * 0.009;
        add_point(graph, known, {centre[0] + length * std::cos(angle), centre[1] + length * std::sin(angle)});
        add_segment_if_free(graph, at, static_cast<std::int32_t>(graph.points.size()) - 1, 9);
      }
      break;
    }
    case Hardness::slivers: {
      const double beside = std::pow(10.0, uniform(random, std::log10(min_gap) - 1, -1.5));
      for (int i = 0; i < n % 8 + 2; ++i) {
        const Point a = inner();
        const Point b = inner();
        add_point(graph, known, a);
        add_point(graph, known, b);
        const double part = uniform(random, 0.1, 0.9);
        add_point(graph, known,
                  {a[0] + part * (b[0] - a[0]), std::clamp(a[1] + part * (b[1] - a[1]) + beside, 0.0, 1.0)});
        add_segment_if_free(graph, static_cast<std::int32_t>(graph.points.size()) - 3,
                            static_cast<std::int32_t>(graph.points.size()) - 2, 5);
      }
      break;
    }
    case Hardness::holes:
      for (int i = 0; i < n; ++i) {
        const int row = i / 6;
        const Point centre{(i % 6 + 0.5) / 6, (row + 0.5) / 6};
        const double radius = uniform(random, 0.001, 0.08);
        add_circle(graph, centre, radius, static_cast<int>(random() % 10) + 3, 20 + i);
        if (random() % 4 != 0) graph.holes.push_back(centre);
      }
      return graph;
  }
  const auto n_points = static_cast<std::int32_t>(graph.points.size());
  const int n_segments = static_cast<int>(random() % 20);
  for (int i = 0; i < n_segments; ++i)
    add_segment_if_free(graph, static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n_points)),
                        static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n_points)), 3);
  return graph;
}

}  // namespace barrio::delaunay::test
