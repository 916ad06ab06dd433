#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Remove vertices from a constrained Delaunay triangulation. The polygon that remains is cut into triangles, ear by
/// ear, and these are flipped until they are Delaunay. Source: Lawson 1977 on flips
class Removal {
 public:
  explicit Removal(Triangulation& mesh) : mesh_(&mesh) {}

  /// Remove a vertex that is surrounded by triangles and not on a segment.
  /// @param corner  one of these triangles, and the vertex's corner in it
  /// @return rows of the new triangles, valid until the next call
  /// Cost: about O(n) for n triangles around it
  const std::vector<std::int32_t>& remove(Side corner);

 private:
  /// An edge of the remaining polygon, counterclockwise from `from` to that of the next one.
  struct Edge {
    std::int32_t from;
    Side outside;
    bool is_segment;
    bool is_cut = false;
    std::size_t before = 0;
    std::size_t after = 0;
  };
  void find_edges(Side corner);
  [[nodiscard]] bool is_ear(std::size_t i, const Point& centre, int min_sign) const noexcept;
  [[nodiscard]] std::size_t next_ear(const Point& centre);
  void cut(std::size_t i, std::int32_t row);
  void close(std::size_t i, std::int32_t row);
  void restore();

  Triangulation* mesh_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> candidates_;
  std::vector<std::int32_t> old_rows_;
  std::vector<std::int32_t> rows_;
  std::vector<Side> suspects_;
  std::uint32_t region_ = 0;
};

}  // namespace barrio::delaunay::detail
