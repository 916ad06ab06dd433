#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/geojson/rings.hpp"

namespace barrio::delaunay::detail {

inline constexpr double whole_circle = 360.0;  // of longitude

/// Bring longitudes beyond 180 degrees to the other end of the map.
void wrap_longitudes(std::vector<Ring>& rings) noexcept;

/// Return the meridian at which a map in degrees ends: 180, or 360 if longitudes go from 0 to 360.
[[nodiscard]] double last_meridian(const std::vector<Ring>& rings) noexcept;

/// Cut rings that cross the last meridian from one position to the next: edges longer than 180 degrees of longitude are
/// taken the short way round. A ring is led from each crossing along the meridian to a pole, along the pole, and back
/// on the other side. Ways along the meridian that are not its border are there in both directions, and cancel. So a
/// ring around a pole becomes one with an edge along the pole, as in files that follow RFC 7946. An edge along a
/// parallel from one end of the map to the other is left as it is if it lies at a pole, or if the ring has one that
/// leads back.
/// @return number of rings cut
std::int64_t cut_at_meridian(std::vector<Ring>& rings, double last);

/// Move positions next to a pole to it, of rings that reach both ends of the map there: some files end at 89.999
/// degrees.
void end_at_poles(std::vector<Ring>& rings, double last) noexcept;

}  // namespace barrio::delaunay::detail
