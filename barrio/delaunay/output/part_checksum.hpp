#pragma once

#include <cstdint>
#include <span>

#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Compute the checksum of the triangles of a mesh and of some of its edges. As `checksum`.
[[nodiscard]] std::uint64_t checksum(const Triangulation& mesh, std::span<const SegmentEdge> edges);

}  // namespace barrio::delaunay::detail
