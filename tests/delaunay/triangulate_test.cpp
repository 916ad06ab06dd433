#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

using Corners = std::array<std::int32_t, 3>;

/// Return the triangles as point numbers of the input, smallest first.
std::set<Corners> corners_of(const Triangulation& mesh) {
  std::set<Corners> all;
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    Corners corners{};
    for (std::size_t i = 0; i < 3; ++i) corners[i] = mesh.input_numbers[t.vertices[i]];
    std::ranges::rotate(corners, std::ranges::min_element(corners));
    all.insert(corners);
  }
  return all;
}

/// Find all triangles with an empty circumcircle. Coordinates break ties.
std::set<Corners> by_definition(const std::vector<Point>& points) {
  std::set<Corners> all;
  const auto n = static_cast<std::int32_t>(points.size());
  const auto point = [&](std::int32_t i) { return points[static_cast<std::size_t>(i)]; };
  for (std::int32_t a = 0; a < n; ++a) {
    for (std::int32_t b = a + 1; b < n; ++b) {
      for (std::int32_t c = a + 1; c < n; ++c) {
        if (c == b || geometry::orient2d(point(a), point(b), point(c)) <= 0) continue;
        bool is_empty = true;
        for (std::int32_t d = 0; d < n && is_empty; ++d) {
          if (d == a || d == b || d == c) continue;
          is_empty = geometry::incircle_unique({point(a), point(b), point(c), point(d)}) < 0;
        }
        if (is_empty) all.insert({a, b, c});
      }
    }
  }
  return all;
}

void expect_pass(const Triangulation& mesh, const PlanarGraph& graph) {
  const Audit found = audit(audited(mesh), graph);
  for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
}

TEST(Triangulate, IsWhatTheDefinitionSays) {
  std::mt19937_64 random(barrio::test::seed());
  for (int round = 0; round < 40; ++round) {
    PlanarGraph graph;
    std::set<Point> known;
    const auto n = random() % 28 + 4;
    const bool is_lattice = round % 2 == 0;  // many points on common circles and lines
    while (known.size() < n) {
      const Point p = is_lattice ? Point{static_cast<double>(random() % 6) / 3, static_cast<double>(random() % 6) / 3}
                                 : Point{std::ldexp(random() >> 11U, -53), std::ldexp(random() >> 11U, -53)};
      if (known.insert(p).second) graph.points.push_back(p);
    }
    const Triangulation mesh = triangulate(graph);
    validate(mesh);
    EXPECT_EQ(corners_of(mesh), by_definition(graph.points)) << "round " << round;
  }
}

TEST(Triangulate, CountsOfManyPoints) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  PlanarGraph graph;
  for (int i = 0; i < 20000; ++i) graph.points.push_back({uniform(random), uniform(random)});
  Triangulation mesh = triangulate(graph);
  validate(mesh);
  EXPECT_EQ(compact(mesh), 0);
  validate(mesh);
  expect_pass(mesh, graph);
}

TEST(Triangulate, MemoryOfMarkersCounts) {
  PlanarGraph graph = unit_square(8);
  const std::uint64_t without = triangulate(graph).memory_bytes();
  graph.point_markers.assign(graph.points.size(), 5);
  EXPECT_GE(triangulate(graph).memory_bytes(), without + 4 * graph.points.size());
}

TEST(Triangulate, SegmentsHolesAndRegions) {
  PlanarGraph graph = pipe_section(40, 12);
  graph.regions.push_back({.place = {0, 0}, .attribute = 4.5});
  Triangulation mesh = triangulate(graph);
  validate(mesh);
  EXPECT_EQ(compact(mesh), 0);
  validate(mesh);
  expect_pass(mesh, graph);
  ASSERT_EQ(mesh.regions.size(), 2U);
  EXPECT_EQ(mesh.regions[1].attribute, 4.5);
  EXPECT_TRUE(std::ranges::all_of(mesh.triangles.items(), [](const Triangle& t) { return t.region() == 1; }));
}

TEST(Triangulate, PointsOnSegmentsSplitThem) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back({0.5, 0});
  graph.points.push_back({0.25, 0.25});
  graph.points.push_back({0.5, 0.5});
  graph.segments.push_back({{0, 2}, 7});  // through the last two
  Triangulation mesh = triangulate(graph);
  compact(mesh);
  validate(mesh);
  expect_pass(mesh, graph);
  EXPECT_EQ(audited(mesh).edges.size(), 5U + 3U);
}

TEST(Triangulate, RandomGraphsPassTheAudit) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const PlanarGraph graph = test::random_graph(random, static_cast<test::Hardness>(round % test::n_hardnesses));
    Triangulation mesh = triangulate(graph);
    validate(mesh);
    compact(mesh);
    validate(mesh);
    const Audit found = audit(audited(mesh), graph);
    for (const Audit::Check& check : found.checks)
      ASSERT_TRUE(check.is_met) << "seed " << seed << ", round " << round << ", " << check.name << ": " << check.text;
  }
}

TEST(Triangulate, VerticesOfTheInputStandInItsOrder) {
  PlanarGraph graph = pipe_section(40, 12);
  graph.points.insert(graph.points.begin(), {5, 5});  // outside
  for (PlanarGraph::Edge& edge : graph.segments)
    for (std::int32_t& end : edge.ends) ++end;
  Triangulation mesh = triangulate(graph);
  EXPECT_EQ(compact(mesh), 1);
  validate(mesh);
  ASSERT_EQ(mesh.points.size(), graph.points.size() - 1);
  for (std::size_t v = 0; v < mesh.points.size(); ++v) EXPECT_EQ(mesh.points[v], graph.points[v + 1]);
  for (const Segment& segment : mesh.segments)
    for (const std::int32_t v : segment.ends) EXPECT_LT(static_cast<std::size_t>(v), mesh.points.size());
}

TEST(Triangulate, FillsTheHullWhereAsked) {
  PlanarGraph graph;
  graph.points = {{0, 0}, {1, 0}, {0.5, 0.1}, {0.5, 1}};
  graph.segments = {{{0, 2}, 1}, {{2, 1}, 2}, {{1, 3}, 3}, {{3, 0}, 4}};
  EXPECT_EQ(triangulate(graph).n_triangles(), 2);
  const Triangulation hull = triangulate(graph, {.fills_hull = true});
  validate(hull);
  EXPECT_EQ(hull.n_triangles(), 3);
}

}  // namespace
}  // namespace barrio::delaunay
