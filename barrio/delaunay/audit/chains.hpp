#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/exact.hpp"

namespace barrio::delaunay::detail {

/// Paths of the segments of a graph along the edges of a mesh. Where a segment leaves the triangles and comes back, it
/// does so at points of the graph that lie on it.
class Chains {
 public:
  /// Follow segments between points of a graph. Edges that the mesh lists count, and with `fills_hull` also all edges
  /// at its boundary.
  Chains(const AuditedMesh& mesh, std::span<const Point> points, std::span<const PlanarGraph::Edge> segments,
         bool fills_hull, const EdgeTable& edges, std::span<const EdgeTable::Use> boundary, ExactSigns& signs);

  /// An edge of the mesh and the segment that it is a piece of, in the segment's direction.
  struct Piece {
    std::int32_t from;
    std::int32_t to;
    std::uint32_t segment;
  };
  /// Return the pieces, those of a segment from its start to its end.
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  /// Find the piece of an edge. @return null if there is none
  [[nodiscard]] const Piece* find(std::int32_t a, std::int32_t b) const noexcept;
  /// Find all pieces of an edge, by their rows in `pieces()`: several where segments coincide.
  [[nodiscard]] std::span<const std::uint32_t> find_all(std::int32_t a, std::int32_t b) const noexcept;
  /// A stretch of a segment without edges; it should lie outside, or in a hole.
  struct Gap {
    Point from;
    Point to;
    std::size_t segment;
  };
  [[nodiscard]] const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// Return, in words, an edge listed as lying on a segment that is not an edge of a triangle; empty if there is none.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Return the vertex of each point of the graph, or -1.
  [[nodiscard]] const std::vector<std::int32_t>& vertices() const noexcept { return vertices_; }

 private:
  class Line;
  void find_vertices();
  bool list_neighbours(const EdgeTable& edges, std::span<const EdgeTable::Use> boundary);
  void list_stops(std::span<const EdgeTable::Use> boundary);
  void follow(std::uint32_t segment, ExactSigns& signs);
  [[nodiscard]] std::vector<std::int32_t> walk(std::int32_t from, const Line& line, ExactSigns& signs) const;
  [[nodiscard]] std::vector<std::int32_t> stops_on(const Line& line, ExactSigns& signs) const;
  [[nodiscard]] const Point& point(std::int32_t v) const { return mesh_->points[v]; }

  const AuditedMesh* mesh_;
  std::span<const Point> points_;
  std::span<const PlanarGraph::Edge> segments_;
  std::vector<std::int32_t> vertices_;
  std::vector<char> is_input_;        // of each vertex
  std::vector<std::uint32_t> first_;  // of each vertex: its first neighbour in next_, along the listed edges
  std::vector<std::int32_t> next_;
  std::vector<std::int32_t> stops_;  // boundary vertices that are points of the graph, sorted by coordinates
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> by_edge_;  // pieces
  std::vector<Gap> gaps_;
  std::string fault_;
  double rounding_ = 0.0;  // max distance of a vertex from its segment
};

}  // namespace barrio::delaunay::detail
