#include "barrio/delaunay/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

/// Return the expected number of triangles over the number that there are.
double expected_part(const PlanarGraph& graph, const RefineOptions& options) {
  Triangulation mesh = triangulate(graph);
  const double expected = forecast(mesh, options).n_triangles;
  refine(mesh, options);
  return expected / static_cast<double>(mesh.n_triangles());
}

void expect_near_one(double part, double tolerance = 0.12) {
  EXPECT_GT(part, 1 - tolerance);
  EXPECT_LT(part, 1 + tolerance);
}

TEST(Forecast, KnowsWhatAreasAloneMake) {
  expect_near_one(expected_part(unit_square(1), {.max_area = 1e-4}));
  expect_near_one(expected_part(unit_square(50), {.max_area = 1e-5}));
  expect_near_one(expected_part(pipe_section(100, 30), {.max_area = 1e-4}));
  expect_near_one(expected_part(fractal_island(1000, 3), {.max_area = 1e-5}));
}

TEST(Forecast, CountsTheTrianglesThatAreThere) {
  // most triangles are below the bound: they stay
  PlanarGraph graph = unit_square(1);
  std::mt19937_64 random(barrio::test::seed());
  std::uniform_real_distribution<double> uniform(0.01, 0.2);
  for (int i = 0; i < 5000; ++i) graph.points.push_back({uniform(random), uniform(random)});
  const Triangulation mesh = triangulate(graph);
  const double expected = forecast(mesh, {.max_area = 1e-3}).n_triangles;
  EXPECT_GT(expected, static_cast<double>(mesh.n_triangles()) + 1000);
}

TEST(Forecast, SumsOverRegions) {
  PlanarGraph graph = unit_square(1);
  graph.points.insert(graph.points.end(), {{0.5, 0}, {0.5, 1}});
  graph.segments.push_back({{4, 5}, 9});
  graph.regions = {{.place = {0.25, 0.5}, .max_area = 1e-4}, {.place = {0.75, 0.5}, .max_area = 1e-5}};
  expect_near_one(expected_part(graph, {}));
  expect_near_one(expected_part(graph, {.max_area = 2e-5}));
  const Triangulation mesh = triangulate(graph);
  EXPECT_EQ(forecast(mesh, {.keeps_regions = false}).n_triangles, 0.0);
  EXPECT_NEAR(forecast(mesh, {}).n_triangles, 1.55 * (0.5e4 + 0.5e5), 1.0);
  EXPECT_NEAR(forecast(mesh, {.max_area = 2e-5}).n_triangles, 1.55 * (0.5e5 / 2 + 0.5e5), 1.0);
}

TEST(Forecast, IntegratesSizeFields) {
  // area_at varies by five orders of magnitude
  const auto near_corner = [](const Point& p) { return 1e-7 + 1e-2 * (p[0] * p[0] + p[1] * p[1]); };
  const Triangulation mesh = triangulate(unit_square(1));
  // the integral over the quarter plane is log(1 + R^2 / a) pi / 4 / 1e-2, and the square is between two quarter discs
  const double found = forecast(mesh, {.area_at = near_corner}).n_triangles / 1.55;
  EXPECT_GT(found, std::log1p(1.0 / 1e-5) * 78.53);
  EXPECT_LT(found, std::log1p(2.0 / 1e-5) * 78.54);
  expect_near_one(expected_part(unit_square(1), {.area_at = near_corner}), 0.2);
  // a disc that the centroids of the first two triangles do not see
  const auto disc = [](const Point& p) { return std::hypot(p[0] - 0.31, p[1] - 0.47) < 0.02 ? 1e-7 : 0.1; };
  EXPECT_NEAR(forecast(mesh, {.area_at = disc}).n_triangles, 1.55 * (std::acos(-1.0) * 4e-4 / 1e-7), 1000);
  std::int64_t n_calls = 0;
  static_cast<void>(forecast(mesh, {.area_at = [&](const Point&) {
                               ++n_calls;
                               return 1e-3 * static_cast<double>(n_calls % 7 + 1);
                             }}));
  EXPECT_LE(n_calls, 65536 + 2);
  // what is no area says nothing; refinement refuses it
  const auto bad = [](const Point& p) { return p[0] < 0.5 ? std::numeric_limits<double>::quiet_NaN() : -1.0; };
  EXPECT_EQ(forecast(mesh, {.area_at = bad}).n_triangles, 0.0);
}

TEST(Forecast, IsUnknownWhereAnglesAloneDecide) {
  const Triangulation mesh = triangulate(fractal_island(100, 3));
  EXPECT_EQ(forecast(mesh, {.min_angle = 30}).n_triangles, 0.0);
  EXPECT_EQ(forecast(mesh, {.min_angle = 30, .max_area = 1e9}).n_triangles, 0.0);
  EXPECT_EQ(to_json(forecast(mesh, {})).dump(), R"({"triangles":null,"memory_bytes":null})");
}

