#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Exchange an edge for the other diagonal of its two triangles. @pre the four corners are convex; no segment
/// @return sides of the new edge in the two rows: it leads between the corners that lay across
void flip(Triangulation& mesh, Side side) noexcept;

/// Whether the corner across an edge lies in the circle of the triangle. @pre there is one, and neither is outside
[[nodiscard]] bool is_delaunay(const Triangulation& mesh, Side side) noexcept;

/// Whether the two triangles of an edge are a strictly convex quadrilateral.
[[nodiscard]] bool is_convex(const Triangulation& mesh, Side side) noexcept;

/// Put segments into a triangulation whose triangles cover them. Source: Sloan 1993
class SegmentInsertion {
 public:
  explicit SegmentInsertion(Triangulation& mesh);

  /// Make the edge between two vertices a segment, and the triangulation constrained Delaunay again. It becomes several
  /// where vertices lie on it: @return its vertices one after the other, until the next call
  /// @throws Error{bad_input} if it crosses another segment, with the place
  const std::vector<std::int32_t>& insert(std::int32_t from, std::int32_t to);

 private:
  /// What lies ahead of a vertex in the direction of another.
  struct Ahead {
    Side edge;                 ///< that is crossed; or none
    std::int32_t vertex = -1;  ///< that is reached first if no edge is crossed
  };
  [[nodiscard]] Ahead look(std::int32_t from, std::int32_t to) const;
  /// @return the vertex where it ends: `to`, or one that lies on the way. Edges that are crossed come into crossed_
  [[nodiscard]] std::int32_t cross(std::int32_t from, std::int32_t to, Side first);
  void flip_crossed(std::int32_t from, std::int32_t to);
  void restore();
  void flip_and_note(Side side) noexcept;
  void mark(std::int32_t from, std::int32_t to);
  [[nodiscard]] Side find(std::int32_t from, std::int32_t to) const;
  [[noreturn]] void refuse_crossing(std::int32_t from, std::int32_t to, Side segment) const;

  struct Edge {
    std::int32_t from;
    std::int32_t to;
  };
  Triangulation* mesh_;
  std::vector<std::int32_t> triangle_of_;  // one at each vertex
  std::vector<std::int32_t> way_;
  std::vector<Edge> crossed_;
  std::vector<Edge> later_;
  std::vector<Edge> made_;
};

}  // namespace barrio::delaunay::detail
