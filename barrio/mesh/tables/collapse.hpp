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
  CellType type = CellType::vertex;      ///< of the smaller cell
  std::array<std::int8_t, 8> corners{};  ///< corners of the smaller cell, as places in the original one
};

/// Determine the shape of a cell with a pattern of equal corners. Local. Cost: a few thousand steps at worst. Callers
/// cache the results, because patterns are few.
/// @param first_alike  for each corner, the place of the first corner that is the same vertex
Collapse collapse_of(CellType type, std::span<const std::int8_t> first_alike);

}  // namespace barrio::mesh::detail
