#pragma once

#include <functional>
#include <span>
#include <string>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::apps {

/// Replaces longitudes and latitudes by coordinates in a plane. @throws Error{bad_input} for places that it has not
using Projection = std::function<void(std::span<delaunay::Point>)>;

/// @param name  what PROJ knows ("EPSG:32632", "+proj=..."); or "auto", a conformal one around the middle of what is
/// projected first (stereographic, metres); "none" takes coordinates as they are
/// @param[out] used  what PROJ was told, when it has been used
/// @throws Error{usage} for what PROJ does not know, and without PROJ
[[nodiscard]] Projection make_projection(const std::string& name, std::string& used);

}  // namespace barrio::apps
