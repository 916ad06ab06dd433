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
  list,      ///< numbers of vertices or cells, which become a set named after the keyword
  ordering,  ///< of the nodes of a kind of cell
  refuse,    ///< cells that barrio does not read
  end,
};

/// A keyword of Medit files that barrio knows.
struct MeditKeyword {
  std::string_view name;
  int code;  ///< in binary files
  MeditUse use;
  mesh::CellType type;  ///< of the cells, or of the entities in a list
  int n_nodes = 0;      ///< of a cell, or of the cells whose order it states; 0: its corners

  /// Return the number of nodes of a cell. @pre the keyword is for cells or an ordering
  [[nodiscard]] int n_nodes_of_cell() const noexcept { return n_nodes > 0 ? n_nodes : mesh::topology(type).n_corners; }
};

/// Return the keywords that barrio also writes.
std::span<const MeditKeyword> medit_keywords() noexcept;
/// Find a keyword, ignoring case; null for a name or code that barrio does not use.
const MeditKeyword* find_medit_keyword(std::string_view name) noexcept;
const MeditKeyword* find_medit_keyword(int code) noexcept;
/// Find the keyword for cells with a number of nodes, in files that give more nodes than the keyword allows; null
/// unless Gmsh writes them so.
const MeditKeyword* find_wide_keyword(std::int64_t code, std::int64_t n_nodes) noexcept;
/// Tell whether there are such keywords for the cells of another.
bool has_wide_keyword(const MeditKeyword& keyword) noexcept;
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
