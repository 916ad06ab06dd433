#pragma once

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

// Additions to tables with only vertices and cells.

/// Add a set of nine vertices and five cells, contained in another set that has one more cell.
void add_sets_in_sets(mesh::MeshTables& tables);

/// Make a tag of integers on some rows of every table; the row determines their number.
mesh::TagTable varying_tag(const mesh::MeshTables& tables);

/// Make all sets unordered, like those of a mesh.
void forget_order(mesh::MeshTables& tables);

}  // namespace barrio::test
