#pragma once

#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Return the distance that the rounding of the coordinates may put a vertex off a plane or line: a few units of the
/// last digit that all coordinates have, of 5 to 12 decimal digits or of single precision, within 1e-11 and 1e-5 of the
/// diagonal of the mesh. Collective. @return the same on all ranks. Cost: O(n_local) at most; coordinates with all
/// digits are recognized by the first few
double tolerance_of(const mesh::Mesh& mesh);

}  // namespace barrio::adapt::detail
