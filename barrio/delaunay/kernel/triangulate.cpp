#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/kernel/carving.hpp"
#include "barrio/delaunay/kernel/flips.hpp"
#include "barrio/delaunay/kernel/insertion.hpp"
#include "barrio/delaunay/kernel/order.hpp"
#include "barrio/delaunay/kernel/segment_index.hpp"
#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay {
namespace {

using detail::Insertion;
using detail::PieceSides;
using detail::Place;

constexpr std::size_t max_points = (std::size_t{1} << 30U) - 2;

void check(const PlanarGraph& graph) {
  if (graph.points.size() > max_points)
    refuse(ErrorCode::bad_input, "points", "are more than 2^30", "cut the domain into parts");
  const auto check_place = [](const char* what, std::size_t i, const Point& p) {
    for (const double x : p) {
      if (!std::isfinite(x))
        refuse(ErrorCode::bad_input, fmt::format("{} {}", what, i), fmt::format("has the coordinate {}", x),
               "coordinates must be finite");
      if (x != 0.0 && (std::abs(x) < geometry::min_exact || std::abs(x) > geometry::max_exact))
        refuse(ErrorCode::bad_input, fmt::format("{} {}", what, i), fmt::format("has the coordinate {:g}", x),
               "scale coordinates to between 1e-45 and 1e60, where signs of determinants are exact");
    }
  };
  for (std::size_t i = 0; i < graph.points.size(); ++i) check_place("point", i, graph.points[i]);
  for (std::size_t i = 0; i < graph.holes.size(); ++i) check_place("hole", i, graph.holes[i]);
  for (std::size_t i = 0; i < graph.regions.size() && graph.sides.empty(); ++i)
    check_place("region", i, graph.regions[i].place);
  if (!graph.point_markers.empty() && graph.point_markers.size() != graph.points.size())
    refuse(ErrorCode::bad_input, "markers", "are not as many as points", "give one for each point, or none at all");
  const std::int64_t n = std::ssize(graph.points);
  for (std::size_t s = 0; s < graph.segments.size(); ++s) {
    for (const std::int32_t end : graph.segments[s].ends)
      if (end < 0 || end >= n)
        refuse(ErrorCode::bad_input, fmt::format("segment {}", s),
               fmt::format("ends in point {}, but there are {} points", end, n), "number points from 0");
    if (graph.segments[s].ends[0] == graph.segments[s].ends[1])
      refuse(ErrorCode::bad_input, fmt::format("segment {}", s),
             fmt::format("begins and ends in point {}", graph.segments[s].ends[0]), "leave it out");
  }
  if (graph.attribute_values.size() != width_of(graph.attributes) * graph.points.size())
    refuse(ErrorCode::bad_input, "attributes", "are not as many as points need", "give all components at each point");
  if (!graph.sides.empty() && graph.sides.size() != graph.segments.size())
    refuse(ErrorCode::bad_input, "sides", "are not as many as segments", "give two for each segment, or none at all");
  const std::int64_t n_regions = std::ssize(graph.regions);
  for (const auto& sides : graph.sides)
    for (const std::int32_t side : sides)
      if (side < PlanarGraph::outside || side > n_regions)
        refuse(ErrorCode::bad_input, "sides", fmt::format("name region {}, but there are {}", side, n_regions),
               "number regions from 1");
}

/// Move three points that do not lie on a line to the front of the order. @return whether there are such points
bool begin_with_triangle(const PlanarGraph& graph, std::vector<std::int32_t>& order) {
  const auto point = [&](std::size_t i) -> const Point& { return graph.points[order[i]]; };
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (point(i) == point(0)) continue;
    std::swap(order[1], order[i]);
    for (std::size_t k = 2; k < order.size(); ++k) {
      if (geometry::orient2d(point(0), point(1), point(k)) == 0) continue;
      std::swap(order[2], order[k]);
      return true;
    }
    return false;
  }
  return false;
}

