#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// Random points round a thin swept plate, close together at its surface, a quarter of them in the far field, each with
/// its nearest points as neighbours: about 15, as in a mesh of tetrahedra that is not structured. 64 parts by
/// bisection have 15 partners each, those of `wing_grid` 9. The first of the points are a coarser cloud of this kind.
PointGrid plate_cloud(int n_points);

/// Connect points with their 12 nearest ones, and with those whose nearest they are. @param[in] coordinates  (n, 3)
PointGrid connect_nearest(std::vector<double> coordinates);

}  // namespace barrio::bench
