#include "barrio/delaunay/size_field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

using Function = std::function<double(const Point&)>;

Triangulation refined(const PlanarGraph& graph, const RefineOptions& options) {
  Triangulation mesh = triangulate(graph);
  refine(mesh, options);
  compact(mesh);
  return mesh;
}

/// Return the longest edge of triangles whose centroid fulfils a condition.
double longest_edge(const Triangulation& mesh, const std::function<bool(const Point&)>& counts) {
  double longest = 0.0;
  for (const Triangle& t : mesh.triangles.items()) {
    std::array<Point, 3> p{};
    for (std::size_t i = 0; i < 3; ++i) p[i] = mesh.point(t.vertices[i]);
    if (!counts({(p[0][0] + p[1][0] + p[2][0]) / 3, (p[0][1] + p[1][1] + p[2][1]) / 3})) continue;
    for (std::size_t i = 0; i < 3; ++i)
      longest = std::max(longest, std::hypot(p[i][0] - p[(i + 1) % 3][0], p[i][1] - p[(i + 1) % 3][1]));
  }
  return longest;
}

bool sizes_are_met(const Triangulation& mesh, const PlanarGraph& graph, const AuditOptions& options) {
  const Audit found = audit(audited(mesh), graph, options);
  const auto check = std::ranges::find(found.checks, "sizes", &Audit::Check::name);
  EXPECT_NE(check, found.checks.end());
  return check != found.checks.end() && check->is_met;
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Function spot(double radius, double area) {
  return [=](const Point& p) { return std::hypot(p[0] - 0.31, p[1] - 0.47) < radius ? area : 0.1; };
}

TEST(SizeField, NarrowPlacesOfAFunctionAreNotMissed) {
  const auto crack = [](const Point& p) { return std::abs(p[0] - 0.3331) < 1e-3 ? 1e-6 : 0.1; };
  struct Case {
    Function area_at;
    double n_wanted;  // area of the place over the area wanted there
  };
  for (const auto& [area_at, n_wanted] :
       {Case{spot(1e-2, 1e-6), 314.0}, Case{spot(4e-3, 1e-7), 503.0}, Case{crack, 2000.0}})
    for (const int n : {1, 30}) {
      const PlanarGraph graph = unit_square(n);
      const Triangulation mesh = refined(graph, {.area_at = area_at});
      EXPECT_GT(static_cast<double>(mesh.n_triangles()), n_wanted);
      EXPECT_LT(static_cast<double>(mesh.n_triangles()), 4 * n_wanted + 2000);
      EXPECT_TRUE(sizes_are_met(mesh, graph, {.area_at = area_at}));
    }
}

TEST(SizeField, TheAuditSeesNarrowPlacesThatTheMesherMissed) {
  const PlanarGraph graph = unit_square(1);
  const Triangulation coarse = refined(graph, {.max_area = 0.1});
  EXPECT_FALSE(sizes_are_met(coarse, graph, {.area_at = spot(1e-2, 1e-6)}));
  // narrower than the usual distance of samples: only with a smaller one
  const Function narrow = spot(6e-4, 1e-9);
  const Triangulation missed = refined(graph, {.area_at = narrow});
  EXPECT_LT(missed.n_triangles(), 100);
  EXPECT_FALSE(sizes_are_met(missed, graph, {.area_at = narrow, .resolution = 5e-4}));
  const Triangulation found = refined(graph, {.area_at = narrow, .resolution = 5e-4});
  EXPECT_GT(found.n_triangles(), 1000);
  EXPECT_TRUE(sizes_are_met(found, graph, {.area_at = narrow, .resolution = 5e-4}));
}

TEST(SizeField, SmoothFunctionsGetNoMoreTrianglesThanByCentroids) {
  const auto area_at = [](const Point& p) { return 1e-5 + 1e-2 * (p[0] * p[0] + p[1] * p[1]); };
  const std::int64_t with_samples = refined(unit_square(1), {.area_at = area_at}).n_triangles();
  const std::int64_t with_one = refined(unit_square(1), {.area_at = area_at, .resolution = 1.0}).n_triangles();
  EXPECT_NEAR(static_cast<double>(with_samples), static_cast<double>(with_one), 0.02 * static_cast<double>(with_one));
}

TEST(SizeField, DistanceFromAMarker) {
  PlanarGraph graph = unit_square(4);
  graph.points.push_back({0.5, 0.6});
  graph.point_markers.assign(graph.points.size(), 0);
  graph.point_markers.back() = 9;
  const SizeField by_side = size_near(graph, 4, {.min_size = 0.01, .max_size = 0.2, .width = 0.05, .growth = 0.3});
  EXPECT_DOUBLE_EQ(by_side({0.02, 0.3}), 0.01);  // side 4 is x = 0
  EXPECT_DOUBLE_EQ(by_side({0.15, 0.3}), 0.04);
  EXPECT_DOUBLE_EQ(by_side({0.95, 0.3}), 0.2);
  const SizeField by_point = size_near(graph, 9, {.min_size = 0.002, .growth = 0.1});
  EXPECT_NEAR(by_point({0.5, 0.7}), 0.012, 1e-15);
  const SizeField both = smallest_size({by_side, by_point, SizeField()});
  EXPECT_DOUBLE_EQ(both({0.02, 0.3}), 0.01);
  EXPECT_DOUBLE_EQ(both({0.5, 0.6}), 0.002);
  const Triangulation mesh = refined(graph, {.size = both});
  EXPECT_TRUE(sizes_are_met(mesh, graph, {.size = both}));
  EXPECT_LT(longest_edge(mesh, [](const Point& p) { return p[0] < 0.05; }), 0.022);
  EXPECT_GT(longest_edge(mesh, [](const Point& p) { return p[0] > 0.9; }), 0.1);
}

TEST(SizeField, APlaceNarrowerThanAnyGridIsNotMissed) {
  const PlanarGraph graph = unit_square(1);
  const auto shortest = [&](const SizeProfile& profile, std::int64_t max_triangles) {
    const Triangulation mesh = refined(graph, {.size = size_near(Point{0.31, 0.47}, profile)});
    EXPECT_LT(mesh.n_triangles(), max_triangles);
    double found = 1.0;
    for (const Triangle& t : mesh.triangles.items()) found = std::min(found, std::sqrt(mesh.area(t)));
    return found;
  };
  EXPECT_LT(shortest({.min_size = 1e-7, .max_size = 0.5, .growth = 0.5}, 3000), 4e-7);
  // steep: centroids see nothing of it, and no triangle is small around it
  EXPECT_LT(shortest({.min_size = 1e-5, .max_size = 0.5, .width = 1e-4, .growth = 100}, 10000), 1e-5);
  EXPECT_LT(shortest({.min_size = 1e-8, .max_size = 0.5, .width = 1e-7, .growth = 1e6}, 10000), 1e-8);
}

TEST(SizeField, ABackgroundMesh) {
  // a fan around a vertex with a small size, and a triangle elsewhere with a vertex of a tiny size
  const std::vector<Point> points{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.25, 0.25}};
  const std::vector<std::array<std::int32_t, 3>> triangles{{0, 1, 4}, {1, 2, 4}, {3, 2, 4}, {3, 0, 4}};
  const std::vector<double> sizes{0.1, 0.1, 0.3, 0.1, 0.01};
  const SizeField field = size_on_mesh({points, triangles}, sizes);
  for (std::size_t v = 0; v < points.size(); ++v) EXPECT_NEAR(field(points[v]), sizes[v], 1e-15);
  EXPECT_NEAR(field({0.5, 0}), 0.1, 1e-15);
  EXPECT_NEAR(field({0.625, 0.625}), 0.155, 1e-15);
  EXPECT_NEAR(field({3, 3}), 0.3, 1e-15);  // outside: the nearest point
  EXPECT_NEAR(field({0.5, -2}), 0.1, 1e-15);
  EXPECT_TRUE(field.is_below({Point{0.2, 0.2}, Point{0.3, 0.2}, Point{0.24, 0.31}}, 0.011));
  EXPECT_FALSE(field.is_below({Point{0.2, 0.2}, Point{0.3, 0.2}, Point{0.24, 0.31}}, 0.0099));
  EXPECT_FALSE(field.is_below({Point{0.5, 0.5}, Point{1, 0.9}, Point{0.8, 1}}, 0.1));
  const PlanarGraph graph = unit_square(1);
  const Triangulation mesh = refined(graph, {.size = field});
  EXPECT_TRUE(sizes_are_met(mesh, graph, {.size = field}));
  EXPECT_LT(longest_edge(mesh, [](const Point& p) { return std::hypot(p[0] - 0.25, p[1] - 0.25) < 0.01; }), 0.03);
}

