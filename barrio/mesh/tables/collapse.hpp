#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// What is left of a cell with fixed corners when several of them are one vertex.
struct Collapse {
  enum class Outcome : std::uint8_t {
    sound,    ///< all corners differ
    smaller,  ///< a cell of another type
    flat,     ///< nothing of the cell's dimension
    other,    ///< a shape that no type has
  };
  Outcome outcome = Outcome::sound;
  CellType type = CellType::vertex;      ///< of a smaller one
  std::array<std::int8_t, 8> corners{};  ///< of a smaller one: their places in the cell
};

/// Find out what a pattern of equal corners makes of a cell. Local. Cost: some thousand steps at worst; callers
/// cache the answers, as patterns are few.
/// @param first_alike  for each corner the place of the first corner that is the same vertex
Collapse collapse_of(CellType type, std::span<const std::int8_t> first_alike);

}  // namespace barrio::mesh::detail
