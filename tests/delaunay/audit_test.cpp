#include "barrio/delaunay/audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"

namespace barrio::delaunay {
namespace {

/// An audit must find each kind of fault, so these tests make each.
class AuditTest : public testing::Test {
 protected:
  AuditTest() : graph_(pipe_section(40, 12)) {
    Triangulation mesh = triangulate(graph_);
    refine(mesh, options_);
    compact(mesh);
    mesh_ = audited(mesh);
  }
  /// Return the names of the failed checks.
  std::string faults(double min_angle = 20, double max_area = 0.01) const {
    std::string names;
    for (const Audit::Check& check : audit(mesh_, graph_, {.min_angle = min_angle, .max_area = max_area}).checks)
      if (!check.is_met) names += check.name + " ";
    return names;
  }

  RefineOptions options_{.min_angle = 20, .max_area = 0.01};
  PlanarGraph graph_;
  AuditedMesh mesh_;
};

TEST_F(AuditTest, PassesWhatIsSound) { EXPECT_EQ(faults(), ""); }

TEST_F(AuditTest, FindsATurnedTriangle) {
  std::swap(mesh_.triangles[5][0], mesh_.triangles[5][1]);
  EXPECT_EQ(faults(), "orientation conformity ");
}

TEST_F(AuditTest, FindsAMissingTriangle) {
  // an inner triangle: its edges become a loop on no segment
  const auto is_inside = [&](const std::array<std::int32_t, 3>& t) {
    return std::ranges::none_of(mesh_.edges, [&](const std::array<std::int32_t, 2>& edge) {
      return std::ranges::find(t, edge[0]) != t.end() || std::ranges::find(t, edge[1]) != t.end();
    });
  };
  mesh_.triangles.erase(std::ranges::find_if(mesh_.triangles, is_inside));
  EXPECT_EQ(faults(), "boundary area ");
}

TEST_F(AuditTest, FindsATriangleTwice) {
  mesh_.triangles.push_back(mesh_.triangles[3]);
  EXPECT_EQ(faults(), "conformity ");
}

TEST_F(AuditTest, FindsAMovedInputPoint) {
  mesh_.points[0][0] += 1e-9;
  EXPECT_EQ(faults(), "points segments boundary area markers ");
}

TEST_F(AuditTest, FindsAVertexWithoutTriangles) {
  mesh_.points.push_back({0.1, 0.1});
  EXPECT_EQ(faults(), "euler ");
}

TEST_F(AuditTest, FindsARowThatIsNone) {
  mesh_.triangles[0][0] = static_cast<std::int32_t>(mesh_.points.size());
  EXPECT_EQ(faults(), "rows ");
}

TEST_F(AuditTest, FindsBoundsThatAreNotMet) {
  EXPECT_EQ(faults(33), "angles ");
  EXPECT_EQ(faults(20, 0.001), "areas ");
}

TEST_F(AuditTest, FindsAFilledHole) {
  graph_.holes.push_back({0, 0});
  EXPECT_EQ(faults(), "holes ");
}

TEST_F(AuditTest, FindsAMissingSegmentAndPoint) {
  graph_.points.push_back({0.01, 0.02});
  EXPECT_EQ(faults(), "points ");
  graph_.points.back() = graph_.points[0];
  graph_.segments.push_back({{0, 20}, 1});
  EXPECT_EQ(faults(), "segments ");
}

TEST_F(AuditTest, FindsAnEdgeThatIsNotDelaunay) {
  // the other diagonal of the first convex pair of triangles inside
  for (auto& t : mesh_.triangles) {
    for (auto& u : mesh_.triangles) {
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          if (t[(i + 1) % 3] != u[(j + 2) % 3] || t[(i + 2) % 3] != u[(j + 1) % 3]) continue;
          const std::int32_t a = t[i];
          const std::int32_t b = t[(i + 1) % 3];
          const std::int32_t c = t[(i + 2) % 3];
          const std::int32_t d = u[j];
          const auto point = [&](std::int32_t v) { return mesh_.points[static_cast<std::size_t>(v)]; };
          const bool is_free = std::ranges::none_of(mesh_.edges, [&](const std::array<std::int32_t, 2>& edge) {
            return edge == std::array{b, c} || edge == std::array{c, b};
          });
          if (!is_free || geometry::orient2d(point(a), point(b), point(d)) <= 0 ||
              geometry::orient2d(point(a), point(d), point(c)) <= 0)
            continue;
          t = {a, b, d};
          u = {a, d, c};
          EXPECT_NE(faults(0).find("delaunay"), std::string::npos) << faults(0);
          return;
        }
      }
    }
  }
  FAIL() << "no pair found";
}

TEST(AuditOfRegions, FindsTrianglesAboveTheirOwnBounds) {
  PlanarGraph graph = unit_square(1);
  graph.regions.push_back({.place = {0.5, 0.3}, .max_area = 0.001});
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 0.01, .keeps_regions = false});
  compact(mesh);
  const AuditedMesh audited_mesh = audited(mesh);
  const auto fault = [&](const AuditOptions& options) {
    for (const Audit::Check& check : audit(audited_mesh, graph, options).checks)
      if (!check.is_met) return check.name + ": " + check.text;
    return std::string("none");
  };
  EXPECT_EQ(fault({.max_area = 0.01, .keeps_regions = false}), "none");
  EXPECT_NE(fault({.max_area = 0.01}).find("of 0.001, and"), std::string::npos) << fault({.max_area = 0.01});
  EXPECT_EQ(fault({.keeps_regions = false, .area_at = [](const Point&) { return 0.01; }}), "none");
  const auto finer = [](const Point& p) { return p[0] < 0.5 ? 0.01 : 1e-5; };
  EXPECT_EQ(fault({.keeps_regions = false, .area_at = finer}).substr(0, 6), "areas:");
  graph.regions[0].place = {2, 2};
  EXPECT_EQ(fault({}), "regions: region 1 has its position outside");
}

