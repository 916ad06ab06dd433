#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables/row_numbers.hpp"

namespace barrio::mesh::detail {

/// A row in one of the tables of a mesh.
struct TableRow {
  std::int32_t block;  // -1: vertices
  std::int64_t row;    // in the block
};

/// Rows of the owned entities of a mesh in its tables.
struct CollectedRows {
  std::array<RowNumbers, 4> numbers;            // by dimension
  std::array<std::vector<GlobalId>, 4> of_own;  // rows of owned entities, by dimension
  /// First row of each block in its dimension, and the place of the block; ascending. Entry 0 is for the vertices.
  std::array<std::vector<std::pair<std::int64_t, std::int32_t>>, 4> blocks;

  [[nodiscard]] TableRow place_of(Dim dim, GlobalId row) const noexcept {
    const auto& of_dim = blocks[index(dim)];
    const auto& [first, block] =
        *std::prev(std::ranges::upper_bound(of_dim, value(row), {}, [](const auto& one) { return one.first; }));
    return {block, value(row) - first};
  }
};

/// Add the tags of a mesh, and its fields as tags, to its tables. Collective. @pre everything else is in the tables
void collect_tags(const Mesh& mesh, const CollectedRows& rows, bool with_fields, MeshTables& out);

}  // namespace barrio::mesh::detail
