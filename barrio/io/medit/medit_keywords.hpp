#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::io::detail {

/// Use of the rows behind a keyword of Medit.
enum class MeditUse : std::uint8_t {
  vertices,
  cells,
  list,    ///< numbers of vertices or cells, which become a set named after the keyword
  refuse,  ///< cells that barrio does not read
  end,
};

/// A keyword of Medit files that barrio knows.
struct MeditKeyword {
  std::string_view name;
  int code;  ///< in binary files
  MeditUse use;
  mesh::CellType type;  ///< of the cells, or of the entities in a list
};

/// Return the keywords that barrio reads and also writes.
std::span<const MeditKeyword> medit_keywords() noexcept;
/// Find a keyword, ignoring case; null for a name or code that barrio does not use.
const MeditKeyword* find_medit_keyword(std::string_view name) noexcept;
const MeditKeyword* find_medit_keyword(int code) noexcept;
/// Return the keyword for cells of a type; null if Medit has none.
const MeditKeyword* medit_cells(mesh::CellType type) noexcept;
/// Name, for messages, a keyword that barrio does not use.
std::string medit_name(int code);

/// Tell whether two texts are equal except for the case of letters.
bool is_same_word(std::string_view a, std::string_view b) noexcept;

inline constexpr std::string_view medit_first_word = "MeshVersionFormatted";
inline constexpr std::string_view medit_dimension = "Dimension";
inline constexpr int medit_dimension_code = 3;
inline constexpr int medit_end_code = 54;

}  // namespace barrio::io::detail
