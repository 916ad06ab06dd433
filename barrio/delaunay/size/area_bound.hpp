#pragma once

#include <functional>
#include <optional>

#include "barrio/delaunay/size/sample_grid.hpp"
#include "barrio/delaunay/size_field.hpp"

namespace barrio::delaunay::detail {

/// Bound of the areas of triangles by position. At its centroid, a triangle meets the bound itself; elsewhere in it,
/// four times the bound: edges are nowhere longer than twice what is wanted there.
class AreaBound {
 public:
  /// @param area_at  may be empty, as may the field
  AreaBound(std::function<double(const Point&)> area_at, SizeField size, const Rectangle& domain, double resolution);

  /// Return the bound of a triangle, if it is below a given one. @throws Error{bad_input} for values that are not
  /// above 0
  [[nodiscard]] double operator()(const SizeField::Corners& corners, double bound);

 private:
  std::function<double(const Point&)> area_at_;
  SizeField size_;
  std::optional<SampleGrid> samples_;  // of area_at
};

}  // namespace barrio::delaunay::detail
