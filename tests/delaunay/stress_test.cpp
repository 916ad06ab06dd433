#include <gtest/gtest.h>

#include <random>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

TEST(Stress, TenThousandGraphsEndAndPassTheAudit) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  int n_large = 0;
  for (int round = 0; round < 10000; ++round) {
    const PlanarGraph graph = test::random_graph(random, static_cast<test::Hardness>(round % test::n_hardnesses), 0.01);
    const double max_area = round % 3 == 0 ? 1e-3 : 0.0;
    Triangulation mesh = triangulate(graph);
    const RefineReport report = refine(mesh, {.min_angle = 20, .max_area = max_area, .max_triangles = 1000000});
    validate(mesh);
    n_large += report.is_complete ? 0 : 1;  // two random points are very close
    if (!report.is_complete) continue;
    compact(mesh);
    const Audit found = audit(audited(mesh), graph, {.min_angle = 20, .max_area = max_area});
    for (const Audit::Check& check : found.checks)
      ASSERT_TRUE(check.is_met) << "seed " << seed << ", round " << round << ", " << check.name << ": " << check.text;
  }
  EXPECT_LE(n_large, 100) << "seed " << seed;
}

TEST(Stress, ACoastOfAMillionPoints) {
  const PlanarGraph graph = fractal_island(1000000, barrio::test::seed());
  EXPECT_EQ(graph.points.size(), 1048576U);
  Triangulation mesh = triangulate(graph);
  EXPECT_EQ(mesh.n_triangles(), 1048574);
  EXPECT_TRUE(refine(mesh, {.min_angle = 20}).is_complete);
  validate(mesh);
  compact(mesh);
  const Audit found = audit(audited(mesh), graph, {.min_angle = 20});
  for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
  EXPECT_GE(found.min_angle, 20.0 - 1e-9);
}

}  // namespace
}  // namespace barrio::delaunay
