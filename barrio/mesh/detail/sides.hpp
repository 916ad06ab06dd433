#pragma once

#include <algorithm>
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

/// Whether vertices are the corners of a side of a cell, one that the cell's topology has.
/// @param dim  of the side: below that of the cell
template <class Id>
bool is_side_of(std::span<const Id> corners, Dim dim, CellType type, std::span<const Id> nodes) {
  const auto has_all = [&](std::span<const Id> of) {
    return of.size() == corners.size() &&
           std::ranges::all_of(corners, [&](Id v) { return std::ranges::find(of, v) != of.end(); });
  };
  bool found = false;
  if (value(dim) + 1 == value(topology(type).dim)) {
    for_each_side<Id>(type, nodes, [&](std::span<const Id> side) { found = found || has_all(side); });
  } else {
    const std::span<const std::int8_t> edges = topology(type).edges;
    for (std::size_t e = 0; e + 1 < edges.size() && !found; e += 2) {
      const std::array<Id, 2> edge{nodes[static_cast<std::size_t>(edges[e])],
                                   nodes[static_cast<std::size_t>(edges[e + 1])]};
      found = has_all(edge);
    }
  }
  return found;
}

}  // namespace barrio::mesh::detail