std::string complaint_of(double n_triangles, std::uint64_t available_bytes) {
  try {
    check_fits({.n_triangles = n_triangles, .memory_bytes = 44 * n_triangles}, available_bytes, "use larger areas");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    return error.what();
  }
  return "none";
}

TEST(Forecast, RefusesWhatDoesNotFit) {
  constexpr std::uint64_t gibibyte = 1U << 30U;
  EXPECT_EQ(complaint_of(1.55e12, 16 * gibibyte),
            "refinement: would make about 1.6e12 triangles, 62.0 TiB, but this machine has 16.0 GiB left "
            "(use larger areas)");
  EXPECT_EQ(complaint_of(1e6, gibibyte), "none");
  EXPECT_EQ(complaint_of(1e6, 43'000'000),
            "refinement: would make about 1 000 000 triangles, 42.0 MiB, but this machine has 41.0 MiB left "
            "(use larger areas)");
  EXPECT_EQ(complaint_of(2e9, 1000 * gibibyte),
            "refinement: would make about 2.0e9 triangles, 82.0 GiB, but a triangulation has at most 2^30 "
            "(use larger areas)");
  EXPECT_NE(complaint_of(1e300, gibibyte).find("about 1.0e300 triangles, 4.4e+301 bytes"), std::string::npos);
  EXPECT_EQ(complaint_of(0, 1), "none");
}

TEST(Forecast, MemoryCountsAttributes) {
  PlanarGraph graph = unit_square(1);
  const double without = forecast(triangulate(graph), {.max_area = 1e-4}).memory_bytes;
  graph.attributes = {{"a", 3}};
  graph.attribute_values.assign(12, 1.0);
  const Triangulation mesh = triangulate(graph);
  const Forecast with = forecast(mesh, {.max_area = 1e-4});
  EXPECT_NEAR(with.memory_bytes - without, with.n_triangles * 12, 1.0);
}

/// Make a square with two lines beside each other: triangles between them are as small as the gap.
PlanarGraph two_lines(double gap) {
  PlanarGraph graph = unit_square(1);
  graph.points.insert(graph.points.end(), {{0.2, 0.5}, {0.8, 0.5}, {0.2, 0.5 + gap}, {0.8, 0.5 + gap}});
  graph.segments.insert(graph.segments.end(), {{{4, 5}, 2}, {{6, 7}, 2}});
  return graph;
}

TEST(LimitOfAngles, EndsByCount) {
  Triangulation mesh = triangulate(two_lines(1e-7));
  RefineReport report = refine(mesh, {.min_angle = 30});
  EXPECT_FALSE(report.is_complete);
  EXPECT_EQ(report.max_triangles, 5'008'000);
  EXPECT_LE(mesh.n_triangles(), 5'008'000);
  EXPECT_GE(mesh.n_triangles(), 5'007'990);
  Triangulation wide = triangulate(two_lines(1e-3));
  report = refine(wide, {.min_angle = 30});
  EXPECT_TRUE(report.is_complete);
  EXPECT_EQ(report.max_triangles, 5'008'000);
  // a limit of the user is the only one
  Triangulation few = triangulate(two_lines(1e-3));
  report = refine(few, {.min_angle = 30, .max_triangles = 2000});
  EXPECT_FALSE(report.is_complete);
  EXPECT_EQ(report.max_triangles, 2000);
  validate(few);
}

TEST(LimitOfAngles, RisesFasterThanWhatAreasAskFor) {
  const auto raised = [](const RefineReport& report, std::int64_t n_vertices) {
    return report.max_triangles - 5'000'000 - 1000 * n_vertices;
  };
  Triangulation mesh = triangulate(unit_square(1));
  RefineReport report = refine(mesh, {.max_area = 1e-5});
  EXPECT_TRUE(report.is_complete);
  EXPECT_GT(raised(report, 4), 4 * mesh.n_triangles());
  // a strip: its segments are split for their area, and no triangle is too large afterwards
  PlanarGraph strip{.points = {{0, 0}, {1e5, 0}, {1e5, 1}, {0, 1}},
                    .segments = {{{0, 1}, 0}, {{1, 2}, 0}, {{2, 3}, 0}, {{3, 0}, 0}}};
  Triangulation narrow = triangulate(strip);
  report = refine(narrow, {.max_area = 0.5});
  EXPECT_TRUE(report.is_complete);
  EXPECT_GT(narrow.n_triangles(), 200'000);
  EXPECT_GT(raised(report, 4), 4 * narrow.n_triangles());
  Triangulation again = triangulate(strip);
  report = refine(again, {.max_area = 1e9});
  EXPECT_EQ(raised(report, 4), 0);
}

TEST(LimitOfAngles, MustNotBeNegative) {
  Triangulation mesh = triangulate(unit_square(1));
  try {
    refine(mesh, {.max_triangles = -5});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_STREQ(error.what(), "max triangles: is -5 (must be above 0, or 0 for a limit by the size of the input)");
  }
}

}  // namespace
}  // namespace barrio::delaunay
