#pragma once

#include <vector>

#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay::detail {

/// Broadcast the attributes of the triangulation on rank 0, without values. Collective.
[[nodiscard]] std::vector<Attribute> share_attributes(mpi::Context& context, const Triangulation& mesh);

}  // namespace barrio::delaunay::detail
