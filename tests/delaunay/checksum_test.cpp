#include "barrio/delaunay/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

/// Make a graph with a wall, a hole, regions and markers.
PlanarGraph graph_with_labels() {
  PlanarGraph graph = unit_square(3);
  add_circle(graph, {0.3, 0.5}, 0.1, 10, 7);
  graph.holes.push_back({0.3, 0.5});
  graph.segments.push_back({{2, 7}, 9});
  graph.regions.push_back({.place = {0.05, 0.05}, .attribute = 2.5, .max_area = 0.01});
  graph.regions.push_back({.place = {0.9, 0.5}, .attribute = -1, .max_area = 0.002});
  return graph;
}

PlanarGraph random_points(std::mt19937_64& random, std::size_t n) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  PlanarGraph graph;
  for (std::size_t i = 0; i < n; ++i) graph.points.push_back({uniform(random), uniform(random)});
  return graph;
}

PlanarGraph lattice(int n) {
  PlanarGraph graph;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) graph.points.push_back({i / 10.0, k / 10.0});
  return graph;
}

/// Permute the points, the segments and their directions.
PlanarGraph permuted(const PlanarGraph& graph, std::mt19937_64& random) {
  std::vector<std::int32_t> rows(graph.points.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::shuffle(rows, random);
  PlanarGraph result = graph;
  for (std::size_t i = 0; i < rows.size(); ++i) result.points[rows[i]] = graph.points[i];
  for (PlanarGraph::Edge& edge : result.segments) {
    for (std::int32_t& end : edge.ends) end = rows[end];
    if (random() % 2 == 0) std::swap(edge.ends[0], edge.ends[1]);
  }
  std::ranges::shuffle(result.segments, random);
  std::ranges::shuffle(result.regions, random);
  return result;
}

Triangulation meshed(const PlanarGraph& graph, const RefineOptions* options = nullptr) {
  Triangulation mesh = triangulate(graph);
  if (options != nullptr) refine(mesh, *options);
  return mesh;
}

TEST(Checksum, DoesNotDependOnRows) {
  std::mt19937_64 random(barrio::test::seed());
  const RefineOptions fine{.min_angle = 25, .max_area = 0.005};
  Triangulation mesh = meshed(graph_with_labels(), &fine);
  const std::uint64_t sum = checksum(mesh);
  EXPECT_EQ(compact(mesh), 0);
  EXPECT_EQ(checksum(mesh), sum);
  AuditedMesh rows = audited(mesh);
  EXPECT_EQ(checksum(rows), sum);
  EXPECT_EQ(audit(rows, graph_with_labels()).checksum, sum);
  // other rows of vertices, triangles and edges, other first corners and directions
  std::vector<std::int32_t> place(rows.points.size());
  std::iota(place.begin(), place.end(), 0);
  std::ranges::shuffle(place, random);
  for (std::size_t v = 0; v < place.size(); ++v) rows.points[place[v]] = mesh.points[v];
  for (auto& triangle : rows.triangles) {
    for (std::int32_t& v : triangle) v = place[v];
    std::ranges::rotate(triangle, triangle.begin() + static_cast<std::ptrdiff_t>(random() % 3));
  }
  for (auto& edge : rows.edges) {
    for (std::int32_t& v : edge) v = place[v];
    if (random() % 2 == 0) std::swap(edge[0], edge[1]);
  }
  EXPECT_EQ(checksum(rows), sum);
  std::ranges::reverse(rows.triangles);
  std::ranges::reverse(rows.triangle_regions);
  EXPECT_EQ(checksum(rows), sum);
}

TEST(Checksum, ChangesWithWhatCounts) {
  const AuditedMesh mesh = audited(meshed(graph_with_labels()));
  const std::uint64_t sum = checksum(mesh);
  for (std::size_t v = 0; v < mesh.points.size(); ++v) {
    AuditedMesh moved = mesh;
    moved.points[v][v % 2] = std::nextafter(moved.points[v][v % 2], 9.0);
    EXPECT_NE(checksum(moved), sum) << "vertex " << v;
  }
  AuditedMesh other = mesh;
  other.triangle_regions[0] = 3 - other.triangle_regions[0];
  EXPECT_NE(checksum(other), sum);
  other = mesh;
  other.regions[1].attribute = 8;
  EXPECT_NE(checksum(other), sum);
  other = mesh;
  other.edge_markers[0] += 1;
  EXPECT_NE(checksum(other), sum);
  other = mesh;
  other.edges.pop_back();
  EXPECT_NE(checksum(other), sum);
  other = mesh;
  other.triangles.pop_back();
  EXPECT_NE(checksum(other), sum);
  other = mesh;
  std::swap(other.triangles[0][0], other.triangles[0][1]);
  EXPECT_NE(checksum(other), sum);
  PlanarGraph unmarked = graph_with_labels();
  unmarked.segments.back().marker = 0;
  EXPECT_NE(checksum(meshed(unmarked)), sum);
}

TEST(Checksum, ZeroHasNoSign) {
  PlanarGraph graph = unit_square(1);
  const std::uint64_t sum = checksum(meshed(graph));
  for (Point& p : graph.points)
    for (double& x : p)
      if (x == 0.0) x = -0.0;
  EXPECT_EQ(checksum(meshed(graph)), sum);
}

TEST(Checksum, SurvivesFilesOfTriangle) {
  const RefineOptions fine{.min_angle = 20, .max_area = 0.01};
  Triangulation mesh = meshed(graph_with_labels(), &fine);
  compact(mesh);
  const std::string stem = barrio::test::scratch() / "summed";
  write_triangle_files(mesh, stem);
  EXPECT_EQ(checksum(read_audited(stem + ".ele")), checksum(mesh));
}

TEST(Checksum, IsOneForAnyOrderOfTheInput) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  const RefineOptions fine{.min_angle = 20, .max_area = 0.004};
  const RefineOptions angle_only{.min_angle = 28};
  for (int round = 0; round < 12; ++round) {
    for (const PlanarGraph& graph :
         {random_points(random, 400), lattice(20), graph_with_labels(), pipe_section(60, 20)}) {
      for (const RefineOptions* options : {static_cast<const RefineOptions*>(nullptr), &fine, &angle_only}) {
        const std::uint64_t sum = checksum(meshed(graph, options));
        EXPECT_EQ(checksum(meshed(permuted(graph, random), options)), sum) << "seed " << seed << ", round " << round;
      }
    }
  }
}

