#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "barrio/files/h5m.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Find what an id of a .h5m file stands for.
struct IdSpace {
  struct Table {
    std::int64_t first;
    std::int64_t n;
    mesh::Dim dim;
    std::int64_t first_row;
    std::int32_t block;  ///< -1: vertices
    bool is_set = false;
  };
  std::vector<Table> tables;

  /// @pre the blocks of `mesh` are the groups of the catalog
  IdSpace(const files::H5mCatalog& catalog, const mesh::MeshTables& mesh) {
    tables.push_back({catalog.first_vertex, catalog.n_vertices, mesh::Dim::vertex, 0, -1});
    for (std::size_t g = 0; g < catalog.groups.size(); ++g)
      tables.push_back({catalog.groups[g].start_id, catalog.groups[g].n, topology(mesh.blocks[g].type).dim,
                        mesh.first_row(g), static_cast<std::int32_t>(g)});
    tables.push_back({catalog.first_set, catalog.n_sets, mesh::Dim::vertex, 0, -1, true});
  }

  /// Call `visit(table, first row in the table, count)` for each piece of a run of ids; ids of nothing are skipped.
  template <class Visit>
  void for_each_piece(std::int64_t first, std::int64_t count, Visit&& visit) const {
    std::int64_t end = 0;
    if (__builtin_add_overflow(first, count, &end)) end = count < 0 ? first : std::numeric_limits<std::int64_t>::max();
    for (const Table& table : tables) {
      const std::int64_t low = std::max(first, table.first);
      const std::int64_t high = std::min(end, table.first + table.n);
      if (low < high) visit(table, low - table.first, high - low);
    }
  }
  /// The table of one id, or nothing.
  [[nodiscard]] const Table* find(std::int64_t id) const noexcept {
    for (const Table& table : tables)
      if (id >= table.first && id < table.first + table.n) return &table;
    return nullptr;
  }
};

}  // namespace barrio::io::detail