TEST(SizeField, ABackgroundMeshGivesWhatItsFunctionGives) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  PlanarGraph graph = unit_square(3);
  for (int i = 0; i < 300; ++i) graph.points.push_back({unit(random), unit(random)});
  const FlatMesh flat = to_flat_mesh(refined(graph, {.min_angle = 0}));
  std::vector<double> sizes;
  const auto linear = [](const Point& p) { return 0.1 + p[0] + 2 * p[1]; };
  for (const Point& p : flat.points) sizes.push_back(linear(p));
  const SizeField field = size_on_mesh({flat.points, flat.triangles}, sizes);
  for (int i = 0; i < 2000; ++i) {
    const Point p{unit(random), unit(random)};
    ASSERT_NEAR(field(p), linear(p), 1e-9) << "seed " << seed;
    const SizeField::Corners t{p, Point{unit(random), unit(random)}, Point{unit(random), unit(random)}};
    const double lowest = std::min({linear(t[0]), linear(t[1]), linear(t[2])});
    ASSERT_FALSE(field.is_below(t, lowest * (1 - 1e-6))) << "seed " << seed;
    ASSERT_TRUE(field.is_below(t, lowest * 1.01 + 1e-3)) << "seed " << seed;
  }
}

TEST(SizeField, AreasOfTriangles) {
  const std::vector<Point> points{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const std::vector<std::array<std::int32_t, 3>> triangles{{0, 1, 2}, {0, 3, 2}};
  const SizeField field = size_of_areas({points, triangles}, std::vector{1e-4, -1.0});
  EXPECT_DOUBLE_EQ(area_of_size(field({0.9, 0.1})), 1e-4);
  EXPECT_TRUE(std::isinf(field({0.1, 0.9})));
  const PlanarGraph graph = unit_square(1);
  const Triangulation mesh = refined(graph, {.size = field});
  EXPECT_TRUE(sizes_are_met(mesh, graph, {.size = field}));
  std::int64_t n_fine = 0;
  for (const Triangle& t : mesh.triangles.items()) n_fine += mesh.area(t) <= 1e-4 ? 1 : 0;
  EXPECT_GT(n_fine, 6000);
  EXPECT_LT(mesh.n_triangles(), 10500);
}

TEST(SizeField, GrowthIsLimited) {
  constexpr double growth = 0.2;
  const Rectangle square{{0, 0}, {1, 1}};
  constexpr double radius = 0.006;
  constexpr double fine = 1e-4;
  const auto size = [](const Point& p) { return std::hypot(p[0] - 0.31, p[1] - 0.47) < radius ? fine : 0.3; };
  const SizeField limited = limit_growth(size, growth, square);
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int i = 0; i < 2000; ++i) {
    const double distance = i % 2 == 0 ? unit(random) : 2 * radius * unit(random);
    const double angle = 2 * std::numbers::pi * unit(random);
    const Point p{0.31 + distance * std::cos(angle), 0.47 + distance * std::sin(angle)};
    const double wanted = std::min(fine + growth * std::max(distance - radius, 0.0), 0.3);
    ASSERT_GE(limited(p), wanted * (1 - 1e-12)) << "seed " << seed;
    ASSERT_LE(limited(p), 1.5 * wanted) << "seed " << seed << " at " << p[0] << ", " << p[1];
  }
  const PlanarGraph graph = unit_square(1);
  const Triangulation mesh = refined(graph, {.size = limited});
  const Triangulation steep = refined(graph, {.area_at = [&](const Point& p) { return area_of_size(size(p)); }});
  EXPECT_GT(mesh.n_triangles(), steep.n_triangles() + 5000);
  EXPECT_TRUE(sizes_are_met(mesh, graph, {.size = limited}));
}

