#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// Make random points around a thin swept plate, dense at its surface, a quarter of them in the far field. Neighbours
/// are the nearest points, about 15, as in an unstructured mesh of tetrahedra. 64 parts by bisection have 15 partners
/// each, those of `wing_grid` 9. The first points form a coarser cloud of this kind.
PointGrid plate_cloud(int n_points);

/// Connect points with their 12 nearest ones, symmetrically. @param[in] coordinates  (n, 3)
PointGrid connect_nearest(std::vector<double> coordinates);

}  // namespace barrio::bench
