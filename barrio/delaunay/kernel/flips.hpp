#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Exchange an edge for the other diagonal of its two triangles.
/// @pre the quadrilateral is strictly convex, and the edge is not a segment
/// @post the new edge is edge 2 in both rows, and joins the corners that lay opposite the old one
void flip(Triangulation& mesh, Side side) noexcept;

/// Tell whether the corner across an edge lies outside the circle of the triangle; ids break ties. @pre there is a
/// triangle across, and neither is an outside triangle
[[nodiscard]] bool is_delaunay(const Triangulation& mesh, Side side) noexcept;

/// Tell whether the two triangles of an edge form a strictly convex quadrilateral.
[[nodiscard]] bool is_convex(const Triangulation& mesh, Side side) noexcept;

/// Insert segments into a triangulation that covers them. Source: Sloan 1993
class SegmentInsertion {
 public:
  explicit SegmentInsertion(Triangulation& mesh);

  /// Make the edge between two vertices a segment, and the triangulation constrained Delaunay again. Vertices that lie
  /// on it cut it into pieces. @return its vertices in order, valid until the next call
  /// @throws Error{bad_input} if it crosses another segment, with the place
  const std::vector<std::int32_t>& insert(std::int32_t from, std::int32_t to);

 private:
  /// First obstacle on the way from a vertex to another one.
  struct Ahead {
    Side edge;                 ///< first edge that is crossed; or none
    std::int32_t vertex = -1;  ///< first vertex on the way, if no edge is crossed
  };
  [[nodiscard]] Ahead look(std::int32_t from, std::int32_t to) const;
  /// Collect the edges that the segment crosses in crossed_. @return the vertex where it ends: `to`, or one on the way
  [[nodiscard]] std::int32_t cross(std::int32_t from, std::int32_t to, Side first);
  void flip_crossed(std::int32_t from, std::int32_t to);
  void restore();
  void flip_and_note(Side side) noexcept;
  void mark(Side side) noexcept;
  /// An edge between two vertices; where there is none, the end with fewer triangles.
  struct Search {
    Side side;
    bool is_smaller_at_to = false;
  };
  /// Cost: linear in the triangles at the end that has fewer
  [[nodiscard]] Search search_both(std::int32_t from, std::int32_t to) const;
  /// Find the edge from a vertex to another one, as an edge of the triangle on its left. @return none if there is none
  [[nodiscard]] Side find(std::int32_t from, std::int32_t to) const { return search_both(from, to).side; }
  [[noreturn]] void refuse_crossing(std::int32_t from, std::int32_t to, Side segment) const;

  struct Edge {
    std::int32_t from;
    std::int32_t to;
  };
  Triangulation* mesh_;
  std::vector<std::int32_t> triangle_of_;  // a triangle at each vertex
  std::vector<std::int32_t> way_;
  std::vector<std::int32_t> way_back_;  // from the other end
  std::vector<Edge> crossed_;
  std::vector<Edge> later_;
  std::vector<Edge> made_;
};

}  // namespace barrio::delaunay::detail
