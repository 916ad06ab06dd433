#pragma once

#include <span>
#include <vector>

#include "barrio/delaunay/geojson/rings.hpp"

namespace barrio::delaunay::detail {

/// Return the meridian at which a map in degrees ends: 180, or 360 if longitudes go from 0 to 360.
[[nodiscard]] double last_meridian(const std::vector<Ring>& rings) noexcept;

/// Cut rings that cross the last meridian from one position to the next: edges longer than 180 degrees of longitude are
/// taken the short way round. A ring is led from each crossing along the meridian to a pole, along the pole, and back on
/// the other side. Ways along the meridian that are not its border are there in both directions, and cancel. So a ring
/// around a pole becomes one with an edge along the pole, as in files that follow RFC 7946. Edges from one side of the
/// last meridian to its other side are left as they are.
/// @return number of rings cut
std::int64_t cut_at_meridian(std::vector<Ring>& rings, double last);

}  // namespace barrio::delaunay::detail
