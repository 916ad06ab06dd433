#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::test {

/// Every value of a tag: place of the block (-1 for vertices) and row in it -> bytes.
using TagValues = std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::byte>>;
/// On every rank. Collective.
TagValues values_of(const mesh::MeshTables& tables, const mesh::TagTable& tag);

/// Compare all tags. Collective.
void expect_same_tags(const mesh::MeshTables& found, const mesh::MeshTables& expected);

/// Compare all that tables hold; sets are expected to be without order. Collective.
void expect_same_tables(const mesh::MeshTables& found, const mesh::MeshTables& expected, bool with_parts);

/// A rank for each owned cell that only its id, the seed and a number determine. Local.
std::vector<Rank> scattered(const mesh::Mesh& mesh, std::uint64_t number);

}  // namespace barrio::test
