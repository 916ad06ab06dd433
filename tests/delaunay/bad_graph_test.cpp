#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"

namespace barrio::delaunay {
namespace {

std::string complaint(const PlanarGraph& graph) {
  try {
    static_cast<void>(triangulate(graph));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "none";
}

PlanarGraph with_point(const Point& p) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back(p);
  return graph;
}

TEST(BadGraph, CrossingSegmentsAreNamedByTheirPlace) {
  PlanarGraph graph = unit_square(1);
  graph.segments.push_back({{0, 2}, 0});
  graph.segments.push_back({{1, 3}, 0});
  const std::string text = complaint(graph);
  EXPECT_NE(text.find("cross at (0.5, 0.5)"), std::string::npos) << text;
}

TEST(BadGraph, OpenBoundary) {
  PlanarGraph graph = unit_square(1);
  graph.segments.pop_back();
  EXPECT_NE(complaint(graph).find("enclose nothing"), std::string::npos) << complaint(graph);
}

TEST(BadGraph, PointsThatAreNone) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(complaint(with_point({nan, 0})).find("point 4"), std::string::npos);
  EXPECT_NE(complaint(with_point({1e300, 0})).find("1e+300"), std::string::npos);
  EXPECT_NE(complaint(with_point({0, 1e-300})).find("1e-300"), std::string::npos);
  EXPECT_NE(complaint(with_point({1, 1})).find("points 2 and 4: are both at (1, 1)"), std::string::npos)
      << complaint(with_point({1, 1}));
}

TEST(BadGraph, NoArea) {
  PlanarGraph graph;
  EXPECT_NE(complaint(graph).find("fewer than three"), std::string::npos);
  for (int i = 0; i < 5; ++i) graph.points.push_back({static_cast<double>(i), 2.0 * i});
  EXPECT_NE(complaint(graph).find("lie on one line"), std::string::npos);
}

TEST(BadGraph, SegmentsThatAreNone) {
  PlanarGraph graph = unit_square(1);
  graph.segments.push_back({{0, 9}, 0});
  EXPECT_NE(complaint(graph).find("segment 4"), std::string::npos);
  graph.segments.back() = {{2, 2}, 0};
  EXPECT_NE(complaint(graph).find("begins and ends in point 2"), std::string::npos);
}

TEST(BadGraph, HolesAndRegionsOutside) {
  PlanarGraph graph = unit_square(1);
  graph.holes.push_back({3, 3});
  EXPECT_NE(complaint(graph).find("hole (3, 3)"), std::string::npos);
  graph.holes = {{0.5, 0.5}};
  EXPECT_NE(complaint(graph).find("enclose nothing"), std::string::npos);
  graph.holes.clear();
  graph.regions.push_back({.place = {-1, 0.5}});
  EXPECT_NE(complaint(graph).find("region (-1, 0.5)"), std::string::npos);
}

TEST(BadGraph, OptionsThatCannotBe) {
  Triangulation mesh = triangulate(unit_square(1));
  EXPECT_THROW(refine(mesh, {.min_angle = 50}), Error);
  EXPECT_THROW(refine(mesh, {.max_area = std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(refine(mesh, {.area_at = [](const Point&) { return -1.0; }}), Error);
  validate(mesh);
}

TEST(BadGraph, PlacesOfHolesAndRegionsHaveTheRangeOfPoints) {
  PlanarGraph graph = unit_square(1);
  graph.regions.push_back({.place = {-5e-324, -5e-324}});
  EXPECT_NE(complaint(graph).find("region 0: has the coordinate -4.94066e-324"), std::string::npos) << complaint(graph);
  graph = unit_square(1);
  graph.holes.push_back({0.5, std::numeric_limits<double>::infinity()});
  EXPECT_NE(complaint(graph).find("hole 0: has the coordinate inf"), std::string::npos) << complaint(graph);
}

}  // namespace
}  // namespace barrio::delaunay
