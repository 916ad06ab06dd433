#pragma once

#include <cstdint>

#include "barrio/delaunay/audit.hpp"

namespace barrio::delaunay::detail {

/// How many triangles the sizes want where a single one is, by samples all over it.
struct Wanted {
  double max = 0.0;           ///< the largest number
  std::int64_t triangle = 0;  ///< the triangle with it
  Point place{};              ///< the smallest size found there
  std::int64_t n_samples = 0;
};

/// Sample `area_at` and `size` in all triangles: at a distance of about the resolution, and at least four times in
/// each. The positions differ from those of the mesher.
[[nodiscard]] Wanted sample_sizes(const AuditedMesh& mesh, const AuditOptions& options);

}  // namespace barrio::delaunay::detail
