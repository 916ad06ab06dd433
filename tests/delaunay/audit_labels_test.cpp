#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

std::string fault_texts(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options = {}) {
  std::string names;
  for (const Audit::Check& check : audit(mesh, graph, options).checks)
    if (!check.is_met) names += (names.empty() ? "" : ", ") + check.name + ": " + check.text;
  return names;
}

std::string fault_names(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options = {}) {
  std::string names;
  for (const Audit::Check& check : audit(mesh, graph, options).checks)
    if (!check.is_met) names += check.name + ", ";
  return names;
}

AuditedMesh mesh_of(const PlanarGraph& graph, const RefineOptions& options = {}, bool fills_hull = false) {
  Triangulation mesh = triangulate(graph, {.fills_hull = fills_hull});
  refine(mesh, options);
  compact(mesh);
  return audited(mesh);
}

/// Make two rooms with a hole, with labels of all kinds.
PlanarGraph labelled_rooms() {
  PlanarGraph graph{.points = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {0, 1}},
                    .segments = {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 2}, {{3, 4}, 3}, {{4, 5}, 3}, {{5, 0}, 4}}};
  graph.segments.push_back({{1, 4}, 9});
  add_circle(graph, {0.5, 0.5}, 0.2, 12, 7);
  graph.holes.push_back({0.5, 0.5});
  graph.regions.push_back({.place = {0.1, 0.1}, .attribute = 2.5, .number = 30});
  graph.regions.push_back({.place = {1.5, 0.5}, .attribute = -1, .number = 10});
  graph.point_markers.assign(graph.points.size(), 0);
  for (std::size_t i = 0; i < 6; ++i) graph.point_markers[i] = 100 + static_cast<std::int32_t>(i);
  graph.attributes = {{"depth", 1}, {"wind", 2}};
  for (const Point& p : graph.points)
    graph.attribute_values.insert(graph.attribute_values.end(), {p[0] * p[0], 1 - p[1], 3 * p[0] + p[1]});
  return graph;
}

/// Each test changes one thing of a sound mesh: an audit must find it.
class Mutation : public testing::Test {
 protected:
  Mutation() : graph_(labelled_rooms()), mesh_(mesh_of(graph_, options_)) {}

  [[nodiscard]] std::string names() const { return fault_names(mesh_, graph_, audit_); }
  [[nodiscard]] std::string faults() const { return fault_texts(mesh_, graph_, audit_); }
  void expect_text(const std::string& part) const { EXPECT_NE(faults().find(part), std::string::npos) << faults(); }

  /// Return whether each vertex lies on a segment.
  [[nodiscard]] std::vector<char> on_segments() const {
    std::vector<char> found(mesh_.points.size(), 0);
    for (const auto& edge : mesh_.edges)
      for (const std::int32_t v : edge) found[static_cast<std::size_t>(v)] = 1;
    return found;
  }
  [[nodiscard]] std::size_t free_vertex() const {
    const std::vector<char> found = on_segments();
    return std::ranges::find(found, 0) - found.begin();
  }
  /// Return a vertex that was added on the lower side.
  [[nodiscard]] std::size_t boundary_vertex() const {
    for (std::size_t v = graph_.points.size(); v < mesh_.points.size(); ++v)
      if (mesh_.points[v][1] == 0.0) return v;
    return 0;
  }

  RefineOptions options_{.min_angle = 20, .max_area = 0.001};
  AuditOptions audit_{.min_angle = 20, .max_area = 0.001};
  PlanarGraph graph_;
  AuditedMesh mesh_;
};

TEST_F(Mutation, NoneHasNoFault) { EXPECT_EQ(faults(), ""); }

TEST_F(Mutation, ATriangleGone) {
  const std::vector<char> found = on_segments();
  const auto is_free = [&](const auto& t) {
    return std::ranges::none_of(t, [&](std::int32_t v) { return found[v] != 0; });
  };
  const auto at = std::ranges::find_if(mesh_.triangles, is_free);
  ASSERT_NE(at, mesh_.triangles.end());
  mesh_.triangle_regions.erase(mesh_.triangle_regions.begin() + (at - mesh_.triangles.begin()));
  mesh_.triangles.erase(at);
  EXPECT_EQ(names(), "boundary, area, ");
}

TEST_F(Mutation, ATriangleTwice) {
  mesh_.triangles.push_back(mesh_.triangles[3]);
  mesh_.triangle_regions.push_back(mesh_.triangle_regions[3]);
  EXPECT_EQ(names(), "conformity, ");
}

