#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::mesh::detail {

/// Cells around some vertices, compressed. Everything is local.
class CellsAround {
 public:
  /// @param n_cells  the first ones of the table are looked at
  /// @param[in] anchors  vertices to be asked for, in any order
  CellsAround(const EntityTable& cells, std::size_t n_cells, std::span<const LocalId> anchors, std::size_t n_vertices)
      : slots_(n_vertices, -1) {
    for (const LocalId v : anchors) {
      if (slots_[index(v)] >= 0) continue;
      slots_[index(v)] = static_cast<std::int32_t>(offsets_.size() - 1);
      offsets_.push_back(0);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // slot, cell
    std::vector<std::int32_t> last(offsets_.size(), -1);       // by slot: a cell may say a corner more than once
    for (std::size_t c = 0; c < n_cells; ++c)
      for (const LocalId v : cells.nodes_of(c))
        if (const std::int32_t slot = slots_[index(v)]; slot >= 0)
          if (const auto cell = static_cast<std::int32_t>(c);
              std::exchange(last[static_cast<std::size_t>(slot)], cell) != cell)
            found.emplace_back(slot, cell);
    for (const auto& [slot, cell] : found) offsets_[static_cast<std::size_t>(slot) + 1] += 1;
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) offsets_[s + 1] += offsets_[s];
    cells_.resize(found.size());
    std::vector<std::int32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (const auto& [slot, cell] : found)
      cells_[static_cast<std::size_t>(next[static_cast<std::size_t>(slot)]++)] = cell;
  }
  /// Ascending. @pre v is an anchor
  [[nodiscard]] std::span<const std::int32_t> of(LocalId v) const {
    const auto slot = static_cast<std::size_t>(slots_[index(v)]);
    const auto first = static_cast<std::size_t>(offsets_[slot]);
    return std::span<const std::int32_t>(cells_).subspan(first, static_cast<std::size_t>(offsets_[slot + 1]) - first);
  }

 private:
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> offsets_{0};
  std::vector<std::int32_t> cells_;
};

/// Whether a cell has a side, with all its nodes. @param[in] nodes  its corners, then other nodes
inline bool has_side(const EntityTable& cells, std::int32_t cell, CellType type, std::span<const LocalId> nodes) {
  const std::size_t n = n_corners(type, nodes.size());
  const auto c = static_cast<std::size_t>(cell);
  const auto of_cell = cells.nodes_of(c);
  if (!is_side_of<LocalId>(nodes.first(n), topology(type).dim, cells.type(c), of_cell)) return false;
  const auto is_there = [&](LocalId node) { return std::ranges::find(of_cell, node) != of_cell.end(); };
  return std::ranges::all_of(nodes.subspan(n), is_there);
}

/// Call `visit(cell)` for each of the cells that has a side, with all its nodes.
/// @param anchor  one of its corners @param[in] nodes  its corners, then other nodes
template <class Visit>
void for_each_cell_with(const EntityTable& cells, const CellsAround& around, LocalId anchor, CellType type,
                        std::span<const LocalId> nodes, Visit&& visit) {
  for (const std::int32_t c : around.of(anchor))
    if (has_side(cells, c, type, nodes)) visit(c);
}

/// Whether any of the cells has it. Where cells and vertices are numbered the same way, a side's lowest corner is the
/// lowest of its cell too, and that cell the last one around it: so the search begins at the end.
inline bool is_side_of_any(const EntityTable& cells, const CellsAround& around, LocalId anchor, CellType type,
                           std::span<const LocalId> nodes) {
  const auto last_first = std::views::reverse(around.of(anchor));
  return std::ranges::any_of(last_first, [&](std::int32_t c) { return has_side(cells, c, type, nodes); });
}

}  // namespace barrio::mesh::detail
