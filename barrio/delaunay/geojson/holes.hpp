#pragma once

#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/geojson/rings.hpp"
#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::detail {

/// Find features by their property `name`, or else by their number from 1. @return whether each feature is among them
/// @throws Error{usage} for a name that no feature has
[[nodiscard]] std::vector<char> find_features(const RingsOfFile& file, std::span<const std::string> wanted);

/// Leave the areas of some regions empty, as if they were outside. Segments with nothing on either side go, and their
/// points. @param is_empty  whether each region is to be empty, by its position in the list @pre the graph has `sides`
void leave_empty(PlanarGraph& graph, const std::vector<char>& is_empty);

}  // namespace barrio::delaunay::detail
