#pragma once

/// @file Dimensions and types of entities, and the topology of each type.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace barrio::mesh {

/// Dimension of an entity.
enum class Dim : int {
  vertex = 0,  ///< points
  edge = 1,    ///< lines
  face = 2,    ///< cells of surface meshes, sides of volumes
  volume = 3   ///< cells of solid meshes
};

/// Return a dimension as a number, 0 to 3.
constexpr int value(Dim dim) noexcept { return static_cast<int>(dim); }
/// Return a dimension as an index, for arrays by dimension.
constexpr std::size_t index(Dim dim) noexcept { return static_cast<std::size_t>(dim); }

/// Topology of an entity. Higher-order elements have the type of their corners and more nodes.
///
/// Nodes of a polygon go round it; a padded one repeats its last node. Nodes of a polyhedron are its faces one after
/// the other, each a closed loop that repeats its first vertex at the end: `a b c a b d c b` begins with the faces abc
/// and bdc. A knife is a hex with a folded top: corners 5 and 7 of the hex are its corner 5.
enum class CellType : std::uint8_t {
  vertex,     ///< 1 node
  edge,       ///< 2 corners
  triangle,   ///< 3 corners
  quad,       ///< 4 corners, round it
  polygon,    ///< any number of corners, round it
  tet,        ///< 4 corners: triangle, top
  pyramid,    ///< 5 corners: quad, top
  prism,      ///< 6 corners: triangle, triangle above it
  knife,      ///< 7 corners: quad, folded top
  hex,        ///< 8 corners: quad, quad above it
  polyhedron  ///< any number of faces, as closed loops
};

/// Fixed facts about a type.
struct CellTopology {
  std::string_view name;               ///< "tet"
  std::string_view plural;             ///< "tets"
  Dim dim;                             ///< of an entity of the type
  int n_corners;                       ///< 0 if it varies: then sides and edges follow from the nodes
  std::span<const std::int8_t> sides;  ///< corners of the sides, -1 ends each side; empty if they vary
  std::span<const std::int8_t> edges;  ///< corner pairs
};

/// Return the facts about a type. Cost: O(1), from a table.
const CellTopology& topology(CellType type) noexcept;

/// The number of types; `CellType` values run from 0 to n_cell_types - 1.
inline constexpr int n_cell_types = 11;

/// Return a type as an index, for arrays by type.
constexpr std::size_t index(CellType type) noexcept { return static_cast<std::size_t>(type); }

/// All types, by index.
inline constexpr std::array all_cell_types{CellType::vertex,  CellType::edge, CellType::triangle,  CellType::quad,
                                           CellType::polygon, CellType::tet,  CellType::pyramid,   CellType::prism,
                                           CellType::knife,   CellType::hex,  CellType::polyhedron};
static_assert(all_cell_types.size() == n_cell_types && index(all_cell_types.back()) + 1 == n_cell_types);

}  // namespace barrio::mesh