TEST_F(Mutation, ATriangleReversed) {
  std::swap(mesh_.triangles[5][0], mesh_.triangles[5][1]);
  EXPECT_EQ(names(), "orientation, conformity, ");
}

TEST_F(Mutation, AVertexMoved) {
  // by most of an edge: a shorter way may leave all circles empty
  const std::vector<char> found = on_segments();
  const std::vector<Point> points = mesh_.points;
  for (std::size_t v = 0; v < points.size(); v += 7) {
    if (found[v] != 0) continue;
    mesh_.points[v][0] += 4e-2;
    EXPECT_NE(names(), "") << "vertex " << v;
    mesh_.points[v] = points[v];
  }
}

TEST_F(Mutation, ABoundaryVertexMoved) {
  const std::size_t v = boundary_vertex();
  ASSERT_GT(v, 0U);
  mesh_.points[v][1] -= 1e-9;
  EXPECT_NE(names().find("boundary, area, "), std::string::npos) << names();
}

TEST_F(Mutation, AnInputPointMovedByOneUlp) {
  mesh_.points[3][0] = std::nextafter(2.0, 3.0);
  EXPECT_NE(names().find("boundary, area, "), std::string::npos) << names();
}

TEST_F(Mutation, TheAttributeOfARegion) {
  mesh_.regions[1].attribute = 7.25;
  EXPECT_EQ(names(), "region labels, ");
  expect_text("has the attribute 7.25, its region -1");
}

TEST_F(Mutation, TheRegionOfATriangle) {
  mesh_.triangle_regions[4] = mesh_.triangle_regions[4] == 1 ? 2 : 1;
  EXPECT_EQ(names(), "region labels, ");
  mesh_.triangle_regions[4] = 0;
  EXPECT_EQ(names(), "region labels, ");
  graph_.regions.clear();  // what the graph does not name must have no attribute
  mesh_.triangle_regions.assign(mesh_.triangles.size(), 1);
  EXPECT_EQ(names(), "region labels, ");
}

TEST_F(Mutation, TheNumberOfARegion) {
  mesh_.regions[0].number = 31;
  EXPECT_EQ(names(), "region labels, ");
  expect_text("has the region 31, not 30");
  mesh_.regions[0].number = 0;  // as in formats without numbers
  EXPECT_EQ(names(), "");
}

TEST_F(Mutation, TheMarkerOfASegment) {
  const auto at = std::ranges::find(mesh_.edge_markers, 9);
  ASSERT_NE(at, mesh_.edge_markers.end());
  *at = 8;
  EXPECT_EQ(names(), "markers, ");
  expect_text("has the marker 8, its segment 9");
}

TEST_F(Mutation, AnEdgeOnNoSegment) {
  const std::vector<char> found = on_segments();
  const auto& t = *std::ranges::find_if(mesh_.triangles, [&](const auto& row) {
    return std::ranges::none_of(row, [&](std::int32_t v) { return found[v] != 0; });
  });
  mesh_.edges.push_back({t[0], t[1]});
  mesh_.edge_markers.push_back(0);
  EXPECT_EQ(names(), "markers, ");
  expect_text("is listed, but lies on no segment");
}

TEST_F(Mutation, TheMarkerOfAPoint) {
  mesh_.point_markers[3] = 99;
  EXPECT_EQ(names(), "point markers, ");
  expect_text("the point at (2, 1) has the marker 99, not 103");
}

TEST_F(Mutation, TheMarkerOfAnAddedVertex) {
  mesh_.point_markers[free_vertex()] = 1;
  EXPECT_EQ(names(), "point markers, ");
  expect_text("has the marker 1, but no edge there has it");
}

TEST_F(Mutation, AnAttributeOfAPoint) {
  mesh_.attribute_values[3 * 4 + 1] = std::nextafter(mesh_.attribute_values[3 * 4 + 1], 9.0);
  EXPECT_EQ(names(), "attributes, ");
  expect_text("attribute wind at (1, 1) is ");
}

TEST_F(Mutation, AnAttributeOutsideOfTheRange) {
  mesh_.attribute_values[3 * free_vertex()] = 4.0;  // the largest one
  EXPECT_EQ(names(), "");
  mesh_.attribute_values[3 * free_vertex()] = std::nextafter(4.0, 5.0);
  EXPECT_EQ(names(), "attributes, ");
  expect_text("attribute depth");
  mesh_.attribute_values[3 * free_vertex()] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(names(), "attributes, ");
}

