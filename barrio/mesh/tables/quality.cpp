#include "barrio/mesh/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "barrio/mesh/topology.hpp"

namespace barrio::mesh {
namespace {

using Point = std::array<double, 3>;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

double det(const Point& a, const Point& b, const Point& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// Each corner and its three neighbours along edges, in the order that gives a valid cell a positive volume.
constexpr std::array<std::array<int, 4>, 1> tet_corners{{{0, 1, 2, 3}}};
constexpr std::array<std::array<int, 4>, 6> prism_corners{
    {{0, 1, 2, 3}, {1, 2, 0, 4}, {2, 0, 1, 5}, {3, 5, 4, 0}, {4, 3, 5, 1}, {5, 4, 3, 2}}};
constexpr std::array<std::array<int, 4>, 4> pyramid_corners{{{0, 1, 3, 4}, {1, 2, 0, 4}, {2, 3, 1, 4}, {3, 0, 2, 4}}};
constexpr std::array<std::array<int, 4>, 4> knife_corners{{{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 5}}};
constexpr std::array<std::array<int, 4>, 8> hex_corners{
    {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7}, {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}}};

std::span<const std::array<int, 4>> corner_triples(CellType type) {
  switch (type) {
    case CellType::tet: return tet_corners;
    case CellType::prism: return prism_corners;
    case CellType::pyramid: return pyramid_corners;
    case CellType::knife: return knife_corners;
    case CellType::hex: return hex_corners;
    default: return {};
  }
}

}  // namespace

CellShape cell_shape(CellType type, std::span<const Point> corners) {
  CellShape shape;
  double shortest = std::numeric_limits<double>::infinity();
  double longest = 0.0;
  const auto measure = [&](std::size_t a, std::size_t b) {
    const Point e = minus(corners[b], corners[a]);
    const double squared = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    shortest = std::min(shortest, squared);
    longest = std::max(longest, squared);
  };
  if (type == CellType::polygon) {
    for (std::size_t i = 0; i < corners.size(); ++i)
      if (corners[i] != corners[(i + 1) % corners.size()]) measure(i, (i + 1) % corners.size());
  } else if (type == CellType::polyhedron) {
    std::vector<std::size_t> places(corners.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = std::ranges::find(corners, corners[i]) - corners.begin();
    for (const auto& [a, b] : edges_of_loops<std::size_t>(places)) measure(a, b);
  } else {
    const auto edges = topology(type).edges;
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) measure(edges[e], edges[e + 1]);
  }
  if (longest > 0.0) {
    shape.shortest_edge = std::sqrt(shortest);
    shape.longest_edge = std::sqrt(longest);
    shape.edge_ratio = shape.shortest_edge / shape.longest_edge;
  }
  const auto triples = corner_triples(type);
  if (!triples.empty()) shape.corner_volume = std::numeric_limits<double>::infinity();
  for (const auto& [at, a, b, c] : triples) {
    const Point& x = corners[at];
    shape.corner_volume =
        std::min(shape.corner_volume, det(minus(corners[a], x), minus(corners[b], x), minus(corners[c], x)));
  }
  return shape;
}

}  // namespace barrio::mesh
