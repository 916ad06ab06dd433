#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/chains.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/exact.hpp"
#include "barrio/delaunay/audit/joined.hpp"

namespace barrio::delaunay::detail {

/// Parts of a mesh between segments, and the region of the graph in each.
class Parts {
 public:
  Parts(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges, const Chains& chains);

  /// Find regions by their positions, or by the sides of segments. The latter also tell what must be outside.
  void find_regions(ExactSigns& signs);
  /// Return the first contradiction between mesh and graph, in words; empty if there is none.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Return the number of parts with a known region.
  [[nodiscard]] std::int64_t n_named() const noexcept { return n_named_; }
  /// Return the region of a triangle: its position in the graph from 1, or 0 for none.
  [[nodiscard]] std::int32_t region(std::size_t triangle) { return regions_[parts_.root(triangle)]; }

 private:
  void name(std::size_t triangle, std::int32_t region);
  void find_by_places(ExactSigns& signs);
  void find_by_sides();
  [[nodiscard]] std::string place(std::size_t triangle) const;

  const AuditedMesh* mesh_;
  const PlanarGraph* graph_;
  const EdgeTable* edges_;
  const Chains* chains_;
  Joined parts_;                       // sets of triangles
  std::vector<std::int32_t> regions_;  // of the roots; 0 for none
  std::string fault_;
  std::int64_t n_named_ = 0;
};

}  // namespace barrio::delaunay::detail
