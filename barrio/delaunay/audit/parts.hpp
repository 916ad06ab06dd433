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

/// The parts of a mesh between segments, and the regions that a graph has there.
class Parts {
 public:
  Parts(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges, const Chains& chains);

  /// Find regions by their places, or by what segments say of their sides, also of what is outside.
  void find_regions(ExactSigns& signs);
  /// The first contradiction between mesh and graph; empty if there is none.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Parts whose region is known.
  [[nodiscard]] std::int64_t n_named() const noexcept { return n_named_; }
  /// Place of a triangle's region in the graph, from 1; 0 if it has none.
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
  Joined parts_;                       // triangles
  std::vector<std::int32_t> regions_;  // of the roots; unnamed: 0
  std::string fault_;
  std::int64_t n_named_ = 0;
};

}  // namespace barrio::delaunay::detail
