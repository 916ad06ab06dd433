#include "barrio/delaunay/flat_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::delaunay {
namespace {

/// An edge of one triangle, or a listed edge.
struct Use {
  std::array<std::int32_t, 2> ends;  // the lower one first
  std::int32_t region;               // of the triangle; `listed` for a listed edge
  std::int32_t side;  // 0: triangle left of the way from the lower end, 1: right; or row of the listed edge
};
constexpr std::int32_t listed = -2;

std::string text_of(const FlatMesh& mesh, std::int32_t v) {
  const Point& p = mesh.points[v];
  return fmt::format("({}, {})", p[0], p[1]);
}

void check(const FlatMesh& mesh) {
  const std::int64_t n = std::ssize(mesh.points);
  const auto check_row = [n](std::int32_t v, const char* what, std::size_t which) {
    if (v < 0 || v >= n)
      refuse(ErrorCode::bad_input, fmt::format("{} {}", what, which),
             fmt::format("has the vertex {}, but there are {} vertices", v, n), "number vertices from 0");
  };
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (const std::int32_t v : mesh.triangles[t]) check_row(v, "triangle", t);
  for (std::size_t e = 0; e < mesh.edges.size(); ++e)
    for (const std::int32_t v : mesh.edges[e].ends) check_row(v, "edge", e);
  if (!mesh.point_markers.empty() && mesh.point_markers.size() != mesh.points.size())
    refuse(ErrorCode::bad_input, "markers", "are not as many as points", "give one for each point, or none at all");
  if (mesh.attribute_values.size() != width_of(mesh.attributes) * mesh.points.size())
    refuse(ErrorCode::bad_input, "attributes", "are not as many as points need", "give all components at each point");
  if (!mesh.triangle_regions.empty() && mesh.triangle_regions.size() != mesh.triangles.size())
    refuse(ErrorCode::bad_input, "regions", "are not as many as triangles",
           "give one for each triangle, or none at all");
  const std::int64_t n_regions = std::ssize(mesh.regions);
  for (const std::int32_t region : mesh.triangle_regions)
    if (region < 0 || region > n_regions)
      refuse(ErrorCode::bad_input, "regions", fmt::format("name region {}, but there are {}", region, n_regions),
             "number regions from 1");
}

/// Collect the edges of all triangles and the listed edges, sorted by their ends.
std::vector<Use> find_uses(const FlatMesh& mesh) {
  std::vector<Use> uses;
  uses.reserve(3 * mesh.triangles.size() + mesh.edges.size());
  const auto add = [&](std::int32_t a, std::int32_t b, std::int32_t region) {
    uses.push_back({{std::min(a, b), std::max(a, b)}, region, a < b ? 0 : 1});
  };
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    auto [a, b, c] = mesh.triangles[t];
    const auto point = [&](std::int32_t v) -> const Point& { return mesh.points[v]; };
    const int sign = geometry::orient2d(point(a), point(b), point(c));
    if (sign == 0)
      refuse(ErrorCode::bad_input, fmt::format("triangle {} at {}", t, text_of(mesh, a)), "has no area",
             "remove triangles whose corners lie on one line");
    if (sign < 0) std::swap(b, c);
    const std::int32_t region = mesh.triangle_regions.empty() ? PlanarGraph::no_region : mesh.triangle_regions[t];
    add(a, b, region);
    add(b, c, region);
    add(c, a, region);
  }
  for (std::size_t e = 0; e < mesh.edges.size(); ++e) {
    const auto& [a, b] = mesh.edges[e].ends;
    uses.push_back({{std::min(a, b), std::max(a, b)}, listed, static_cast<std::int32_t>(e)});
  }
  // edges of triangles first, then listed ones in the order of the input
  std::ranges::sort(uses, {}, [](const Use& use) { return std::tuple(use.ends, use.region == listed, use.side); });
  return uses;
}

