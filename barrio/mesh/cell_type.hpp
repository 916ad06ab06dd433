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
enum class Dim : int { vertex = 0, edge = 1, face = 2, volume = 3 };

constexpr int value(Dim dim) noexcept { return static_cast<int>(dim); }
/// Return a dimension as an index, for arrays by dimension.
constexpr std::size_t index(Dim dim) noexcept { return static_cast<std::size_t>(dim); }

/// Topology of an entity. Higher-order elements have the type of their corners and more nodes.
///
/// Nodes of a polygon go round it; a padded one repeats its last node. Nodes of a polyhedron are its faces one after
/// the other, each a closed loop that repeats its first vertex at the end: `a b c a b d c b` begins with the faces abc
/// and bdc. A knife is a hex with a folded top: corners 5 and 7 of the hex are its corner 5.
enum class CellType : std::uint8_t {
  vertex,
  edge,
  triangle,
  quad,
  polygon,
  tet,
  pyramid,
  prism,
  knife,
  hex,
  polyhedron
};

/// Fixed facts about a type.
struct CellTopology {
  std::string_view name;    ///< "tet"
  std::string_view plural;  ///< "tets"
  Dim dim;
  int n_corners;                       ///< 0 if it varies: then sides and edges follow from the nodes
  std::span<const std::int8_t> sides;  ///< corners of the sides, -1 ends each side; empty if they vary
  std::span<const std::int8_t> edges;  ///< corner pairs
};

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
