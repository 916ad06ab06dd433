#include "barrio/delaunay/flat_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

/// Return the triangles by the positions of their corners and their region.
std::set<std::pair<std::array<Point, 3>, std::int32_t>> triangles_of(const Triangulation& mesh) {
  std::set<std::pair<std::array<Point, 3>, std::int32_t>> all;
  for (const Triangle& t : mesh.triangles.items()) {
    std::array<Point, 3> corners{mesh.point(t.vertices[0]), mesh.point(t.vertices[1]), mesh.point(t.vertices[2])};
    std::ranges::sort(corners);
    all.emplace(corners, mesh.regions[t.region()].number);
  }
  return all;
}

/// Make a graph with regions on both sides of a wall, and a hole.
PlanarGraph two_rooms() {
  PlanarGraph graph{.points = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {0, 1}},
                    .segments = {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 2}, {{3, 4}, 3}, {{4, 5}, 3}, {{5, 0}, 4}}};
  graph.segments.push_back({{1, 4}, 9});
  add_circle(graph, {0.5, 0.5}, 0.2, 12, 7);
  graph.holes.push_back({0.5, 0.5});
  graph.regions.push_back({.place = {0.1, 0.1}, .attribute = 2.5, .max_area = 0.01, .number = 30});
  graph.regions.push_back({.place = {1.5, 0.5}, .attribute = -1, .max_area = 0.002, .number = 10});
  return graph;
}

TEST(FlatMesh, ATriangulationThatComesBackIsTheSame) {
  std::mt19937_64 random(barrio::test::seed());
  for (int i = 0; i < 30; ++i) {
    PlanarGraph graph = i == 0 ? two_rooms() : test::random_graph(random, static_cast<test::Hardness>(i % 6));
    Triangulation mesh = triangulate(graph);
    refine(mesh, {.min_angle = 15});
    compact(mesh);
    FlatMesh flat = to_flat_mesh(mesh);
    // in any order, in any orientation, with an unused vertex
    std::ranges::shuffle(flat.triangles, random);
    if (i == 0) flat.triangles = to_flat_mesh(mesh).triangles;  // triangle_regions has their order
    for (auto& triangle : flat.triangles)
      if (random() % 2 == 0) std::swap(triangle[0], triangle[1]);
    if (i > 0) flat.triangle_regions.clear();
    flat.points.push_back({0.123, 0.456});
    std::vector<std::string> left_out;
    Triangulation again = triangulate(to_graph(flat, left_out));
    validate(again);
    EXPECT_EQ(left_out, std::vector<std::string>{"1 vertices without triangles"});
    EXPECT_EQ(compact(again), 0);
    EXPECT_EQ(triangles_of(again), triangles_of(mesh)) << "graph " << i;
  }
}

TEST(FlatMesh, RefinesOnWithRegionsHolesAndMarkers) {
  const PlanarGraph graph = two_rooms();
  Triangulation coarse = triangulate(graph);
  refine(coarse);
  compact(coarse);
  std::vector<std::string> left_out;
  const PlanarGraph of_coarse = to_graph(to_flat_mesh(coarse), left_out);
  EXPECT_TRUE(left_out.empty());
  Triangulation fine = triangulate(of_coarse);
  refine(fine, {.max_area = 0.005});
  validate(fine);
  compact(fine);
  for (const PlanarGraph* asked : {&graph, &of_coarse}) {
    const Audit found = audit(audited(fine), *asked, {.min_angle = 20, .max_area = 0.005});
    for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
  }
  EXPECT_EQ(fine.regions[1].number, 30);
  EXPECT_EQ(fine.regions[2].attribute, -1);
  std::set<std::int32_t> markers;
  for (const Segment& segment : fine.segments) markers.insert(segment.marker);
  EXPECT_EQ(markers, (std::set<std::int32_t>{1, 2, 3, 4, 7, 9}));
}

