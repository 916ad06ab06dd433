#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Compute the square of the distance of a position from a segment.
[[nodiscard]] double squared_gap(const Point& p, const Point& a, const Point& b) noexcept;
[[nodiscard]] double squared_gap(const Point& a, const Point& b) noexcept;

/// Compute the crossing of two segments that cross.
[[nodiscard]] Point crossing_of(const Point& a, const Point& b, const Point& c, const Point& d) noexcept;

/// Tell whether two segments cross in the interior of both.
[[nodiscard]] bool do_cross(const Point& a, const Point& b, const Point& c, const Point& d);

/// Find segments that cross in the interior of both, in order of their rows; the lower row comes first.
/// @param is_sought  whether a segment is sought with all others; otherwise only with those that are
[[nodiscard]] std::vector<std::array<std::int32_t, 2>> find_crossings(std::span<const std::array<Point, 2>> segments,
                                                                      std::span<const char> is_sought);

}  // namespace barrio::delaunay::detail
