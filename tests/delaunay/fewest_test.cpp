// Numbers of triangles where angles decide, and what moving points does to them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

std::int64_t count(const PlanarGraph& graph, const RefineOptions& options) {
  Triangulation mesh = triangulate(graph);
  EXPECT_TRUE(refine(mesh, options).is_complete);
  validate(mesh);
  return mesh.n_triangles();
}

// Triangle 1.6 makes 273, 2 743 and 320.
TEST(Fewest, WedgesOfTheOutsideAreNoSmallAngles) {
  EXPECT_LE(count(saw(20, 1, 100), {}), 273);
  EXPECT_LE(count(saw(200, 1, 100), {}), 2743);
  EXPECT_LE(count(saw(50, 1, 5), {}), 320);
}

// Triangle 1.6 makes 8 904 and 22 477. With rows that kept the place of an older triangle it were 9 432 and 47 386.
TEST(Fewest, ShortEdgesComeFirst) {
  const PlanarGraph coast = fractal_island(4096, 7);
  EXPECT_LE(count(coast, {.min_angle = 20}), 9000);
  EXPECT_LE(count(coast, {.min_angle = 33}), 23200);
  EXPECT_LE(count(coast, {.min_angle = 34}), 40000);
}

TEST(Fewest, MovedPointsSaveTriangles) {
  const PlanarGraph coast = fractal_island(4096, 7);
  const auto ratio = [&](double angle) {
    return static_cast<double>(count(coast, {.min_angle = angle, .moves_points = true})) /
           static_cast<double>(count(coast, {.min_angle = angle}));
  };
  EXPECT_LT(ratio(20), 0.93);
  EXPECT_LT(ratio(30), 0.80);
  EXPECT_LT(ratio(33), 0.72);
}

TEST(Fewest, MovedPointsPassTheAudit) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  std::int64_t n_moved = 0;
  for (int round = 0; round < 200; ++round) {
    const PlanarGraph graph = round % 7 == 0
                                  ? random_saw(random)
                                  : test::random_graph(random, static_cast<test::Hardness>(round % test::n_hardnesses));
    const RefineOptions options{.min_angle = round % 2 == 0 ? 20.0 : 30.0,
                                .max_area = round % 3 == 0 ? 1e-3 : 0.0,
                                .moves_points = true,
                                .max_triangles = 300000};
    Triangulation mesh = triangulate(graph);
    const RefineReport report = refine(mesh, options);
    validate(mesh);
    n_moved += report.n_moved_points;
    if (!report.is_complete) continue;
    compact(mesh);
    const Audit found = audit(audited(mesh), graph, {.min_angle = options.min_angle, .max_area = options.max_area});
    for (const Audit::Check& check : found.checks)
      ASSERT_TRUE(check.is_met) << "seed " << seed << ", round " << round << ", " << check.name << ": " << check.text;
  }
  EXPECT_GT(n_moved, 1000);  // or the test is void
}

/// Linear attributes stay linear, and no value leaves the range of the input.
TEST(Fewest, MovedPointsKeepTheirAttributes) {
  PlanarGraph graph = fractal_island(256, 3);
  graph.attributes = {{.name = "depth", .n_components = 1}};
  for (const Point& p : graph.points) graph.attribute_values.push_back(3 * p[0] - 2 * p[1] + 5);
  const auto [low, high] = std::ranges::minmax(graph.attribute_values);
  Triangulation mesh = triangulate(graph);
  EXPECT_GT(refine(mesh, {.min_angle = 33, .moves_points = true}).n_moved_points, 50);
  for (std::size_t v = 0; v < mesh.points.size(); ++v) {
    if (mesh.infos[v].kind() == VertexKind::unused) continue;
    const Point& p = mesh.points[v];
    EXPECT_NEAR(mesh.attribute_values[v], 3 * p[0] - 2 * p[1] + 5, 1e-12);
    EXPECT_GE(mesh.attribute_values[v], low);
    EXPECT_LE(mesh.attribute_values[v], high);
  }
}

TEST(Fewest, NothingMovesWithoutABoundOfTheAngle) {
  Triangulation mesh = triangulate(pipe_section(60, 20));
  EXPECT_EQ(refine(mesh, {.min_angle = 0, .max_area = 1e-3, .moves_points = true}).n_moved_points, 0);
  validate(mesh);
}

}  // namespace
}  // namespace barrio::delaunay
