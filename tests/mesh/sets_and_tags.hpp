#pragma once

#include "barrio/mesh/tables.hpp"

namespace barrio::test {

// What tests add to tables that hold only vertices and cells.

/// Nine vertices and five cells in a set, which is in another one with a cell of its own.
void add_sets_in_sets(mesh::MeshTables& tables);

/// Integers on some rows of every table, as many as the row determines.
mesh::TagTable varying_tag(const mesh::MeshTables& tables);

/// Make all sets those of a mesh, which does not keep their order.
void forget_order(mesh::MeshTables& tables);

}  // namespace barrio::test
