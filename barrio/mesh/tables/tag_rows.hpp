#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// A row of a table with its value.
struct TagRow {
  std::int32_t block;  ///< place in MeshTables::blocks; -1: vertices
  std::int64_t row;
  std::span<const std::byte> value;
};

/// Send values to the homes of their rows and add them to a tag, with a column for each table that has any. Collective.
void add_columns(mpi::Context& context, const std::vector<TagRow>& rows, TagTable& tag, const MeshTables& tables);

}  // namespace barrio::mesh::detail
