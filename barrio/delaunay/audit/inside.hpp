#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/exact.hpp"

namespace barrio::delaunay::detail {

/// Test whether positions lie within a boundary, by the edges that a ray to the right crosses. Edges are sorted into
/// horizontal strips, so a position is tested against few of them.
class InsideTest {
 public:
  InsideTest(const AuditedMesh& mesh, std::vector<EdgeTable::Use> boundary);
  enum class Place : std::uint8_t { outside, boundary, inside };
  [[nodiscard]] Place find(const Point& p, ExactSigns& signs) const;
  /// Tell whether a position lies inside; the boundary does not belong to the inside.
  [[nodiscard]] bool operator()(const Point& p, ExactSigns& signs) const { return find(p, signs) == Place::inside; }

 private:
  [[nodiscard]] std::size_t strip(double y) const noexcept;

  const AuditedMesh* mesh_;
  std::vector<EdgeTable::Use> boundary_;
  std::int32_t n_strips_ = 1;
  std::vector<std::size_t> first_;  // of each strip in `edges_`
  std::vector<std::size_t> edges_;  // of the boundary
  double low_ = 0.0;
  double high_ = 0.0;
};

}  // namespace barrio::delaunay::detail