/// Change coordinates of a mesh by a map that may turn triangles over.
template <class Map>
std::uint64_t checksum_after(AuditedMesh mesh, bool turns_over, Map&& map) {
  for (Point& p : mesh.points) p = map(p);
  for (auto& triangle : mesh.triangles)
    if (turns_over) std::swap(triangle[0], triangle[1]);
  return checksum(mesh);
}

template <class Map>
PlanarGraph mapped(PlanarGraph graph, Map&& map) {
  for (Point& p : graph.points) p = map(p);
  for (Point& p : graph.holes) p = map(p);
  for (PlanarGraph::RegionSeed& region : graph.regions) region.place = map(region.place);
  return graph;
}

TEST(Checksum, FollowsScalesAndReflections) {
  std::mt19937_64 random(barrio::test::seed());
  const auto scale = [](const Point& p) { return Point{std::ldexp(p[0], 10), std::ldexp(p[1], 10)}; };
  for (const PlanarGraph& graph : {random_points(random, 500), lattice(15), graph_with_labels()}) {
    EXPECT_EQ(checksum(meshed(mapped(graph, scale))), checksum_after(audited(meshed(graph)), false, scale));
    // refined too, if bounds are scaled as well
    const RefineOptions fine{.min_angle = 20, .max_area = std::ldexp(1.0, -8)};
    const RefineOptions scaled{.min_angle = 20, .max_area = std::ldexp(1.0, 12)};
    PlanarGraph large = mapped(graph, scale);
    for (PlanarGraph::RegionSeed& region : large.regions) region.max_area = std::ldexp(region.max_area, 20);
    Triangulation mesh = meshed(graph, &fine);
    compact(mesh);
    EXPECT_EQ(checksum(meshed(large, &scaled)), checksum_after(audited(mesh), false, scale));
  }
  const PlanarGraph points = random_points(random, 2000);
  const AuditedMesh plain = audited(meshed(points));
  const auto mirror = [](const Point& p) { return Point{-p[0], p[1]}; };
  const auto transpose = [](const Point& p) { return Point{p[1], p[0]}; };
  EXPECT_EQ(checksum(meshed(mapped(points, mirror))), checksum_after(plain, true, mirror));
  EXPECT_EQ(checksum(meshed(mapped(points, transpose))), checksum_after(plain, true, transpose));
}

}  // namespace
}  // namespace barrio::delaunay
