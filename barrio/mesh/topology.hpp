#pragma once

/// @file Corners, sides and edges of cells, from their type and nodes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh {

/// Call `visit(span of corners)` for each face of a polyhedron, whose nodes are closed loops. Nodes after the last
/// closed loop are ignored.
/// @return number of nodes in closed loops
template <class Id, class Visit>
std::size_t for_each_loop(std::span<const Id> nodes, Visit&& visit) {
  std::size_t first = 0;
  while (first < nodes.size()) {
    std::size_t end = first + 1;
    while (end < nodes.size() && nodes[end] != nodes[first]) ++end;
    if (end == nodes.size()) break;
    visit(nodes.subspan(first, end - first));
    first = end + 1;
  }
  return first;
}

/// Return the corners of a face without the repetitions of the last one that pad polygons.
template <class Id>
std::span<const Id> without_padding(std::span<const Id> corners) noexcept {
  while (corners.size() > 1 && corners.back() == corners[corners.size() - 2])
    corners = corners.first(corners.size() - 1);
  return corners;
}

/// Tell whether `topology(type)` lists the sides of a type; otherwise they follow from the nodes.
inline bool has_fixed_sides(CellType type) noexcept { return topology(type).n_corners > 0; }

/// Call `visit(span of corners)` for each side of a cell: faces of a volume, edges of a face, ends of an edge.
/// Side corners keep the cell's orientation.
template <class Id, class Visit>
void for_each_side(CellType type, std::span<const Id> nodes, Visit&& visit) {
  if (type == CellType::polyhedron) {
    for_each_loop(nodes, visit);
    return;
  }
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
      corners[n++] = nodes[corner];
    } else {
      visit(std::span<const Id>(corners.data(), n));
      n = 0;
    }
  }
}

/// Return the ends of the edges of a polyhedron, each edge once, in the order of its faces.
template <class Id>
std::vector<std::array<Id, 2>> edges_of_loops(std::span<const Id> nodes) {
  std::vector<std::array<Id, 2>> edges;
  for_each_loop(nodes, [&](std::span<const Id> face) {
    for (std::size_t i = 0; i < face.size(); ++i) {
      const std::array<Id, 2> edge{face[i], face[(i + 1) % face.size()]};
      const auto is_same = [&](const std::array<Id, 2>& other) {
        return other == edge || other == std::array<Id, 2>{edge[1], edge[0]};
      };
      if (std::ranges::none_of(edges, is_same)) edges.push_back(edge);
    }
  });
  return edges;
}

/// Call `visit(span of corners)` for each side of a dimension below the cell's: also for the edges of a volume.
template <class Id, class Visit>
void for_each_side(Dim dim, CellType type, std::span<const Id> nodes, Visit&& visit) {
  if (value(dim) + 1 == value(topology(type).dim)) {
    for_each_side(type, nodes, visit);
    return;
  }
  if (type == CellType::polyhedron) {
    for (const auto& edge : edges_of_loops(nodes)) visit(std::span<const Id>(edge));
    return;
  }
  const std::span<const std::int8_t> edges = topology(type).edges;
  for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
    const std::array<Id, 2> ends{nodes[edges[e]], nodes[edges[e + 1]]};
    visit(std::span<const Id>(ends));
  }
}

/// Return the number of corner nodes of a cell, which are its first nodes. For polygons and polyhedra: all nodes, which
/// may repeat a corner.
inline std::size_t n_corners(CellType type, std::size_t n_nodes) noexcept {
  const int n = topology(type).n_corners;
  if (n > 0) return n;
  return n_nodes;
}

/// Return the corners of a cell, each once, in the order of its nodes.
/// @param room  storage for the corners if they are not simply the first nodes
template <class Id>
std::span<const Id> distinct_corners(CellType type, std::span<const Id> nodes, std::vector<Id>& room) {
  if (type == CellType::polygon) return without_padding(nodes);
  if (type != CellType::polyhedron) return nodes.first(n_corners(type, nodes.size()));
  room.clear();
  for (const Id node : nodes)
    if (std::ranges::find(room, node) == room.end()) room.push_back(node);
  return room;
}

/// Sides of a type with fixed sides, each as a bit set of its corners' places.
struct SideBits {
  std::array<std::uint32_t, 12> bits{};  ///< of each side: bit i is the cell's corner i
  std::ptrdiff_t n = 0;                  ///< sides of the type; only the first n of `bits` count
};

/// Return the sides or edges of a type. Cost: O(1), from a table.
/// @param dim  one below the type's, or Dim::edge
const SideBits& side_bits(CellType type, Dim dim) noexcept;

/// Return the bit of a corner's place in a cell, 0 if it is not a corner. Branch-free, since the place is
/// unpredictable.
template <class Id>
std::uint32_t place_bit(std::span<const Id> corners, Id corner) noexcept {
  const auto among = [&](std::size_t n) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < n; ++i) bits |= (corners[i] == corner ? 1U : 0U) << i;
    return bits;
  };
  // The compiler unrolls loops of known length.
  if (corners.size() == 8) return among(8);
  if (corners.size() == 4) return among(4);
  return among(corners.size());
}

/// Tell whether vertices are the corners of a side that the cell's topology has.
/// @param dim  of the side: below that of the cell
template <class Id>
bool is_side_of(std::span<const Id> corners, Dim dim, CellType type, std::span<const Id> nodes) {
  if (!has_fixed_sides(type)) {
    const std::span<const Id> wanted = without_padding(corners);
    bool found = false;
    for_each_side<Id>(dim, type, nodes, [&](std::span<const Id> side) {
      found = found || (side.size() == wanted.size() && std::ranges::is_permutation(side, wanted));
    });
    return found;
  }
  // The corners as places in the cell, one bit each.
  const std::span<const Id> of_cell = nodes.first(topology(type).n_corners);
  std::uint32_t places = 0;
  for (const Id corner : corners) {
    const std::uint32_t place = place_bit(of_cell, corner);
    if (place == 0) return false;
    places |= place;
  }
  const SideBits& sides = side_bits(type, dim);
  return std::find(sides.bits.begin(), sides.bits.begin() + sides.n, places) != sides.bits.begin() + sides.n;
}

}  // namespace barrio::mesh
