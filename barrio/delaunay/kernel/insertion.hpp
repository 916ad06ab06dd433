#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// The vertex beyond the hull, of triangles that stand for what is outside of it, while points are inserted.
inline constexpr std::int32_t outside_vertex = -1;

/// Index of a vertex that is one of a triangle's.
[[nodiscard]] inline std::uint32_t corner_of(const Triangle& triangle, std::int32_t vertex) noexcept {
  return triangle.vertices[0] == vertex ? 0U : triangle.vertices[1] == vertex ? 1U : 2U;
}
/// Whether a triangle stands for the outside.
[[nodiscard]] inline bool is_outside(const Triangle& triangle) noexcept {
  return (triangle.vertices[0] | triangle.vertices[1] | triangle.vertices[2]) < 0;
}

/// Where a walk towards a point has ended.
struct Place {
  enum class Kind : std::uint8_t {
    inside,    ///< of the triangle, or on one of its edges
    vertex,    ///< on the corner `side.edge()` of it
    blocked,   ///< at a segment, or the boundary, beyond which the point lies
    exterior,  ///< beyond the hull: in a triangle of the outside
  };
  Kind kind = Kind::inside;
  Side side{0, 0};
};

/// Insert points into a constrained Delaunay triangulation: triangles whose circle has the point inside, and that are
/// not behind segments, give way to those that join the point with the edge around them. Rows of triangles are used
/// again, so that each point takes two more. Source: Bowyer 1981; Watson 1981
class Insertion {
 public:
  explicit Insertion(Triangulation& mesh) : mesh_(&mesh) {}

  /// Walk from a triangle, which has three vertices, to where a point is.
  [[nodiscard]] Place locate(const Point& p, std::int32_t from) noexcept;

  /// Find the triangles that a point takes the place of. @param t  one that has it inside or on an edge
  void find_cavity(const Point& p, GlobalId id, std::int32_t t);
  /// The same for a point in the middle of a segment.
  void find_cavity_at_segment(const Point& p, GlobalId id, Side segment);

  /// An edge around the point, from `from` counterclockwise to the next one's.
  struct RingEdge {
    std::int32_t from;
    Side inside;          ///< of the triangle that goes
    Side outside;         ///< what lies beyond, as its own side
    std::uint32_t state;  ///< region of the triangle before, and `segment_bit(0)` if it is a segment
  };
  [[nodiscard]] const std::vector<RingEdge>& ring() const noexcept { return ring_; }
  /// Vertex that a ring edge leads to.
  [[nodiscard]] std::int32_t ring_end(std::size_t k) const noexcept {
    return k + 1 < ring_.size() ? ring_[k + 1].from : last_;
  }
  /// Whether all new triangles would be counterclockwise: a point that was rounded may miss its segment.
  [[nodiscard]] bool is_star(const Point& p) const noexcept;

  /// Whether the triangles on the sides of the segment, which go in any case, have the point in their circles.
  [[nodiscard]] bool has_sides_in_circle(const Point& p) const noexcept;

  /// Put triangles around the vertex into the cavity. @return their rows; valid until the next call
  const std::vector<std::int32_t>& fill(std::int32_t vertex);

 private:
  [[nodiscard]] bool is_conflict(const Triangle& u, const Point& p, GlobalId id) const noexcept;
  void grow(const Point& p, GlobalId id);
  [[nodiscard]] std::int32_t make_row();

  Triangulation* mesh_;
  std::vector<Side> stack_;
  std::vector<std::int32_t> rows_;
  std::vector<RingEdge> ring_;
  std::int32_t last_ = 0;                      // where the ring ends: where it begins, if it is closed
  std::size_t middle_ = 0;                     // of the ring around a point on a segment: where its other side begins
  std::array<std::int32_t, 2> sides_{-1, -1};  // rows on both sides of that
  bool is_closed_ = true;
  bool is_on_segment_ = false;
  std::uint32_t first_edge_ = 0;  // that an earlier walk has begun with
};

/// Id of a point that is not a vertex yet: that of the row it will get.
[[nodiscard]] inline GlobalId next_id(const Triangulation& mesh) noexcept {
  return mesh.id(mesh.first_unused_vertex >= 0 ? mesh.first_unused_vertex
                                               : static_cast<std::int32_t>(mesh.points.size()));
}

/// A new vertex, in a row that is not used if there is one. It has no attributes yet.
[[nodiscard]] std::int32_t make_vertex(Triangulation& mesh, const Point& p, VertexInfo info);
/// Give a vertex, which lies in a triangle, the attributes that are linear between its corners.
void interpolate(Triangulation& mesh, std::int32_t vertex, const Triangle& t);
/// The same between two vertices. @param part  of the way to the second
void interpolate(Triangulation& mesh, std::int32_t vertex, std::int32_t from, std::int32_t to, double part);
/// Put a row on the list of those that are not used, unless it waits in a queue: then whoever takes it from there does.
void free_triangle(Triangulation& mesh, std::int32_t row) noexcept;
void free_vertex(Triangulation& mesh, std::int32_t vertex) noexcept;

}  // namespace barrio::delaunay::detail
