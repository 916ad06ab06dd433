#pragma once

#include <cstdint>

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::test {

// Meshes with something of everything, to see whether all of it is still there.

/// Compare local order, owners, sharers, parts, sets and tags on this rank; and `validate` the one that was found.
void expect_same_mesh(const mesh::Mesh& found, const mesh::Mesh& expected);

/// Add fields whose values only the entity's global id determines.
void fill(mesh::Mesh& mesh);
void expect_filled(const mesh::Mesh& mesh);

/// Add tags whose values only the row determines: dense on vertices, of varying length on some rows of all tables.
void add_tags(mesh::MeshTables& tables);

/// Quads and triangles in one plane, with edges listed at the bottom.
mesh::MeshTables mixed_plane(std::int64_t n);

}  // namespace barrio::test
