#pragma once

#include <span>
#include <vector>

#include "barrio/mesh/box_layout.hpp"

namespace barrio::mesh::detail {

/// The places that belong to a box of cells, of those in a window, as boxes that do not meet. A place between cells
/// belongs to the box of the first cell around it that there is: that of the highest index along the first axis, then
/// along the next. Both who sends and who receives find the same, whatever else they know.
/// @param others  cells of all other boxes that have cells around places of the window, in an order that does not
/// depend on where the index space begins
template <std::size_t D>
[[nodiscard]] std::vector<geometry::IndexBox<D>> owned_places(const geometry::IndexBox<D>& box,
                                                              const geometry::IndexBox<D>& window, Centering centering,
                                                              std::span<const geometry::IndexBox<D>> others);

}  // namespace barrio::mesh::detail
