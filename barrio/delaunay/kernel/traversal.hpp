#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// List the used triangles in an order that depends on coordinates alone, not on rows, and rotate them likewise: each
/// part of the mesh depth first, from its vertex with the smallest x. Neighbours in the list mostly share an edge.
/// Cost: a walk over all triangles; memory 5 bytes each
[[nodiscard]] std::vector<std::int32_t> canonical_order(Triangulation& mesh);

}  // namespace barrio::delaunay::detail
