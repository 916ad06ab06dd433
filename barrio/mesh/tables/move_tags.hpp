#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// Destinations of the rows of tables.
struct Moves {
  const MeshTables& before;  ///< only slabs and types are used
  const MeshTables& after;
  /// New row, in its block, of each of this rank's rows, by old block (-1: vertices); -1 for a removed row. A
  /// block without an entry keeps its rows. Of rows that become one, the lowest that has a value gives it.
  std::map<std::int32_t, std::vector<std::int64_t>> new_rows;
  std::vector<std::int32_t> new_blocks = {};  ///< by old block, no_block for a removed one; empty: unchanged
  static constexpr std::int32_t no_block = -2;

  [[nodiscard]] std::int32_t block_after(std::int32_t block) const noexcept {
    return block < 0 || new_blocks.empty() ? block : new_blocks[block];
  }
  /// Return the row, in its dimension, of the first cell of an old block. @pre the block still exists
  [[nodiscard]] std::int64_t first_row_after(std::int32_t block) const noexcept {
    return block < 0 ? 0 : after.first_row(block_after(block));
  }
};

/// Move the values of tags with their rows. Collective. Values that are entities get the new rows; a removed entity
/// becomes the value "no entity". Values that are sets do not change.
void move_tags(mpi::Context& context, const Moves& moves, std::vector<TagTable>& tags);

}  // namespace barrio::mesh::detail
