#pragma once

#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Choose a rank for each owned cell so that all ranks get the same weight and cells that lie together stay together:
/// what `Mesh::migrate` takes. Collective. By recursive coordinate bisection of the cells' centres, so it does not
/// depend on where cells are now.
/// @param[in] weights  of the owned cells, >= 0, such as measured time; empty means 1 each
/// @return shape (mesh.n_owned(mesh.cell_dim()))
/// @throws AgreedError as partition::rcb; {usage} for a wrong number of weights
/// Cost: see partition::rcb.
std::vector<Rank> balanced_ranks(const Mesh& mesh, std::span<const std::int64_t> weights = {});

}  // namespace barrio::mesh
