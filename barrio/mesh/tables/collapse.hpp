#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// The shape of a cell with fixed corners when several of them are the same vertex.
struct Collapse {
  enum class Outcome : std::uint8_t {
    sound,    ///< all corners differ
    smaller,  ///< a cell of another type
    flat,     ///< no area or volume remains
    other,    ///< a shape that matches no type
  };
  Outcome outcome = Outcome::sound;
  CellType type = CellType::vertex;     ///< of the smaller cell
  int n_nodes = 0;                      ///< of the smaller cell: its corners, or also the middles of its edges
  std::array<std::int8_t, 20> nodes{};  ///< of the smaller cell, as places in the original one
};

/// Determine the shape of a cell with a pattern of equal corners. Local. Cost: a few thousand steps at worst. Callers
/// cache the results, because patterns are few.
///
/// Two triangles that fold along a diagonal of a quad are a tet, as LS-DYNA writes one: a hex a b c d d d d d. A cell
/// with nodes in the middles of its edges keeps those of the edges that are left.
/// @param first_alike  for each node, the place of the first one that is the same vertex: of the corners, or also of
/// the middles of edges; a cell with other nodes matches no type
Collapse collapse_of(CellType type, std::span<const std::int8_t> first_alike);

}  // namespace barrio::mesh::detail
