#pragma once

#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Measure the mesh: its volume, then the area of the faces and the volume of the cells of each set that has some, with
/// the result in `before`. Collective. @return the same on any number of ranks. Cost: O(n_owned), one reduction
std::vector<SetMeasure> measures_of(const mesh::Mesh& mesh);

/// Measure again, and put the results in `after`. Collective. @pre the sets are the same
void measure_again(const mesh::Mesh& mesh, std::vector<SetMeasure>& measures);

}  // namespace barrio::adapt::detail
