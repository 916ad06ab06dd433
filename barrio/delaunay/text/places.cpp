#include "barrio/delaunay/text/places.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::detail {
namespace {

Point middle_of(const Triangulation& mesh, const Triangle& t) noexcept {
  Point sum{};
  for (const std::int32_t v : t.vertices)
    for (std::size_t k = 0; k < 2; ++k) sum[k] += mesh.point(v)[k] / 3;
  return sum;
}

/// Visit the parts between segments. @param visit  takes the rows of the triangles of a part
template <class Visit>
void for_each_part(const Triangulation& mesh, Visit&& visit) {
  std::vector<char> is_taken(mesh.triangles.size(), 0);
  std::vector<std::int32_t> part;
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    if (!mesh.triangles[row].is_used() || is_taken[row] != 0) continue;
    part.assign(1, row);
    is_taken[row] = 1;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Triangle& t = mesh.triangles[part[i]];
      for (std::uint32_t e = 0; e < 3; ++e) {
        if (!t.neighbours[e] || t.is_segment(e)) continue;
        const std::int32_t beyond = t.neighbours[e].triangle();
        if (std::exchange(is_taken[beyond], 1) == 0) part.push_back(beyond);
      }
    }
    visit(part);
  }
}

/// Return the middle of the largest triangle: a position that rounding does not bring near the border.
Point place_in_part(const Triangulation& mesh, const std::vector<std::int32_t>& part) {
  const auto area = [&](std::int32_t row) { return mesh.area(mesh.triangles[row]); };
  return middle_of(mesh, mesh.triangles[std::ranges::max(part, {}, area)]);
}

}  // namespace

std::vector<Point> hole_places(const Triangulation& mesh) {
  PlanarGraph graph;
  std::vector<std::int32_t> rows(mesh.points.size(), -1);
  const auto row_of = [&](std::int32_t v) {
    if (rows[v] < 0) {
      rows[v] = static_cast<std::int32_t>(graph.points.size());
      graph.points.push_back(mesh.point(v));
    }
    return rows[v];
  };
  std::vector<std::array<std::int32_t, 2>> ways;  // boundary edges, with a triangle on the left
  for (const Triangle& t : mesh.triangles.items()) {
    for (std::uint32_t e = 0; t.is_used() && e < 3; ++e) {
      if (t.neighbours[e]) continue;
      ways.push_back({row_of(t.vertices[next_corner(e)]), row_of(t.vertices[previous_corner(e)])});
      graph.segments.push_back({.ends = ways.back()});
    }
  }
  std::ranges::sort(ways);
  // everything within the boundary, holes too: of a part, any edge on the boundary tells what it is
  const Triangulation filled = triangulate(graph);
  std::vector<Point> places;
  for_each_part(filled, [&](const std::vector<std::int32_t>& part) {
    for (const std::int32_t row : part) {
      const Triangle& t = filled.triangles[row];
      for (std::uint32_t e = 0; e < 3; ++e) {
        if (!t.is_segment(e)) continue;
        const std::array<std::int32_t, 2> way{filled.input_numbers[t.vertices[next_corner(e)]],
                                              filled.input_numbers[t.vertices[previous_corner(e)]]};
        if (!std::ranges::binary_search(ways, way)) places.push_back(place_in_part(filled, part));
        return;
      }
    }
  });
  return places;
}

std::vector<RegionPlace> region_places(const Triangulation& mesh) {
  std::vector<RegionPlace> places;
  if (mesh.regions.size() < 2) return places;
  for_each_part(mesh, [&](const std::vector<std::int32_t>& part) {
    if (const std::uint32_t region = mesh.triangles[part.front()].region(); region > 0)
      places.push_back({place_in_part(mesh, part), region});
  });
  return places;
}

}  // namespace barrio::delaunay::detail
