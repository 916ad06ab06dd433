#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/delaunay/size_field.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

// All contents of a graph must be found again in the triangulation and its files.

namespace barrio::delaunay {
namespace {

double area_of(const Triangulation& mesh, std::uint32_t region) {
  double sum = 0.0;
  for (const Triangle& t : mesh.triangles.items())
    if (t.is_used() && t.region() == region) sum += mesh.area(t);
  return sum;
}

double area_of(const Triangulation& mesh, double attribute) {
  double sum = 0.0;
  for (std::uint32_t r = 0; r < mesh.regions.size(); ++r)
    if (mesh.regions[r].attribute == attribute) sum += area_of(mesh, r);
  return sum;
}

/// Write a triangulation as Triangle's files, and triangulate the written .poly file.
Triangulation from_written_files(const Triangulation& mesh, const std::string& stem) {
  write_triangle_files(mesh, stem);
  return triangulate(read_poly(stem + ".poly").graph);
}

/// Nine squares, one in another: land, water, land, ...; every second one is a hole, others are regions.
PlanarGraph rings() {
  PlanarGraph graph;
  for (int i = 0; i < 9; ++i) {
    const double r = 9.0 - i;
    const auto first = static_cast<std::int32_t>(graph.points.size());
    graph.points.insert(graph.points.end(), {{-r, -r}, {r, -r}, {r, r}, {-r, r}});
    for (std::int32_t k = 0; k < 4; ++k) graph.segments.push_back({{first + k, first + (k + 1) % 4}, i});
    const Point inside{r - 0.5, 0.0};
    if (i % 2 == 1)
      graph.holes.push_back(inside);
    else
      graph.regions.push_back({.place = inside, .attribute = i + 0.5, .max_area = i == 2 ? 0.1 : 0.0});
  }
  return graph;
}

TEST(Contents, WrittenPolyFilesHaveHolesAndRegions) {
  const PlanarGraph graph = rings();
  Triangulation mesh = triangulate(graph);
  refine(mesh);
  compact(mesh);
  const Triangulation again = from_written_files(mesh, barrio::test::scratch() / "rings");
  EXPECT_EQ(again.n_triangles(), mesh.n_triangles());
  for (const PlanarGraph::RegionSeed& seed : graph.regions) {
    EXPECT_NEAR(area_of(again, seed.attribute), area_of(mesh, seed.attribute), 1e-12);
    EXPECT_GT(area_of(again, seed.attribute), 0.9);
  }
  EXPECT_TRUE(
      std::ranges::any_of(again.regions, [](const Region& r) { return r.attribute == 2.5 && r.max_area == 0.1; }));
  // and the bound of a region is back when the triangles are refined
  std::vector<std::string> left_out;
  const FlatMesh flat = read_ele(barrio::test::scratch() / "rings.ele", left_out);
  const auto region = std::ranges::find(flat.regions, 2.5, &Region::attribute);
  ASSERT_NE(region, flat.regions.end());
  EXPECT_EQ(region->max_area, 0.1);
  EXPECT_TRUE(left_out.empty());
}

TEST(Contents, HolesThatTouchAndPartsInThem) {
  // two square holes that meet in a vertex, one with an island that touches its border, in a region of two parts
  PlanarGraph graph{
      .points = {
          {0, 0}, {10, 0}, {10, 10}, {0, 10}, {2, 2}, {5, 2}, {5, 5}, {2, 5}, {8, 5}, {8, 8}, {5, 8}, {3, 3}, {4, 2}}};
  const auto ring = [&](std::initializer_list<std::int32_t> points) {
    for (const std::int32_t* p = points.begin(); p != points.end(); ++p)
      graph.segments.push_back({{*p, p + 1 == points.end() ? *points.begin() : p[1]}, 1});
  };
  ring({0, 1, 2, 3});
  ring({4, 12, 5, 6, 7});
  ring({6, 8, 9, 10});
  ring({12, 11, 4});
  graph.holes = {{4.5, 4.5}, {6, 6}};
  graph.regions = {{.place = {1, 1}, .attribute = 3}, {.place = {3, 2.2}, .attribute = 3}};
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 0.5});
  compact(mesh);
  const Triangulation again = from_written_files(mesh, barrio::test::scratch() / "touching");
  EXPECT_EQ(again.n_triangles(), mesh.n_triangles());
  EXPECT_NEAR(area_of(again, 3.0), 100 - 9 - 9 + 1, 1e-12);
}

TEST(Contents, RandomGraphsComeBack) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const PlanarGraph graph = test::random_graph(random, static_cast<test::Hardness>(round % test::n_hardnesses));
    Triangulation mesh = triangulate(graph);
    refine(mesh, {.max_triangles = 20000});
    compact(mesh);
    const Triangulation again = from_written_files(mesh, barrio::test::scratch() / "random");
    ASSERT_EQ(again.n_triangles(), mesh.n_triangles()) << "seed " << seed << ", round " << round;
  }
}

TEST(Contents, AFilledHullComesBack) {
  PlanarGraph graph{.points = {{0, 0}, {4, 0}, {5, 3}, {1, 4}, {2, 2}}, .segments = {{{0, 4}, 7}}};
  Triangulation mesh = triangulate(graph, {.fills_hull = true});
  compact(mesh);
  const Triangulation again = from_written_files(mesh, barrio::test::scratch() / "hull");
  EXPECT_EQ(again.n_triangles(), mesh.n_triangles());
}