TEST(SizeField, GrowthOfEachKindIsLimited) {
  const Rectangle square{{0, 0}, {1, 1}};
  constexpr double growth = 0.1;
  PlanarGraph graph = unit_square(1);
  const std::vector<Point> points{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0.5}};
  const std::vector<std::array<std::int32_t, 3>> triangles{{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  const Background mesh{points, triangles};
  const std::vector<SizeField> fields{
      size_near(graph, 1, {.min_size = 0.01, .growth = 2}),
      size_on_mesh(mesh, std::vector{0.5, 0.5, 0.01, 0.5, 0.5}),
      size_of_areas(mesh, std::vector{1e-4, 0.0, 0.0, 0.0}),
      size_by_function([](const Point& p) { return 0.02 + std::abs(p[0] - 0.7); }, 1.0),
      uniform_size(0.2),
  };
  const SizeField all = limit_growth(smallest_size(fields), growth, square);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int i = 0; i < 3000; ++i) {
    const Point p{unit(random), unit(random)};
    const Point q{unit(random), unit(random)};
    ASSERT_LE(all(p), smallest_size(fields)(p));
    // samples are as dense as sizes: within growth times twice a size
    ASSERT_LE(all(p), all(q) + growth * (std::hypot(p[0] - q[0], p[1] - q[1]) + 2 * all(q)));
    ASSERT_GT(all(p), 0.009);
  }
  EXPECT_NEAR(limit_growth(fields[0], growth, square)({0.5, 0.5}), 0.06, 1e-15);  // by distance: exact
  EXPECT_DOUBLE_EQ(limit_growth(uniform_size(0.2), growth, square)({0.5, 0.5}), 0.2);
}

