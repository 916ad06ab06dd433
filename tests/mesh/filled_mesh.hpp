#pragma once

#include <cstdint>

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::test {

// Meshes with data of every kind, and checks that all of it remains.

/// Compare local order, owners, sharers, parts, sets and tags on this rank, and `validate` the found mesh.
void expect_same_mesh(const mesh::Mesh& found, const mesh::Mesh& expected);

/// Add fields whose values depend only on the entity's global id.
void fill(mesh::Mesh& mesh);
void expect_filled(const mesh::Mesh& mesh);

/// Add tags whose values depend only on the row: dense on vertices, of varying length on some rows of all tables.
void add_tags(mesh::MeshTables& tables);

/// Make quads and triangles in one plane, with listed edges at the bottom.
mesh::MeshTables mixed_plane(std::int64_t n);

}  // namespace barrio::test