TEST(Contents, OneNumberOfARegionIsAttributeAndArea) {
  const std::string path = barrio::test::scratch() / "one.poly";
  std::ofstream(path) << "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n1\n1 .5 .5 0.01\n";
  const PolyFile file = read_poly(path);
  EXPECT_EQ(file.graph.regions.at(0).attribute, 0.01);
  EXPECT_EQ(file.graph.regions.at(0).max_area, 0.01);
  std::ofstream(path) << "3 2 0 0\n1 0 0\n2 1 0\n3 1 1\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n2\n1 .5 .2 -7\n2 .6 .2 5 -1\n";
  const PolyFile other = read_poly(path);
  EXPECT_EQ(other.graph.regions.at(0).attribute, -7);
  EXPECT_EQ(other.graph.regions.at(0).max_area, 0);
  EXPECT_EQ(other.graph.regions.at(1).max_area, 0);
}

TEST(Contents, DroppedSegmentsAreListed) {
  PlanarGraph graph = unit_square(1);
  graph.points.insert(
      graph.points.end(),
      {{2, 0}, {3, 0.1}, {0.4, 0.4}, {0.6, 0.4}, {0.5, 0.6}, {0.5, 0.45}, {1.5, 0.5}, {0.9, 0.5}, {1, 0.5}});
  const auto first = static_cast<std::int32_t>(graph.segments.size());
  graph.segments.push_back({{4, 5}, 1});  // outside
  graph.segments.push_back({{6, 7}, 2});  // a hole
  graph.segments.push_back({{7, 8}, 2});
  graph.segments.push_back({{8, 6}, 2});
  graph.segments.push_back({{9, 8}, 3});    // in the hole
  graph.segments.push_back({{11, 10}, 4});  // in part outside, through a point on the border
  graph.segments.push_back({{6, 7}, 5});    // again
  graph.holes = {{0.45, 0.45}};
  Triangulation mesh = triangulate(graph);
  EXPECT_EQ(dropped_segments(mesh), (std::vector{first, first + 4, first + 5}));
  refine(mesh, {.max_area = 0.01});
  compact(mesh);
  EXPECT_EQ(dropped_segments(mesh), (std::vector{first, first + 4, first + 5}));
  EXPECT_TRUE(dropped_segments(triangulate(unit_square(3))).empty());
}

TEST(Contents, SegmentsKeepTheNumbersOfTheFile) {
  const std::string path = barrio::test::scratch() / "numbers.poly";
  std::ofstream(path) << "3 2 0 0\n1 0 0\n2 1 0\n3 1 1\n3 0\n7 1 2\n5 2 3\nx 3 1\n0\n";
  EXPECT_EQ(read_poly(path).segment_numbers, (std::vector<std::int64_t>{7, 5, 3}));
}

TEST(Contents, NamesOfFeaturesAndMarkersStay) {
  const std::string path = barrio::test::scratch() / "names.geojson";
  std::ofstream(path) << R"({"type": "FeatureCollection", "features": [
    {"type": "Feature", "properties": {"NAME": "Øst & Vest", "x": 1}, "geometry":
      {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,1],[0,0]]]}},
    {"type": "Feature", "properties": {"name": null}, "geometry":
      {"type": "Polygon", "coordinates": [[[1,0],[2,0],[2,1],[1,1],[1,0]]]}}]})";
  GeoJsonFile file = read_geojson(path);
  EXPECT_EQ(file.left_out, (std::vector<std::string>{"property name", "property x"}));
  file.graph.marker_names = {{1, "coast"}};
  Triangulation mesh = triangulate(file.graph);
  compact(mesh);
  ASSERT_EQ(mesh.regions.size(), 3U);
  EXPECT_EQ(mesh.regions[1].name, "Øst & Vest");
  EXPECT_EQ(mesh.regions[2].name, "");
  std::vector<std::string> left_out;
  Triangulation whole = triangulate(to_graph(to_flat_mesh(mesh), left_out));
  EXPECT_EQ(whole.regions[1].name, "Øst & Vest");
  ASSERT_EQ(whole.marker_names.size(), 1U);
  EXPECT_EQ(whole.marker_names[0].name, "coast");
}

TEST(Contents, AreaFiles) {
  const std::string path = barrio::test::scratch() / "mesh.area";
  std::ofstream(path) << "# areas\n3\n1 0.5\n2 -1 # none\n\n3 1e-3\n";
  EXPECT_EQ(read_areas(path, 3), (std::vector{0.5, -1.0, 1e-3}));
  const auto message = [&](const char* text) -> std::string {
    std::ofstream(path) << text;
    try {
      (void)read_areas(path, 3);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message("4\n").find("mesh.area:1: has areas of 4 triangles, but the mesh has 3"), std::string::npos);
  EXPECT_NE(message("3\n1 0.5\n2\n").find("mesh.area:3: the max area of a triangle is missing"), std::string::npos);
  EXPECT_NE(message("3\n1 0.5\n2 x\n").find("mesh.area:3"), std::string::npos);
  EXPECT_NE(message("3\n1 0.5\n").find("the file ends before its areas"), std::string::npos);
  EXPECT_NE(message("").find("the file ends before its areas"), std::string::npos);
}

TEST(Contents, SizesGrowAroundRegions) {
  PlanarGraph graph = rings();
  graph.holes.clear();
  Triangulation mesh = triangulate(graph);
  const SizeField field = size_near_regions(mesh, 0.25);
  const double own = size_of_area(0.1);
  EXPECT_NEAR(field({0, 6}), own, 1e-12);  // on the border of the region
  EXPECT_NEAR(field({0, 5}), own + 0.25, 1e-12);
  EXPECT_NEAR(field({0, 8}), own + 0.25, 1e-12);
  Triangulation steep = triangulate(graph);
  refine(steep);
  refine(mesh, {.size = field});
  EXPECT_GT(mesh.n_triangles(), steep.n_triangles());
  EXPECT_FALSE(size_near_regions(triangulate(unit_square(1)), 0.25));
}

}  // namespace
}  // namespace barrio::delaunay
