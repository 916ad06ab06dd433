#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/ragged.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::mesh::detail {

/// Cells around some vertices, compressed. All members are local.
class CellsAround {
 public:
  /// @param n_cells  number of cells to search, the first ones of the table
  /// @param[in] anchors  vertices to be asked for, in any order
  CellsAround(const EntityTable& cells, std::size_t n_cells, std::span<const LocalId> anchors, std::size_t n_vertices)
      : slots_(n_vertices, -1) {
    std::int32_t n_slots = 0;
    std::vector<std::uint64_t> bits(n_vertices / 64 + 1,
                                    0);  // of anchors: these are few, so most cells need only this test
    for (const LocalId v : anchors) {
      if (slots_[index(v)] < 0) slots_[index(v)] = n_slots++;
      bits[index(v) / 64] |= std::uint64_t{1} << index(v) % 64;
    }
    const auto has_anchor = [bits = bits.data()](std::span<const LocalId> nodes) {
      std::uint64_t some = 0;
      for (const LocalId v : nodes) some |= bits[index(v) / 64] >> index(v) % 64;
      return (some & 1U) != 0;
    };
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // slot, cell
    found.reserve(std::size_t{6} * n_slots);                   // typical of a boundary of tets
    std::vector<std::int32_t> last(n_slots, -1);               // by slot: a cell may repeat a corner
    const auto look_at = [&](std::int32_t cell, std::span<const LocalId> nodes) {
      if (!has_anchor(nodes)) return;
      for (const LocalId v : nodes)
        if (const std::int32_t slot = slots_[index(v)]; slot >= 0)
          if (std::exchange(last[slot], cell) != cell) found.emplace_back(slot, cell);
    };
    if (const std::size_t width = cells.nodes_per_entity; width > 0) {
      for (std::int32_t c = 0; std::cmp_less(c, n_cells); ++c) look_at(c, {&cells.nodes[c * width], width});
    } else {
      for (std::int32_t c = 0; std::cmp_less(c, n_cells); ++c) look_at(c, cells.nodes_of(c));
    }
    cells_ = Cells::grouped(n_slots, [&](auto&& put) {
      for (const auto& [slot, cell] : found) put(slot, cell);
    });
  }
  /// Return the cells around a vertex, ascending.
  /// @pre v is an anchor
  [[nodiscard]] std::span<const std::int32_t> of(LocalId v) const { return cells_[slots_[index(v)]]; }

 private:
  using Cells = Ragged<std::int32_t, std::int32_t>;
  std::vector<std::int32_t> slots_;
  Cells cells_;
};

/// Tell whether a cell has a side, with all its nodes.
/// @param[in] nodes  its corners, then other nodes
inline bool has_side(const EntityTable& cells, std::int32_t cell, CellType type, std::span<const LocalId> nodes) {
  const std::size_t n = n_corners(type, nodes.size());
  const std::size_t c = cell;
  const auto of_cell = cells.nodes_of(c);
  if (!is_side_of<LocalId>(nodes.first(n), topology(type).dim, cells.type(c), of_cell)) return false;
  const auto is_there = [&](LocalId node) { return std::ranges::find(of_cell, node) != of_cell.end(); };
  return std::ranges::all_of(nodes.subspan(n), is_there);
}

/// Call `visit(cell)` for each of the cells that has a side, with all its nodes.
/// @param anchor  one of its corners
/// @param[in] nodes  its corners, then other nodes
template <class Visit>
void for_each_cell_with(const EntityTable& cells, const CellsAround& around, LocalId anchor, CellType type,
                        std::span<const LocalId> nodes, Visit&& visit) {
  for (const std::int32_t c : around.of(anchor))
    if (has_side(cells, c, type, nodes)) visit(c);
}

/// Tell whether any of the cells has the side. The search begins at the end: where cells and vertices are numbered
/// alike, a side's lowest corner is the lowest of its cell too, and that cell is the last one around it.
inline bool is_side_of_any(const EntityTable& cells, const CellsAround& around, LocalId anchor, CellType type,
                           std::span<const LocalId> nodes) {
  const auto last_first = std::views::reverse(around.of(anchor));
  return std::ranges::any_of(last_first, [&](std::int32_t c) { return has_side(cells, c, type, nodes); });
}

}  // namespace barrio::mesh::detail
