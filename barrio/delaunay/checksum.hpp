#pragma once

/// @file Checksum of a triangulation that does not depend on the order of its rows.

#include <cstdint>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Compute the checksum of a triangulation: the sum modulo 2^64 of hashes of its triangles and of its edges on
/// segments. A triangle counts by the coordinates of its corners and the attribute of its region, an edge by its ends
/// and its marker. So it does not depend on the order of rows, nor on which corner of a triangle comes first; -0.0
/// counts as 0.0. Local. Cost: one pass, about 30 ns a triangle
[[nodiscard]] std::uint64_t checksum(const Triangulation& mesh);

/// Compute the same checksum of triangles of any origin. Labels that are not given count as 0. Local.
/// @pre no row is out of range
[[nodiscard]] std::uint64_t checksum(const AuditedMesh& mesh);

}  // namespace barrio::delaunay
