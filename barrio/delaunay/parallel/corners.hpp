#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Smallest angle, in degrees, between an interface and another one or a segment. Parts refine interfaces by halves,
/// and these do not provoke each other from here on for any min angle that is allowed.
inline constexpr double min_corner = 35.0;

/// Assign triangles to other parts until interfaces meet each other, segments and the boundary in angles of at least
/// `min_corner`. Where that fails, triangles around a vertex between two segments all go to one part; so it ends.
/// @param mesh  borrowed @param[in,out] part_of  part of each row
/// @return the smallest of these angles, degrees; 180 if there is no interface. Cost: linear in the triangles at
/// interfaces, and a pass over all
double widen_corners(const Triangulation& mesh, std::vector<std::int32_t>& part_of);

}  // namespace barrio::delaunay::detail
