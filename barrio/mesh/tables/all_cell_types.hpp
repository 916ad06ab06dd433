#pragma once

#include <array>
#include <cstddef>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh {

/// Return a type as an index, for arrays by type.
constexpr std::size_t index(CellType type) noexcept { return static_cast<std::size_t>(type); }

namespace detail {

/// All types, by index.
inline constexpr std::array all_cell_types{CellType::vertex,  CellType::edge, CellType::triangle,  CellType::quad,
                                           CellType::polygon, CellType::tet,  CellType::pyramid,   CellType::prism,
                                           CellType::knife,   CellType::hex,  CellType::polyhedron};
static_assert(all_cell_types.size() == n_cell_types && index(all_cell_types.back()) + 1 == n_cell_types);

}  // namespace detail
}  // namespace barrio::mesh