/// Make the first triangle, and an outside triangle across each of its edges.
void make_first(Triangulation& mesh) {
  std::array<std::int32_t, 3> v{0, 1, 2};
  if (geometry::orient2d(mesh.points[0], mesh.points[1], mesh.points[2]) < 0) std::swap(v[1], v[2]);
  mesh.triangles.resize(4);
  mesh.triangles[0] = {.vertices = v, .neighbours = {Side(1, 0), Side(2, 0), Side(3, 0)}, .next = -1, .state = 0};
  for (std::uint32_t e = 0; e < 3; ++e) {
    const auto outside = [](std::uint32_t edge) { return edge + 1; };
    // edge e leads from b to a here; the next outside triangle at a lies across the edge of the first one that ends at
    // a
    mesh.triangles[e + 1] = {
        .vertices = {detail::outside_vertex, v[previous_corner(e)], v[next_corner(e)]},
        .neighbours = {Side(0, e), Side(outside(previous_corner(e)), 2), Side(outside(next_corner(e)), 1)},
        .next = -1,
        .state = 0};
  }
}

void insert_points(Triangulation& mesh, const PlanarGraph& graph) {
  std::vector<std::int32_t> order = detail::insertion_order(graph.points);
  if (!begin_with_triangle(graph, order))
    refuse(ErrorCode::bad_input, "points",
           graph.points.size() < 3 ? "are fewer than three" : "lie on one line, so that the area is 0",
           "give at least three points that are not on one line");
  mesh.points.reserve(order.size());
  for (const std::int32_t i : order) mesh.points.push_back(graph.points[i]);
  mesh.infos.resize(order.size());
  for (VertexInfo& info : mesh.infos.items()) info = VertexInfo(VertexKind::input, 0);
  mesh.n_input_points = static_cast<std::int32_t>(order.size());
  for (const std::int32_t i : order)
    if (!graph.point_markers.empty()) mesh.input_markers.push_back(graph.point_markers[i]);
  mesh.attributes = graph.attributes;
  const std::size_t width = mesh.attribute_width();
  for (const std::int32_t i : order)
    for (std::size_t k = 0; k < width; ++k) mesh.attribute_values.push_back(graph.attribute_values[i * width + k]);
  mesh.input_numbers = std::move(order);
  mesh.triangles.reserve(2 * mesh.points.size() + 2);
  make_first(mesh);
  Insertion insertion(mesh);
  std::int32_t last = 0;
  for (std::int32_t vertex = 3; vertex < std::ssize(mesh.points); ++vertex) {
    const Point p = mesh.point(vertex);
    const Place place = insertion.locate(p, last);
    if (place.kind == Place::Kind::vertex) {
      const auto number = [&](std::int32_t of) { return mesh.input_numbers[of]; };
      const std::int32_t there = mesh.triangle(place.side.triangle()).vertices[place.side.edge()];
      refuse(ErrorCode::bad_input,
             fmt::format("points {} and {}", std::min(number(there), number(vertex)),
                         std::max(number(there), number(vertex))),
             fmt::format("are both at ({}, {})", p[0], p[1]), "leave one out");
    }
    insertion.find_cavity(p, place.side.triangle());
    for (const std::int32_t row : insertion.fill(vertex))
      if (!detail::is_outside(mesh.triangle(row))) last = row;
  }
}

/// Keep only the first of the segments between the same ends.
void drop_repeated_segments(Triangulation& mesh) {
  const detail::SegmentIndex index(mesh);
  std::vector<char> is_repeated(mesh.segments.size(), 0);
  std::vector<std::int32_t> joined_with(index.n_vertices(), -1);  // the latest vertex that a segment joins it with
  for (std::int32_t v = 0; v < index.n_vertices(); ++v) {
    for (const std::uint32_t s : index.at(v)) {
      const std::int32_t other = index.other_end(s, v);
      if (other < v) continue;
      if (joined_with[other] == v) is_repeated[s] = 1;
      joined_with[other] = v;
    }
  }
  std::size_t n = 0;
  for (std::size_t s = 0; s < mesh.segments.size(); ++s)
    if (is_repeated[s] == 0) mesh.segments[n++] = mesh.segments[s];
  mesh.n_repeated_segments = mesh.segments.size() - n;
  mesh.segments.resize(n);
}