std::string complaint(const FlatMesh& mesh) {
  std::vector<std::string> left_out;
  try {
    static_cast<void>(triangulate(to_graph(mesh, left_out)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "none";
}

TEST(FlatMesh, RefusesWhatIsNoMesh) {
  const FlatMesh square{.points = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0}}, .triangles = {{0, 1, 2}, {0, 2, 3}}};
  EXPECT_EQ(complaint(square), "none");
  const auto with = [&](std::array<std::int32_t, 3> triangle) {
    FlatMesh mesh = square;
    mesh.triangles.push_back(triangle);
    return complaint(mesh);
  };
  EXPECT_NE(with({0, 4, 1}).find("has no area"), std::string::npos) << with({0, 4, 1});
  EXPECT_NE(with({0, 1, 3}).find("two triangles on one side"), std::string::npos) << with({0, 1, 3});
  EXPECT_NE(with({0, 1, 7}).find("has the vertex 7, but there are 5"), std::string::npos) << with({0, 1, 7});
  FlatMesh overlapping{.points = {{0, 0}, {3, 0}, {0, 3}, {1, 0.5}, {0.5, 1}, {0.6, 0.6}},
                       .triangles = {{0, 1, 2}, {3, 4, 5}},
                       .regions = {{}, {}},
                       .triangle_regions = {1, 2}};
  EXPECT_NE(complaint(overlapping).find("segments around one part"), std::string::npos) << complaint(overlapping);
}

TEST(Sides, HaveToCloseAndToAgree) {
  PlanarGraph graph = unit_square(1);
  graph.regions.push_back({});
  graph.sides.assign(4, {1, PlanarGraph::outside});
  const Triangulation mesh = triangulate(graph);
  EXPECT_EQ(mesh.n_triangles(), 2);
  const auto complain = [](const PlanarGraph& of) {
    try {
      static_cast<void>(triangulate(of));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  PlanarGraph turned = graph;
  turned.sides[2] = {PlanarGraph::outside, 1};
  // one triangle is asked for both, and the other has only the outside beyond its side: either may be found first
  EXPECT_TRUE(complain(turned).find("is both outside and in region 1") != std::string::npos ||
              complain(turned).find("has only the outside on this side, but names it in region 1") != std::string::npos)
      << complain(turned);
  PlanarGraph open = graph;
  open.segments.pop_back();
  open.sides.pop_back();
  EXPECT_NE(complain(open).find("open to the outside"), std::string::npos) << complain(open);
  PlanarGraph twice = graph;
  twice.segments.push_back({{0, 1}, 0});
  twice.sides.push_back({PlanarGraph::no_region, PlanarGraph::outside});
  EXPECT_NE(complain(twice).find("is there twice"), std::string::npos) << complain(twice);
  PlanarGraph few = graph;
  few.sides.pop_back();
  EXPECT_NE(complain(few).find("not as many as segments"), std::string::npos) << complain(few);
}

TEST(Attributes, AreLinearBetweenPoints) {
  std::mt19937_64 random(barrio::test::seed());
  for (int i = 0; i < 12; ++i) {
    PlanarGraph graph = i == 0 ? two_rooms() : test::random_graph(random, static_cast<test::Hardness>(i % 6));
    graph.attributes = {{"height", 1}, {"flow", 2}};
    const auto values = [](const Point& p) { return std::array{3 * p[0] - 2 * p[1] + 1, p[0] + p[1], 7.0}; };
    for (const Point& p : graph.points) {
      const auto all = values(p);
      graph.attribute_values.insert(graph.attribute_values.end(), all.begin(), all.end());
    }
    Triangulation mesh = triangulate(graph);
    refine(mesh, {.min_angle = 15, .max_area = 0.01});
    compact(mesh);
    ASSERT_EQ(mesh.attribute_values.size(), 3 * mesh.points.size());
    for (std::size_t v = 0; v < mesh.points.size(); ++v)
      for (std::size_t k = 0; k < 3; ++k)
        ASSERT_NEAR(mesh.attribute_values[3 * v + k], values(mesh.points[v])[k], 1e-12) << "graph " << i;
  }
}

TEST(Attributes, StayBetweenThoseOfPoints) {
  PlanarGraph graph = unit_square(1);
  graph.attributes = {{"step", 1}};
  graph.attribute_values = {0, 0, 1, 1};
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 1e-4});
  compact(mesh);
  for (const double value : mesh.attribute_values.items()) {
    EXPECT_GE(value, 0.0);
    EXPECT_LE(value, 1.0);
  }
  graph.attribute_values.pop_back();
  EXPECT_THROW(static_cast<void>(triangulate(graph)), Error);
}

}  // namespace
}  // namespace barrio::delaunay
