#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/audit.hpp"

namespace barrio::delaunay::detail {

/// Table of the edges of all triangles, each from its lower vertex to its higher one.
class EdgeTable {
 public:
  /// An edge of one triangle.
  struct Use {
    std::int64_t low;
    std::int64_t high;
    std::int64_t triangle;
    std::int32_t corner;  ///< opposite it
    bool is_upward;       ///< whether it leads from low to high in the triangle
  };
  explicit EdgeTable(const AuditedMesh& mesh);

  /// Return the uses of all edges; those of one edge are adjacent.
  [[nodiscard]] const std::vector<Use>& uses() const noexcept { return uses_; }
  /// Find the uses of an edge, at most two in a sound mesh.
  [[nodiscard]] std::span<const Use> find(std::int64_t a, std::int64_t b) const noexcept;
  [[nodiscard]] std::int64_t n_edges() const noexcept { return n_edges_; }

  /// Call `visit` with the uses of each edge.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < uses_.size();) {
      std::size_t end = i + 1;
      while (end < uses_.size() && uses_[end].low == uses_[i].low && uses_[end].high == uses_[i].high) ++end;
      visit(std::span(uses_).subspan(i, end - i));
      i = end;
    }
  }

 private:
  std::vector<Use> uses_;
  std::int64_t n_edges_ = 0;
};

}  // namespace barrio::delaunay::detail