TEST_F(Mutation, AnAttributeOnASegment) {
  mesh_.attribute_values[3 * boundary_vertex() + 2] += 1e-9;
  EXPECT_EQ(names(), "attributes, ");
  expect_text("between the ends of its segment");
}

TEST_F(Mutation, LabelsThatAreNotGivenAreNotCompared) {
  mesh_.edge_markers.clear();
  mesh_.point_markers.clear();
  mesh_.triangle_regions.clear();
  mesh_.attributes.clear();
  mesh_.attribute_values.clear();
  std::string texts;
  for (const Audit::Check& check : audit(mesh_, graph_, audit_).checks) {
    EXPECT_TRUE(check.is_met) << check.name;
    if (check.text.starts_with("not compared")) texts += check.name + ", ";
  }
  EXPECT_EQ(texts, "markers, point markers, region labels, attributes, ");
}

TEST_F(Mutation, LabelsThatDoNotFitTheirRows) {
  const AuditedMesh sound = mesh_;
  const auto expect = [&](const std::string& text) {
    EXPECT_EQ(faults(), "rows: " + text);
    mesh_ = sound;
  };
  mesh_.edge_markers.pop_back();
  expect("markers are not as many as edges");
  mesh_.point_markers.pop_back();
  expect("markers are not as many as vertices");
  mesh_.triangle_regions.pop_back();
  expect("regions are not as many as triangles");
  mesh_.triangle_regions[0] = 3;
  expect("a triangle has a region out of range");
  mesh_.attribute_values.pop_back();
  expect("attributes are not as many as vertices need");
}

TEST_F(Mutation, LabelsInFilesOfTriangle) {
  Triangulation mesh = triangulate(graph_);
  refine(mesh, options_);
  compact(mesh);
  const std::string stem = barrio::test::scratch() / "labelled";
  write_triangle_files(mesh, stem);
  mesh_ = read_audited(stem + ".ele");
  EXPECT_EQ(faults(), "");
  EXPECT_FALSE(mesh_.triangle_regions.empty());
  mesh_.regions[0].attribute += 1;
  EXPECT_EQ(names(), "region labels, ");
  mesh_.regions[0].attribute -= 1;
  mesh_.point_markers[boundary_vertex()] = 2;
  EXPECT_EQ(names(), "point markers, ");
  mesh_.point_markers[boundary_vertex()] = 1;
  mesh_.edge_markers[0] += 1;
  EXPECT_EQ(names(), "markers, ");
}

TEST(AuditOfMarkers, ASegmentWithoutOneMayHaveOneAtTheBoundary) {
  PlanarGraph graph = labelled_rooms();
  for (PlanarGraph::Edge& segment : graph.segments) segment.marker = 0;
  AuditedMesh mesh = mesh_of(graph);
  EXPECT_EQ(fault_texts(mesh, graph), "");
  const auto set_markers = [&](bool everywhere) {
    for (std::size_t e = 0; e < mesh.edges.size(); ++e) {
      const auto x = [&](std::size_t i) { return mesh.points[static_cast<std::size_t>(mesh.edges[e][i])][0]; };
      const bool is_inside = x(0) == 1.0 && x(1) == 1.0;  // on the wall
      mesh.edge_markers[e] = everywhere || !is_inside ? 1 : 0;
    }
  };
  set_markers(false);
  EXPECT_EQ(fault_texts(mesh, graph), "");
  set_markers(true);
  EXPECT_EQ(fault_names(mesh, graph), "markers, ");
}

TEST(AuditOfMarkers, SegmentsThatCoincideHaveEither) {
  PlanarGraph graph = labelled_rooms();
  graph.segments.push_back({{2, 3}, 55});
  AuditedMesh mesh = mesh_of(graph);
  EXPECT_EQ(fault_texts(mesh, graph), "");
  std::ranges::replace(mesh.edge_markers, 2, 55);
  EXPECT_EQ(fault_texts(mesh, graph), "");
  std::ranges::replace(mesh.edge_markers, 55, 54);
  EXPECT_EQ(fault_names(mesh, graph), "markers, ");
}

/// Make a graph with a dent, with lone segments, and with points on the hull between its corners.
PlanarGraph open_graph() {
  return {.points = {{0, 0}, {4, 0}, {8, 0}, {8, 5}, {2, 6}, {0, 3}, {3, 1}, {5, 3}, {6, 0.25}},
          .segments = {{{6, 7}, 5}, {{0, 1}, 2}, {{7, 8}, 4}}};
}

