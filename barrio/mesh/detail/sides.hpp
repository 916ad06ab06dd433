#pragma once

#include <array>
#include <span>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// Call `visit(span of corners)` for each side of a cell: faces of a volume, edges of a face, ends of an edge.
/// Side corners keep the cell's orientation. Nothing is visited for types without fixed sides, except polygons.
template <class Id, class Visit>
void for_each_side(CellType type, std::span<const Id> nodes, Visit&& visit) {
  std::array<Id, 4> corners{};
  if (type == CellType::polygon) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      corners[0] = nodes[i];
      corners[1] = nodes[(i + 1) % nodes.size()];
      // A padded polygon repeats its last vertex.
      if (corners[0] != corners[1]) visit(std::span<const Id>(corners.data(), 2));
    }
    return;
  }
  std::size_t n = 0;
  for (const std::int8_t corner : topology(type).sides) {
    if (corner >= 0) {
      corners[n++] = nodes[static_cast<std::size_t>(corner)];
    } else {
      visit(std::span<const Id>(corners.data(), n));
      n = 0;
    }
  }
}

/// Number of corner nodes of a cell: its first nodes; a polygon has as many as it has nodes.
inline std::size_t n_corners(CellType type, std::size_t n_nodes) noexcept {
  const int n = topology(type).n_corners;
  return n > 0 ? static_cast<std::size_t>(n) : n_nodes;
}

}  // namespace barrio::mesh::detail