TEST(SizeField, FunctionsAreAskedWithinTriangles) {
  // both have no value beside the disc
  PlanarGraph graph;
  add_circle(graph, {0, 0}, 1, 100, 1);
  const auto rest = [](const Point& p) { return 1.001 - p[0] * p[0] - p[1] * p[1]; };
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.area_at = [&](const Point& p) {
           EXPECT_GT(rest(p), 0.0);
           return 1e-3 + 0.1 * std::sqrt(rest(p));
         }});
  const auto size = [&](const Point& p) { return 0.03 + 0.2 * std::sqrt(rest(p)); };
  const SizeField limited = limit_growth(size, 0.1, bounding_rectangle(graph.points));
  EXPECT_LT(refined(graph, {.size = limited}).n_triangles(), 5000);
}

TEST(SizeField, LongDomainsAreSampledAsDensely) {
  const PlanarGraph graph{.points = {{0, 0}, {1000, 0}, {1000, 10}, {0, 10}},
                          .segments = {{{0, 1}, 0}, {{1, 2}, 0}, {{2, 3}, 0}, {{3, 0}, 0}}};
  const auto area_at = [](const Point& p) { return std::hypot(p[0] - 617.3, p[1] - 4.2) < 0.3 ? 1e-4 : 100.0; };
  const Triangulation mesh = refined(graph, {.area_at = area_at});
  EXPECT_TRUE(sizes_are_met(mesh, graph, {.area_at = area_at}));
  EXPECT_GT(mesh.n_triangles(), 2800);
  const auto inside = [](const Point& p) {
    EXPECT_TRUE(p[0] >= 0 && p[0] <= 1000 && p[1] >= 0 && p[1] <= 10) << p[0] << ", " << p[1];
    return 1.0;
  };
  EXPECT_EQ(limit_growth(inside, 0.1, bounding_rectangle(graph.points))({500, 5}), 1.0);
}

