#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "barrio/files/h5m.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Map from the ids of a .h5m file to what they refer to.
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

  /// Make the map. @pre the blocks of `mesh` are the groups of the catalog
  IdSpace(const files::H5mCatalog& catalog, const mesh::MeshTables& mesh) {
    tables.push_back({catalog.first_vertex, catalog.n_vertices, mesh::Dim::vertex, 0, -1});
    for (std::int32_t g = 0; g < std::ssize(catalog.groups); ++g)
      tables.push_back(
          {catalog.groups[g].start_id, catalog.groups[g].n, topology(mesh.blocks[g].type).dim, mesh.first_row(g), g});
    tables.push_back({catalog.first_set, catalog.n_sets, mesh::Dim::vertex, 0, -1, true});
  }

  /// Call `visit(table, first row in the table, count)` for each piece of a run of ids; ids that refer to nothing are
  /// skipped.
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
  /// Find the table of an id; null if it refers to nothing.
  [[nodiscard]] const Table* find(std::int64_t id) const noexcept {
    for (const Table& table : tables)
      if (id >= table.first && id < table.first + table.n) return &table;
    return nullptr;
  }
};

}  // namespace barrio::io::detail
