#include "barrio/delaunay/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

Audit refined_and_audited(const PlanarGraph& graph, const RefineOptions& options, RefineReport* report = nullptr) {
  Triangulation mesh = triangulate(graph);
  const RefineReport found = refine(mesh, options);
  validate(mesh);
  if (report != nullptr) *report = found;
  compact(mesh);
  validate(mesh);
  return audit(audited(mesh), graph, {.min_angle = options.min_angle, .max_area = options.max_area});
}

void expect_pass(const Audit& found, const std::string& about) {
  for (const Audit::Check& check : found.checks)
    EXPECT_TRUE(check.is_met) << about << ": " << check.name << ": " << check.text;
}

TEST(Refine, MeetsAnglesAndAreas) {
  for (const PlanarGraph& graph : {unit_square(1), unit_square(40), pipe_section(100, 30)}) {
    const Audit found = refined_and_audited(graph, {.min_angle = guaranteed_angle, .max_area = 1e-4});
    expect_pass(found, "");
    EXPECT_LT(found.yardstick, 1.62);
  }
}

TEST(Refine, FollowsASizeField) {
  const auto area = [](const Point& p) { return 1e-5 + 1e-2 * (p[0] * p[0] + p[1] * p[1]); };
  Triangulation mesh = triangulate(unit_square(1));
  refine(mesh, {.area_at = area});
  validate(mesh);
  double sum = 0;
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    const Point& a = mesh.point(t.vertices[0]);
    const Point& b = mesh.point(t.vertices[1]);
    const Point& c = mesh.point(t.vertices[2]);
    const double size = mesh.area(t);
    const double bound = area({(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3});
    EXPECT_LE(size, bound);
    sum += size / bound;
  }
  EXPECT_LT(static_cast<double>(mesh.n_triangles()) / sum, 1.8);  // triangles by the integral of 1 / area
}

TEST(Refine, RegionsHaveTheirOwnBounds) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back({0.5, 0});
  graph.points.push_back({0.5, 1});
  graph.segments.push_back({{4, 5}, 9});
  graph.regions = {{.place = {0.25, 0.5}, .attribute = 1, .max_area = 1e-3}, {.place = {0.75, 0.5}, .attribute = 2}};
  Triangulation mesh = triangulate(graph);
  refine(mesh);
  compact(mesh);
  validate(mesh);
  std::int64_t n_fine = 0;
  for (const Triangle& t : mesh.triangles.items()) n_fine += t.region() == 1 ? 1 : 0;
  EXPECT_GT(n_fine, 600);
  EXPECT_LT(mesh.n_triangles() - n_fine, n_fine);
}

TEST(Refine, KeepsTheBoundaryWhereAsked) {
  const PlanarGraph graph = unit_square(10);
  Triangulation mesh = triangulate(graph);
  const RefineReport report = refine(mesh, {.min_angle = 20, .max_area = 1e-3, .splits_boundary = false});
  EXPECT_EQ(report.n_segment_points, 0);
  compact(mesh);
  validate(mesh);
  EXPECT_EQ(audited(mesh).edges.size(), 40U);
}

TEST(Refine, KeepsSegmentsWithAMarker) {
  const PlanarGraph graph = pipe_section(60, 20);
  for (const std::vector<std::int32_t>& kept : {std::vector<std::int32_t>{1}, {3, 4}, {2, 5, 8}}) {
    Triangulation mesh = triangulate(graph);
    refine(mesh, {.max_area = 1e-4, .kept_markers = kept});
    compact(mesh);
    validate(mesh);
    std::map<std::int32_t, int> n_pieces;
    for (const SegmentEdge& edge : segment_edges(mesh)) ++n_pieces[edge.marker];
    std::map<std::int32_t, int> n_segments;
    for (const PlanarGraph::Edge& segment : graph.segments) ++n_segments[segment.marker];
    for (const auto& [marker, n] : n_pieces) {
      if (std::ranges::find(kept, marker) != kept.end())
        EXPECT_EQ(n, n_segments[marker]) << marker;
      else
        EXPECT_GT(n, n_segments[marker]) << marker;
    }
  }
}

TEST(Refine, EndsAtMostTriangles) {
  Triangulation mesh = triangulate(unit_square(1));
  const RefineReport report = refine(mesh, {.max_area = 1e-6, .max_triangles = 5000});
  EXPECT_FALSE(report.is_complete);
  EXPECT_LE(mesh.n_triangles(), 5000);
  validate(mesh);
}

