#pragma once

#include <cstddef>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/exact.hpp"

namespace barrio::delaunay::detail {

/// Tells whether places lie within a boundary, by the edges that a ray to the right crosses. Edges wait in strips of
/// the plane, so that a place asks few of them.
class InsideTest {
 public:
  InsideTest(const AuditedMesh& mesh, std::vector<EdgeTable::Use> boundary);
  /// Places on the boundary are not inside.
  [[nodiscard]] bool operator()(const Point& p, ExactSigns& signs) const;

 private:
  [[nodiscard]] std::size_t strip(double y) const noexcept;

  const AuditedMesh* mesh_;
  std::vector<EdgeTable::Use> boundary_;
  std::vector<std::size_t> first_;  // of each strip in `edges_`
  std::vector<std::size_t> edges_;  // of the boundary
  double low_ = 0.0;
  double high_ = 0.0;
};

}  // namespace barrio::delaunay::detail
