#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"

namespace barrio::delaunay::detail {

/// The way of each segment of a graph through the edges of a mesh.
class Chains {
 public:
  Chains(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges);

  /// An edge of the mesh, and the segment whose piece it is, in the segment's direction.
  struct Piece {
    std::int64_t from;
    std::int64_t to;
    std::size_t segment;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  /// The piece of an edge, or null.
  [[nodiscard]] const Piece* find(std::int64_t a, std::int64_t b) const noexcept;
  /// Segments of which there is nothing: they should lie outside, or in holes.
  [[nodiscard]] const std::vector<std::size_t>& absent() const noexcept { return absent_; }
  /// The first segment that begins and does not go on to its end; empty if there is none.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Vertex of each point of the graph, or -1.
  [[nodiscard]] const std::vector<std::int64_t>& vertices() const noexcept { return vertices_; }

 private:
  void find_vertices(const AuditedMesh& mesh, const PlanarGraph& graph);
  void follow(const AuditedMesh& mesh, const PlanarGraph& graph, std::size_t segment);

  std::vector<std::int64_t> vertices_;
  std::vector<std::int64_t> first_;  // of the neighbours of each vertex, by edges that are said to be on segments
  std::vector<std::int64_t> next_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> by_edge_;  // pieces
  std::vector<std::size_t> absent_;
  std::string fault_;
  double rounding_ = 0.0;  // how far a vertex may miss its segment
};

}  // namespace barrio::delaunay::detail