TEST(Refine, GoesOnWhereItEndedEarly) {
  const PlanarGraph graph = unit_square(1);
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.min_angle = 20, .max_area = 1e-4, .max_triangles = 3000});
  int n_asked = 0;
  const auto fails = [&](const Point&) {
    if (++n_asked > 5000) throw std::runtime_error("no more");
    return 1e-4;
  };
  EXPECT_THROW(refine(mesh, {.min_angle = 20, .area_at = fails}), std::runtime_error);
  validate(mesh);
  EXPECT_TRUE(refine(mesh, {.min_angle = 20, .max_area = 1e-4}).is_complete);
  validate(mesh);
  compact(mesh);
  expect_pass(audit(audited(mesh), graph, {.min_angle = 20, .max_area = 1e-4}), "in three parts");
}

TEST(Refine, TellsItsProgress) {
  Triangulation mesh = triangulate(unit_square(1));
  std::int64_t last = 0;
  int n_calls = 0;
  refine(mesh, {.max_area = 1e-5, .progress = [&](std::int64_t n) {
                  EXPECT_GE(n, last);
                  last = n;
                  ++n_calls;
                }});
  EXPECT_GT(n_calls, 2);
  EXPECT_LE(last, mesh.n_triangles());
}

TEST(Refine, BoundsOfAreaAlone) {
  const PlanarGraph graph = pipe_section(60, 20);
  expect_pass(refined_and_audited(graph, {.min_angle = 0, .max_area = 1e-3}), "no angle");
}

TEST(Refine, IsTheSameEachTime) {
  const auto run = [] {
    Triangulation mesh = triangulate(pipe_section(50, 20));
    refine(mesh, {.max_area = 1e-3});
    compact(mesh);
    return mesh;
  };
  const Triangulation a = run();
  const Triangulation b = run();
  ASSERT_EQ(a.n_triangles(), b.n_triangles());
  for (std::size_t t = 0; t < a.triangles.size(); ++t) EXPECT_EQ(a.triangles[t].vertices, b.triangles[t].vertices);
}

TEST(Refine, RandomGraphsEndAndPassTheAudit) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  std::int64_t n_removed = 0;
  int n_large = 0;
  for (int round = 0; round < 300; ++round) {
    const PlanarGraph graph = test::random_graph(random, static_cast<test::Hardness>(round % test::n_hardnesses));
    RefineReport report;
    const Audit found = refined_and_audited(
        graph, {.min_angle = 20, .max_area = round % 3 == 0 ? 1e-3 : 0.0, .max_triangles = 300000}, &report);
    n_removed += report.n_removed_points;
    n_large += report.is_complete ? 0 : 1;  // two random points are very close
    if (!report.is_complete) continue;
    for (const Audit::Check& check : found.checks)
      ASSERT_TRUE(check.is_met) << "seed " << seed << ", round " << round << ", " << check.name << ": " << check.text;
  }
  EXPECT_LE(n_large, 5) << "seed " << seed;
  EXPECT_GT(n_removed, 0);  // or the test is void
}

// Found by a fuzzer.

TEST(Refine, KnowsTheSmallAnglesOfAHull) {
  Triangulation mesh = triangulate({.points = {{0, 0}, {10, 0}, {10, 1}}});
  refine(mesh);
  validate(mesh);
  EXPECT_LT(mesh.n_triangles(), 20);
  PlanarGraph open{.points = {{1, 0}, {5, 6}, {2, 1}, {3, 0}}, .segments = {{{1, 2}, 0}}};
  Triangulation filled = triangulate(open, {.fills_hull = true});
  const RefineReport report = refine(filled, {.max_triangles = 5000});
  validate(filled);
  EXPECT_TRUE(report.is_complete);
}

TEST(Refine, EndsWhereASegmentIsTooShortToBeSplit) {
  PlanarGraph graph{
      .points =
          {{4, -0.6}, {7, -3}, {2.523719460089, -0.217801958703}, {2, 0.06}, {3, 0.3}, {2.52371946009, -0.2178019587}},
      .segments = {{{2, 0}, 0}}};
  Triangulation mesh = triangulate(graph, {.fills_hull = true});
  compact(mesh);
  refine(mesh, {.min_angle = 30, .splits_boundary = false, .max_triangles = 1000});
  validate(mesh);
}

}  // namespace
}  // namespace barrio::delaunay
