#pragma once

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

/// Make a box with every kind of tag, on vertices, cells, faces, sets and the mesh, and with nested and ordered sets.
/// Collective.
mesh::MeshTables tagged_box(mpi::Context& context);

}  // namespace barrio::test
