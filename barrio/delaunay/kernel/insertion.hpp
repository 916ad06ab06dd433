#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Vertex beyond the hull: the third corner of the triangles that stand for the outside while points are inserted.
inline constexpr std::int32_t outside_vertex = -1;

/// Return the corner of a triangle at a vertex. @pre the vertex is one of its corners
[[nodiscard]] inline std::uint32_t corner_of(const Triangle& triangle, std::int32_t vertex) noexcept {
  return triangle.vertices[0] == vertex ? 0U : triangle.vertices[1] == vertex ? 1U : 2U;
}
/// Tell whether a triangle stands for the outside.
[[nodiscard]] inline bool is_outside(const Triangle& triangle) noexcept {
  return (triangle.vertices[0] | triangle.vertices[1] | triangle.vertices[2]) < 0;
}

/// End of a walk towards a point.
struct Place {
  enum class Kind : std::uint8_t {
    inside,    ///< inside the triangle, or on one of its edges
    vertex,    ///< on its corner `side.edge()`
    blocked,   ///< stopped at a segment or the boundary; the point lies beyond
    exterior,  ///< beyond the hull: in an outside triangle
  };
  Kind kind = Kind::inside;
  Side side{0, 0};
};

/// Insert points into a constrained Delaunay triangulation. The cavity of a point consists of the triangles whose
/// circle contains it and that are reached without crossing a segment. They are replaced by triangles that join the
/// point with the ring of edges around the cavity. Rows are used again, so each point takes two more. Source: Bowyer
/// 1981; Watson 1981
class Insertion {
 public:
  explicit Insertion(Triangulation& mesh) : mesh_(&mesh) {}

  /// Walk to the position of a point. @param from  a triangle that is not an outside one
  [[nodiscard]] Place locate(const Point& p, std::int32_t from) noexcept;

  /// Find the cavity of a point. @param t  a triangle that has it inside or on an edge
  void find_cavity(const Point& p, std::int32_t t);
  /// Find the cavity of a point in the interior of a segment.
  void find_cavity_at_segment(const Point& p, Side segment);

  /// An edge of the ring around a cavity, counterclockwise from `from` to that of the next one.
  struct RingEdge {
    std::int32_t from;
    Side inside;          ///< as an edge of the triangle that is removed
    Side outside;         ///< as an edge of the triangle beyond
    std::uint32_t state;  ///< region of the removed triangle, and `segment_bit(0)` for a segment
  };
  [[nodiscard]] const std::vector<RingEdge>& ring() const noexcept { return ring_; }
  /// Return the vertex that a ring edge leads to.
  [[nodiscard]] std::int32_t ring_end(std::size_t k) const noexcept {
    return k + 1 < ring_.size() ? ring_[k + 1].from : last_;
  }
  /// Tell whether all new triangles would be counterclockwise: a rounded point may miss its segment.
  [[nodiscard]] bool is_star(const Point& p) const noexcept;

  /// Tell whether the circles of the triangles on both sides of the segment contain the point; these triangles are in
  /// the cavity in any case.
  [[nodiscard]] bool has_sides_in_circle(const Point& p) const noexcept;

  /// Fill the cavity with triangles around the vertex. @return their rows, valid until the next call
  const std::vector<std::int32_t>& fill(std::int32_t vertex);

 private:
  [[nodiscard]] bool is_conflict(const Triangle& u, const Point& p) const noexcept;
  void grow(const Point& p);
  [[nodiscard]] std::int32_t make_row();

  Triangulation* mesh_;
  std::vector<Side> stack_;
  std::vector<std::int32_t> rows_;
  std::vector<RingEdge> ring_;
  std::int32_t last_ = 0;                      // vertex at the end of the ring: that of its start, if it is closed
  std::size_t middle_ = 0;                     // for a point on a segment: edge of the ring where the other side starts
  std::array<std::int32_t, 2> sides_{-1, -1};  // for a point on a segment: rows on both sides
  bool is_closed_ = true;
  bool is_on_segment_ = false;
  std::uint32_t first_edge_ = 0;  // tested first in the latest step of a walk
};

/// Make a vertex, in an unused row if there is one. It has no attributes yet.
[[nodiscard]] std::int32_t make_vertex(Triangulation& mesh, const Point& p, VertexInfo info);
/// Interpolate the attributes of a vertex linearly in the triangle that contains it.
void interpolate(Triangulation& mesh, std::int32_t vertex, const Triangle& t);
/// Interpolate the attributes of a vertex linearly between two others. @param part  of the way to the second
void interpolate(Triangulation& mesh, std::int32_t vertex, std::int32_t from, std::int32_t to, double part);
/// Put a row on the list of unused ones. If it waits in a queue, only mark it: the code that pops it calls this again.
void free_triangle(Triangulation& mesh, std::int32_t row) noexcept;
void free_vertex(Triangulation& mesh, std::int32_t vertex) noexcept;

}  // namespace barrio::delaunay::detail
