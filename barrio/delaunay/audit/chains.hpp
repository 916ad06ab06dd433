#pragma once

#include <array>
#include <cstdint>
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
  Chains(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges, ExactSigns& signs);

  /// An edge of the mesh and the segment that it is a piece of, in the segment's direction.
  struct Piece {
    std::int64_t from;
    std::int64_t to;
    std::size_t segment;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  /// Find the piece of an edge. @return null if there is none
  [[nodiscard]] const Piece* find(std::int64_t a, std::int64_t b) const noexcept;
  /// A stretch of a segment without edges; it should lie outside, or in a hole.
  struct Gap {
    Point from;
    Point to;
    std::size_t segment;
  };
  [[nodiscard]] const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// Return the number of segments without a piece.
  [[nodiscard]] std::size_t n_absent() const noexcept { return n_absent_; }
  /// Return, in words, an edge listed as lying on a segment that is not an edge of a triangle; empty if there is none.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Return the vertex of each point of the graph, or -1.
  [[nodiscard]] const std::vector<std::int64_t>& vertices() const noexcept { return vertices_; }

 private:
  class Line;
  void find_vertices(const PlanarGraph& graph);
  bool list_neighbours(const EdgeTable& edges);
  void list_stops(const PlanarGraph& graph, const EdgeTable& edges);
  void follow(const PlanarGraph& graph, std::size_t segment, ExactSigns& signs);
  [[nodiscard]] std::vector<std::int64_t> walk(std::int64_t from, const Line& line, ExactSigns& signs) const;
  [[nodiscard]] std::vector<std::int64_t> stops_on(const Line& line, ExactSigns& signs) const;
  [[nodiscard]] const Point& point(std::int64_t v) const { return mesh_->points[v]; }

  const AuditedMesh* mesh_;
  std::vector<std::int64_t> vertices_;
  std::vector<char> is_input_;       // of each vertex
  std::vector<std::int64_t> first_;  // of each vertex: its first neighbour in next_, along the listed edges
  std::vector<std::int64_t> next_;
  std::vector<std::int64_t> stops_;  // boundary vertices that are points of the graph, sorted by coordinates
  std::vector<Piece> pieces_;
  std::vector<std::size_t> by_edge_;  // pieces
  std::vector<Gap> gaps_;
  std::size_t n_absent_ = 0;
  std::string fault_;
  double rounding_ = 0.0;  // max distance of a vertex from its segment
};

}  // namespace barrio::delaunay::detail
