#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/kernel/flips.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {
namespace {

[[noreturn]] void complain(std::int64_t row, const std::string& cause) {
  refuse(ErrorCode::internal, fmt::format("triangle {}", row), cause);
}

void validate_edge(const Triangulation& mesh, std::int32_t row, std::uint32_t e) {
  const Triangle& t = mesh.triangles[row];
  const Side side = t.neighbours[e];
  if (!side) {
    if (!t.is_segment(e)) complain(row, fmt::format("ends at edge {}, which is not a segment", e));
    return;
  }
  if (side.triangle() >= std::ssize(mesh.triangles) || side.edge() > 2)
    complain(row, fmt::format("has a neighbour out of range at edge {}", e));
  const Triangle& u = mesh.triangle(side.triangle());
  if (!u.is_used() || u.neighbours[side.edge()] != Side(row, e))
    complain(row, fmt::format("is not the neighbour of its neighbour at edge {}", e));
  if (u.vertices[next_corner(side.edge())] != t.vertices[previous_corner(e)] ||
      u.vertices[previous_corner(side.edge())] != t.vertices[next_corner(e)])
    complain(row, fmt::format("does not have the vertices of its neighbour at edge {}", e));
  if (u.is_segment(side.edge()) != t.is_segment(e))
    complain(row, fmt::format("and its neighbour disagree whether edge {} is a segment", e));
  if (t.is_segment(e)) return;
  if (u.region() != t.region()) complain(row, fmt::format("has a neighbour of another region at edge {}", e));
  if (!detail::is_delaunay(mesh, Side(row, e)))
    complain(row, fmt::format("has the vertex across edge {} inside its circle", e));
}

}  // namespace

void validate(const Triangulation& mesh) {
  std::int64_t n_unused = 0;
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    const Triangle& t = mesh.triangles[row];
    if (!t.is_used()) {
      ++n_unused;
      continue;
    }
    for (const std::int32_t v : t.vertices) {
      if (v < 0 || v >= std::ssize(mesh.points)) complain(row, "has a vertex out of range");
      if (mesh.info(v).kind() == VertexKind::unused) complain(row, "has a vertex that was removed");
    }
    if (t.region() >= mesh.regions.size()) complain(row, "has a region out of range");
    if (geometry::orient2d(mesh.point(t.vertices[0]), mesh.point(t.vertices[1]), mesh.point(t.vertices[2])) <= 0)
      complain(row, "is not counterclockwise");
    for (std::uint32_t e = 0; e < 3; ++e) validate_edge(mesh, row, e);
  }
  if (n_unused != mesh.n_unused_triangles)
    complain(mesh.triangles.size(), "is past the end, and the number of unused triangles before it is wrong");
}

}  // namespace barrio::delaunay
