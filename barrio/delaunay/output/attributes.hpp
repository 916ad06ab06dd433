#pragma once

#include <vector>

#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay::detail {

/// Tell all ranks the attributes that rank 0's triangulation has. Collective.
[[nodiscard]] std::vector<Attribute> share_attributes(mpi::Context& context, const Triangulation& mesh);

}  // namespace barrio::delaunay::detail
