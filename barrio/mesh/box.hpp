#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// A box cut into a regular grid.
struct BoxOptions {
  std::array<std::int64_t, 3> n{8, 8, 8};    ///< cells along x, y, z; each >= 1
  std::array<double, 3> low{0.0, 0.0, 0.0};  ///< corner, model units
  std::array<double, 3> high{1.0, 1.0, 1.0};
  bool tets = false;  ///< cut each hex into the six tets of Kuhn around its diagonal
};

/// Make the tables of a box. Collective, without a message: each rank computes its slabs in closed form.
/// Vertices run x first; hexes too; the sets are the material "box" and the boundaries "x-", "x+", ... "z+" with their
/// faces.
/// @throws AgreedError{usage} for n < 1 or more than 2^31 vertices per rank
MeshTables make_box(mpi::Context& context, const BoxOptions& options);

}  // namespace barrio::mesh