std::string faults_of(const AuditedMesh& mesh, const PlanarGraph& graph) {
  std::string names;
  for (const Audit::Check& check : audit(mesh, graph).checks)
    if (!check.is_met) names += check.name + " ";
  return names;
}

TEST(AuditOfSides, FindsWhatIsFilledAndWhatIsNot) {
  PlanarGraph graph = unit_square(1);
  add_circle(graph, {0.5, 0.5}, 0.2, 8, 3);
  graph.regions.push_back({});
  graph.sides.assign(4, {1, PlanarGraph::outside});
  graph.sides.resize(12, {PlanarGraph::outside, 1});  // circles run counterclockwise
  const auto made = [](const PlanarGraph& of) {
    Triangulation mesh = triangulate(of);
    compact(mesh);
    return audited(mesh);
  };
  const auto faults = [&](const AuditedMesh& mesh) { return faults_of(mesh, graph); };
  EXPECT_EQ(faults(made(graph)), "");
  PlanarGraph filled = graph;
  filled.sides.clear();
  EXPECT_EQ(faults(made(filled)), "regions ");
  PlanarGraph hollow = graph;
  std::swap(graph, filled);
  graph = hollow;
  for (std::size_t s = 4; s < 12; ++s) graph.sides[s] = {1, 1};
  EXPECT_EQ(faults(made(hollow)), "regions ");
}

AuditedMesh refined(const PlanarGraph& graph) {
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.min_angle = 20, .max_area = 0.01});
  compact(mesh);
  return audited(mesh);
}

/// Make a square with a diamond-shaped hole, crossed by a line from outside to outside through four of their points.
PlanarGraph crossed_square() {
  PlanarGraph graph;
  graph.points = {{0, 0}, {0.5, 0}, {1, 0}, {1, 1}, {0.5, 1}, {0, 1}, {0.5, 0.3}, {0.7, 0.5}, {0.5, 0.7}, {0.3, 0.5}};
  for (std::int32_t i = 0; i < 6; ++i) graph.segments.push_back({{i, (i + 1) % 6}, 1});
  for (std::int32_t i = 0; i < 4; ++i) graph.segments.push_back({{6 + i, 6 + (i + 1) % 4}, 2});
  graph.holes.push_back({0.5, 0.5});
  return graph;
}

TEST(AuditOfSegments, KnowsThoseThatLieInsideInPart) {
  const PlanarGraph open = crossed_square();
  PlanarGraph graph = open;
  graph.points.insert(graph.points.end(), {{0.5, -0.7}, {0.5, 1.3}});
  graph.segments.push_back({{10, 11}, 3});
  const AuditedMesh mesh = refined(graph);
  EXPECT_EQ(faults_of(mesh, graph), "");
  std::swap(graph.segments.back().ends[0], graph.segments.back().ends[1]);
  EXPECT_EQ(faults_of(mesh, graph), "");
  EXPECT_EQ(faults_of(refined(open), graph), "segments ");
  // one of the two pieces inside is no longer a segment
  AuditedMesh half = mesh;
  half.edge_markers.clear();
  const auto is_above = [&](const std::array<std::int32_t, 2>& edge) {
    return std::ranges::all_of(edge, [&](std::int32_t v) {
      const Point& p = half.points[v];
      return p[0] == 0.5 && p[1] >= 0.7;
    });
  };
  ASSERT_GT(std::erase_if(half.edges, is_above), 0);
  EXPECT_NE(faults_of(half, graph).find("segments "), std::string::npos);
}

TEST(AuditOfSegments, TellsThemFromOthersThatAreSomeUlpsAway) {
  // two lines from one corner: rounding separates points added on one from the other by about one ulp
  PlanarGraph graph = unit_square(1);
  const double up = std::nextafter(0.5, 1.0);
  graph.points.insert(graph.points.end(), {{1.0 / 1024, 1.0 / 1024}, {0.5, 0.5}, {0.5, up}});
  graph.segments.insert(graph.segments.end(), {{{4, 5}, 2}, {{4, 6}, 3}});
  EXPECT_EQ(faults_of(refined(graph), graph), "");
}

TEST(AuditOfHoles, PlacesOnTheBoundaryAreOutside) {
  PlanarGraph graph = unit_square(1);
  Triangulation mesh = triangulate(graph);
  compact(mesh);
  for (const Point& p : {Point{0, 0}, Point{1, 0}, Point{0.5, 0}, Point{0.5, 1}, Point{0, 0.5}, Point{1, 0.5}}) {
    graph.holes.assign(1, p);
    const Audit found = audit(audited(mesh), graph);
    EXPECT_TRUE(std::ranges::find(found.checks, "holes", &Audit::Check::name)->is_met) << p[0] << ' ' << p[1];
  }
  graph.holes.assign(1, {0.5, 0.5});
  const Audit found = audit(audited(mesh), graph);
  EXPECT_FALSE(std::ranges::find(found.checks, "holes", &Audit::Check::name)->is_met);
}

}  // namespace
}  // namespace barrio::delaunay
