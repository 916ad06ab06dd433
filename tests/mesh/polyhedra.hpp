#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

/// Convert hexes and tets to polyhedra with the same faces, in the same order. Local.
mesh::MeshTables as_polyhedra(mesh::MeshTables tables);

/// Make prisms over hexagons, arranged like bricks in a wall: 8 faces, 12 corners, 18 edges each. Cell (x, y, z) has
/// the row (z * n_y + y) * n_x + x; four vertices of the grid belong to no cell. Without listed faces. Collective.
mesh::MeshTables honeycomb(mpi::Context& context, std::int64_t n_x, std::int64_t n_y, std::int64_t n_z);

/// Return the faces of a polyhedron from its closed loops, by independent code.
std::vector<std::vector<std::int64_t>> faces_of_loops(const std::vector<std::int64_t>& nodes);

}  // namespace barrio::test