TEST(SizeField, BadInputIsRefused) {
  const PlanarGraph graph = unit_square(1);
  const std::vector<Point> points{{0, 0}, {1, 0}, {1, 1}};
  const std::vector<std::array<std::int32_t, 3>> triangles{{0, 1, 2}};
  const std::vector<std::array<std::int32_t, 3>> wrong{{0, 1, 3}};
  const std::vector<std::array<std::int32_t, 3>> flat{{0, 1, 1}};
  const Rectangle square{{0, 0}, {1, 1}};
  const auto zero = [](const Point&) { return 0.0; };
  const std::vector<std::pair<std::function<void()>, std::string>> cases{
      {[&] { (void)uniform_size(0); }, "size: is 0"},
      {[&] { (void)size_near(graph, 7, {.min_size = 0.1}); }, "marker 7: is that of no segment and no point"},
      {[&] { (void)size_near(graph, 7, {.min_size = 0.1}); }, "markers are 1, 2, 3, 4"},
      {[&] { (void)size_near(graph, 1, {.min_size = 0}); }, "must have a min_size above 0"},
      {[&] { (void)size_near(graph, 1, {.min_size = 0.1, .max_size = 0.01}); }, "sizes from 0.1 to 0.01"},
      {[&] { (void)size_near(graph, 1, {.min_size = 0.1, .width = -1}); }, "have the width -1"},
      {[&] { (void)size_near(graph, 1, {.min_size = 0.1, .growth = 0}); }, "growth of sizes: is 0"},
      {[&] { (void)size_on_mesh({points, triangles}, std::vector{1.0, 2.0}); },
       "2 sizes at vertices of the background mesh: must be 3"},
      {[&] { (void)size_on_mesh({points, triangles}, std::vector{1.0, 2.0, 0.0}); },
       "size at vertex 2 of the background mesh: is 0"},
      {[&] { (void)size_on_mesh({points, wrong}, std::vector{1.0, 2.0, 1.0}); },
       "triangle 0 of the background mesh: has the vertex 3"},
      {[&] { (void)size_on_mesh({points, flat}, std::vector{1.0, 2.0, 1.0}); }, "has no area"},
      {[&] { (void)size_on_mesh({points, {}}, std::vector{1.0, 2.0, 1.0}); }, "background mesh: has no triangles"},
      {[&] { (void)size_of_areas({points, triangles}, std::vector{std::nan("")}); }, "is not a number"},
      {[&] { (void)size_by_function(zero, -1); }, "growth of a size function: is -1"},
      {[&] { (void)refined(graph, {.size = limit_growth(zero, 0.2, square)}); }, "size field: is 0 at ("},
      {[&] { (void)limit_growth(uniform_size(1), 0, square); }, "growth of sizes: is 0"},
      {[&] { (void)refined(graph, {.size = size_by_function(zero, 1)}); }, "size field: is 0 at ("},
      {[&] { (void)refined(graph, {.area_at = spot(1, 0)}); }, "areas must be above 0"},
      {[&] { (void)refined(graph, {.area_at = spot(1, 1), .resolution = 1e-5}); }, "needs 1e+10 samples of the areas"},
      {[&] { (void)refined(graph, {.area_at = spot(1, 1), .resolution = -1}); }, "resolution: is -1"},
  };
  for (const auto& [act, part] : cases) EXPECT_NE(message_of(act).find(part), std::string::npos) << message_of(act);
}

}  // namespace
}  // namespace barrio::delaunay
