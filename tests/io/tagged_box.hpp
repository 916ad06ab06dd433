#pragma once

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

/// A box with every kind of tag, on vertices, cells, faces, sets and the mesh, and sets in sets, ordered ones too.
/// Collective.
mesh::MeshTables tagged_box(mpi::Context& context);

}  // namespace barrio::test