/// Insert the segments of a graph. @return their pieces with the regions on their sides; empty without `sides`
std::vector<PieceSides> insert_segments(Triangulation& mesh, const PlanarGraph& graph) {
  std::vector<PieceSides> said;
  if (graph.segments.empty()) return said;
  std::vector<std::int32_t> vertex_of(mesh.input_numbers.size());
  for (std::int32_t v = 0; v < std::ssize(vertex_of); ++v) vertex_of[mesh.input_numbers[v]] = v;
  detail::SegmentInsertion insertion(mesh);
  mesh.segments.reserve(graph.segments.size());
  for (std::size_t s = 0; s < graph.segments.size(); ++s) {
    const PlanarGraph::Edge& edge = graph.segments[s];
    const std::array<std::int32_t, 2> ends{vertex_of[edge.ends[0]], vertex_of[edge.ends[1]]};
    const std::vector<std::int32_t>& way = insertion.insert(ends[0], ends[1]);
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      mesh.segments.push_back(
          {.ends = {way[i], way[i + 1]}, .marker = edge.marker, .input = static_cast<std::int32_t>(s)});
      if (graph.sides.empty()) continue;
      const auto [left, right] = graph.sides[s];
      said.push_back(way[i] < way[i + 1] ? PieceSides{{way[i], way[i + 1]}, {left, right}}
                                         : PieceSides{{way[i + 1], way[i]}, {right, left}});
    }
  }
  drop_repeated_segments(mesh);
  return said;
}

}  // namespace

std::uint64_t Triangulation::memory_bytes() const noexcept {
  return points.memory_bytes() + attribute_values.memory_bytes() + infos.memory_bytes() + triangles.memory_bytes() +
         (input_numbers.capacity() + input_markers.capacity()) * sizeof(std::int32_t) +
         segments.capacity() * sizeof(Segment) + regions.capacity() * sizeof(Region);
}

PlanarGraph cut_at_points(PlanarGraph graph) {
  check(graph);
  Triangulation mesh;
  insert_points(mesh, graph);
  std::vector<PieceSides> said = insert_segments(mesh, graph);
  detail::merge(mesh, said);
  graph.segments.clear();
  graph.sides.clear();
  for (const auto& [ends, marker, input] : mesh.segments) {
    const auto number = [&](std::size_t e) { return mesh.input_numbers[ends[e]]; };
    graph.segments.push_back({.ends = {number(0), number(1)}, .marker = marker});
    if (said.empty()) continue;
    const bool is_up = ends[0] < ends[1];
    const std::array<std::int32_t, 2> sorted{std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
    const auto [left, right] = std::ranges::lower_bound(said, sorted, {}, &PieceSides::ends)->sides;
    graph.sides.push_back(is_up ? std::array{left, right} : std::array{right, left});
  }
  return graph;
}

Triangulation triangulate(const PlanarGraph& graph, const TriangulateOptions& options) {
  check(graph);
  if (options.fills_hull && !graph.sides.empty())
    refuse(ErrorCode::usage, "convex hull",
           "cannot be filled where the graph names the regions on both sides of segments",
           "leave out the hull or the sides");
  Triangulation mesh;
  insert_points(mesh, graph);
  std::vector<PieceSides> said = insert_segments(mesh, graph);
  if (said.empty())
    detail::carve(mesh, graph, options.fills_hull || graph.segments.empty());
  else
    detail::carve_by_sides(mesh, graph, std::move(said));
  return mesh;
}

}  // namespace barrio::delaunay
