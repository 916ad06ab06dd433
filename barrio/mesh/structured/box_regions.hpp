#pragma once

#include <span>
#include <vector>

#include "barrio/mesh/box_layout.hpp"

namespace barrio::mesh::detail {

/// Find the places of a window that belong to a box of cells, as disjoint boxes. A place between cells belongs to the
/// box of the first existing cell around it: the one of the highest index along the first axis, then along the next.
/// Sender and receiver find the same places, whatever other boxes each of them knows.
/// @param others  cells of all other boxes that have cells around places of the window, in an order that does not
/// depend on the origin of the index space
template <std::size_t D>
[[nodiscard]] std::vector<geometry::IndexBox<D>> owned_places(const geometry::IndexBox<D>& box,
                                                              const geometry::IndexBox<D>& window, Centering centering,
                                                              std::span<const geometry::IndexBox<D>> others);

}  // namespace barrio::mesh::detail
