#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::test {

/// Every value of a tag: index of the block (-1 for vertices) and row in it -> bytes.
using TagValues = std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::byte>>;
/// Gather the values on every rank. Collective.
TagValues values_of(const mesh::MeshTables& tables, const mesh::TagTable& tag);

/// Compare all tags. Collective.
void expect_same_tags(const mesh::MeshTables& found, const mesh::MeshTables& expected);

/// Compare all contents of tables; sets must be unordered. Collective.
void expect_same_tables(const mesh::MeshTables& found, const mesh::MeshTables& expected, bool with_parts);

/// Return a rank for each owned cell, which depends only on its id, the seed and a number. Local.
std::vector<Rank> scattered(const mesh::Mesh& mesh, std::uint64_t number);

}  // namespace barrio::test
