#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

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

/// The same for sides of any dimension below the cell's: for the edges of a volume too.
template <class Id, class Visit>
void for_each_side(Dim dim, CellType type, std::span<const Id> nodes, Visit&& visit) {
  if (value(dim) + 1 == value(topology(type).dim)) {
    for_each_side(type, nodes, visit);
    return;
  }
  const std::span<const std::int8_t> edges = topology(type).edges;
  for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
    const std::array<Id, 2> ends{nodes[static_cast<std::size_t>(edges[e])],
                                 nodes[static_cast<std::size_t>(edges[e + 1])]};
    visit(std::span<const Id>(ends));
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
  if (type == CellType::polygon) {
    bool found = false;
    for_each_side<Id>(type, nodes, [&](std::span<const Id> side) {
      found = found || (side.size() == corners.size() && std::ranges::is_permutation(side, corners));
    });
    return found;
  }
  // As places in the cell, a bit each.
  std::uint32_t places = 0;
  for (const Id corner : corners) {
    const auto at = std::ranges::find(nodes, corner);
    if (at == nodes.end()) return false;
    places |= 1U << (at - nodes.begin());
  }
  if (value(dim) + 1 == value(topology(type).dim)) {
    std::uint32_t side = 0;
    for (const std::int8_t corner : topology(type).sides) {
      if (corner >= 0) {
        side |= 1U << corner;
      } else if (std::exchange(side, 0U) == places) {
        return true;
      }
    }
    return false;
  }
  const std::span<const std::int8_t> edges = topology(type).edges;
  for (std::size_t e = 0; e + 1 < edges.size(); e += 2)
    if ((1U << edges[e] | 1U << edges[e + 1]) == places) return true;
  return false;
}

}  // namespace barrio::mesh::detail
