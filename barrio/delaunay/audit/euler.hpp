#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"

namespace barrio::delaunay::detail {

/// Check Euler's formula. A vertex where parts touch counts once for each part.
/// @param boundary  uses of the edges with one triangle
/// @param n_stray   number of vertices without triangles, which are a fault
[[nodiscard]] Audit::Check check_euler(const AuditedMesh& mesh, const EdgeTable& edges,
                                       const std::vector<EdgeTable::Use>& boundary, std::int64_t n_stray);

}  // namespace barrio::delaunay::detail
