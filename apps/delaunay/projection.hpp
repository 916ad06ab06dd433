#pragma once

#include <functional>
#include <span>
#include <string>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::apps {

/// Function that replaces longitudes and latitudes by coordinates in a plane. @throws Error{bad_input} for positions
/// that it cannot project
using Projection = std::function<void(std::span<delaunay::Point>)>;

/// Make a projection, empty for "none".
/// @param name  a projection that PROJ knows ("EPSG:32632", "+proj=..."); "auto", a conformal one around the middle of
/// the positions (stereographic, metres); or "none", which takes coordinates as they are
/// @param[out] used  definition given to PROJ, set when the projection is first used; "auto" then keeps to it
/// @throws Error{usage} in a build without PROJ, and, when it is used, for a name that PROJ does not know; {bad_input}
/// for "auto" if the positions of the first use lie on more than a hemisphere
[[nodiscard]] Projection make_projection(const std::string& name, std::string& used);

}  // namespace barrio::apps