/// Copy the points of triangles into the graph. @return their rows there, or -1 for dropped points
std::vector<std::int32_t> keep_used_points(const FlatMesh& mesh, PlanarGraph& graph) {
  std::vector<std::int32_t> number(mesh.points.size(), -1);
  for (const auto& triangle : mesh.triangles)
    for (const std::int32_t v : triangle) number[v] = 0;
  graph.attributes = mesh.attributes;
  const std::size_t width = width_of(mesh.attributes);
  std::int32_t n = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = n++;
    graph.points.push_back(mesh.points[v]);
    if (!mesh.point_markers.empty()) graph.point_markers.push_back(mesh.point_markers[v]);
    const auto values = std::span(mesh.attribute_values).subspan(v * width, width);
    graph.attribute_values.insert(graph.attribute_values.end(), values.begin(), values.end());
  }
  return number;
}

}  // namespace

PlanarGraph to_graph(const FlatMesh& mesh, std::vector<std::string>& left_out) {
  check(mesh);
  PlanarGraph graph;
  const std::vector<std::int32_t> number = keep_used_points(mesh, graph);
  for (const Region& region : mesh.regions)
    graph.regions.push_back(
        {.attribute = region.attribute, .max_area = region.max_area, .number = region.number, .name = region.name});
  graph.marker_names = mesh.marker_names;
  std::int64_t n_loose = 0;
  const std::vector<Use> uses = find_uses(mesh);
  for (std::size_t i = 0; i < uses.size();) {
    std::size_t end = i;
    std::array<std::int32_t, 2> sides{PlanarGraph::outside, PlanarGraph::outside};
    const std::array<std::int32_t, 2> ends = uses[i].ends;
    for (; end < uses.size() && uses[end].ends == ends && uses[end].region != listed; ++end) {
      std::int32_t& side = sides[uses[end].side];
      if (side != PlanarGraph::outside)
        refuse(ErrorCode::bad_input,
               fmt::format("the edge from {} to {}", text_of(mesh, ends[0]), text_of(mesh, ends[1])),
               "has two triangles on one side", "remove triangles that overlap or are there twice");
      side = uses[end].region;
    }
    const bool is_loose = end == i;
    const PlanarGraph::Edge* listed_edge = nullptr;
    for (; end < uses.size() && uses[end].ends == ends; ++end)
      if (listed_edge == nullptr) listed_edge = &mesh.edges[uses[end].side];
    if (is_loose) {
      n_loose += end - i;
    } else if (listed_edge != nullptr || sides[0] != sides[1]) {
      graph.segments.push_back(
          {.ends = {number[ends[0]], number[ends[1]]}, .marker = listed_edge != nullptr ? listed_edge->marker : 0});
      graph.sides.push_back(sides);
    }
    i = end;
  }
  if (const std::int64_t n = std::ssize(mesh.points) - std::ssize(graph.points); n > 0)
    left_out.push_back(fmt::format("{} vertices without triangles", format_count(n)));
  if (n_loose > 0) left_out.push_back(fmt::format("{} edges without triangles", format_count(n_loose)));
  return graph;
}

FlatMesh to_flat_mesh(const Triangulation& mesh) {
  FlatMesh flat;
  flat.points.assign(mesh.points.items().begin(), mesh.points.items().end());
  flat.point_markers = mesh.input_markers;
  if (!flat.point_markers.empty()) flat.point_markers.resize(flat.points.size(), 0);
  flat.attributes = mesh.attributes;
  flat.attribute_values.assign(mesh.attribute_values.items().begin(), mesh.attribute_values.items().end());
  for (const Triangle& t : mesh.triangles.items()) {
    flat.triangles.push_back(t.vertices);
    flat.triangle_regions.push_back(t.region());
  }
  for (const SegmentEdge& edge : segment_edges(mesh)) flat.edges.push_back({.ends = edge.ends, .marker = edge.marker});
  flat.marker_names = mesh.marker_names;
  if (!mesh.regions.empty()) flat.regions.assign(mesh.regions.begin() + 1, mesh.regions.end());
  return flat;
}

}  // namespace barrio::delaunay