TEST(AuditOfHulls, PassesTheFilledHull) {
  const PlanarGraph graph = open_graph();
  const AuditedMesh mesh = mesh_of(graph, {.min_angle = 20, .max_area = 0.5}, true);
  EXPECT_EQ(fault_texts(mesh, graph, {.min_angle = 20, .max_area = 0.5, .fills_hull = true}), "");
  EXPECT_NE(fault_texts(mesh, graph, {.min_angle = 20, .max_area = 0.5}).find("boundary"), std::string::npos);
  // Triangle's marker of the hull
  AuditedMesh marked = mesh;
  std::ranges::replace(marked.edge_markers, 0, 1);
  EXPECT_EQ(fault_texts(marked, graph, {.fills_hull = true}), "");
}

TEST(AuditOfHulls, FindsAHullThatIsNotFilled) {
  PlanarGraph graph = labelled_rooms();
  graph.holes.clear();
  graph.points[1] = {1, 0.2};  // a dent
  const AuditedMesh mesh = mesh_of(graph);
  EXPECT_EQ(fault_texts(mesh, graph), "");
  EXPECT_EQ(fault_texts(mesh, graph, {.fills_hull = true}),
            "segments: a side of the convex hull is missing from (0, 0) to (2, 0)");
  EXPECT_EQ(fault_texts(mesh_of(graph, {}, true), graph, {.fills_hull = true}), "");
}

TEST(AuditOfHulls, FindsAnEatenCornerAndPointsOnTheHull) {
  PlanarGraph graph;
  graph.points = {{0, 0}, {4, 0}, {8, 0}, {8, 5}, {2, 6}, {0, 3}, {3, 1}, {5, 3}};
  const AuditedMesh mesh = mesh_of(graph, {.min_angle = 0});
  ASSERT_EQ(mesh.points.size(), graph.points.size());
  EXPECT_EQ(fault_texts(mesh, graph), "");
  AuditedMesh eaten = mesh;
  const auto has_corner = [](const auto& t) { return std::ranges::find(t, 4) != t.end(); };
  std::erase_if(eaten.triangles, has_corner);
  std::erase_if(eaten.edges, has_corner);
  eaten.edge_markers.clear();
  EXPECT_NE(fault_texts(eaten, graph).find("boundary: triangles end"), std::string::npos) << fault_texts(eaten, graph);
  graph.points.push_back({6, 0});  // on a side, but no vertex
  EXPECT_EQ(fault_texts(mesh, graph), "points: point 8 at (6, 0) is missing");
}

/// Tell whether all points lie on one line.
bool is_flat(const PlanarGraph& graph) {
  return std::ranges::all_of(
      graph.points, [&](const Point& p) { return geometry::orient2d(graph.points[0], graph.points[1], p) == 0; });
}

TEST(AuditOfHulls, PointsAloneHaveSmallAnglesAtCorners) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 60; ++round) {
    PlanarGraph graph;
    std::set<Point> known;
    const bool is_lattice = round % 3 == 0;
    while (known.size() < 3 + static_cast<std::size_t>(round)) {
      Point p{uniform(random), uniform(random) * (round % 2 == 0 ? 1 : 0.1)};
      if (is_lattice) p = {std::floor(p[0] * 12), std::floor(p[1] * 12)};
      if (known.insert(p).second) graph.points.push_back(p);
      if (is_lattice && known.size() > 12) break;
    }
    if (is_flat(graph)) continue;
    Triangulation mesh = triangulate(graph);
    const RefineReport report = refine(mesh, {.min_angle = 20, .max_triangles = 100000});
    if (!report.is_complete) continue;
    compact(mesh);
    EXPECT_EQ(fault_texts(audited(mesh), graph, {.min_angle = 20}), "") << "seed " << seed << ", round " << round;
  }
}

TEST(AuditOfHulls, SmallAnglesAlongOneLineAreFaults) {
  // a side of the hull in two segments, which meet, but in no small angle
  PlanarGraph graph;
  graph.points = {{0, 0}, {3.9, 0}, {4, 0}, {8, 0}, {4, 8}};
  graph.segments = {{{0, 2}, 1}, {{2, 3}, 1}};
  const AuditedMesh mesh = mesh_of(graph, {.min_angle = 0}, true);
  EXPECT_EQ(fault_names(mesh, graph, {.fills_hull = true}), "");
  EXPECT_EQ(fault_names(mesh, graph, {.min_angle = 20, .fills_hull = true}), "angles, ");
}

}  // namespace
}  // namespace barrio::delaunay
