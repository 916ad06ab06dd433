#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "barrio/io/common/node_orders.hpp"

namespace barrio::io::detail {

/// The order of the nodes of a kind of cell in a file.
struct MeditOrder {
  mesh::CellType type = mesh::CellType::vertex;
  std::int32_t n_nodes = 0;
  std::array<std::int8_t, max_cell_nodes> places{};  ///< index in the file's order of barrio's i-th node
};

/// Return the number of Bezier indices that name a node of a cell: barycentric ones for edges of simplices, one along
/// each axis for the others, both for prisms. An edge has one, counted from its first end.
int n_bezier_indices(mesh::CellType type) noexcept;

/// Make an order from the Bezier indices of the file's nodes, node after node: twice a corner's, or once for cells with
/// corners only. A node on an edge, a face or inside has the mean of its corners'.
/// @return nothing if they do not name each node of the kind once
std::optional<MeditOrder> medit_order(mesh::CellType type, int n_nodes, std::span<const std::int64_t> indices);

/// Return the order for a file that states none: corners, nodes on the edges of the base, of the top, between them, on
/// faces (base, top, sides), inside. Barrio's own for cells of one dimension or two, tets and pyramids.
MeditOrder default_medit_order(mesh::CellType type, int n_nodes) noexcept;

}  // namespace barrio::io::detail
