#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/cell_type.hpp"

// The order of the nodes of a cell. Barrio's is that of .h5m, and of Exodus except for hexes of 27 nodes: corners, then
// mid-edge nodes in the order of CellTopology::edges, then mid-face nodes in the order of CellTopology::sides, then the
// mid-cell node. Cells with mid-face nodes on their quadrilaterals only (18-node prism, 14-node pyramid) skip the
// triangles.

namespace barrio::io::detail {

/// A cell kind of a format.
struct CellKind {
  mesh::CellType type;
  int n_nodes;
  std::span<const std::int8_t> order;  ///< index in the format's order of barrio's i-th node; empty: the same order

  /// Return the index in the format's order of barrio's i-th node.
  [[nodiscard]] std::size_t place_of(std::size_t i) const {
    if (order.empty()) return i;
    return order[i];
  }
  /// Reorder the nodes of consecutive cells into barrio's order.
  template <class T>
  void put_in_order(std::span<T> nodes) const {
    std::vector<T> cell(order.size());
    for (; !order.empty() && !nodes.empty(); nodes = nodes.subspan(cell.size())) {
      for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = nodes[order[i]];
      std::ranges::copy(cell, nodes.begin());
    }
  }
};

/// Find a kind by the format's number of a cell; null if barrio lacks it. Cells with any number of nodes (polygons,
/// polyhedra) and VTK's axis-aligned cells are not included.
const CellKind* gmsh_kind(int number) noexcept;
const CellKind* gmsh_kind(mesh::CellType type, int n_nodes) noexcept;
const CellKind* cgns_kind(int number) noexcept;
const CellKind* vtk_kind(int number) noexcept;

/// Return VTK's number of a kind; 0 if VTK has none.
int vtk_number(mesh::CellType type, int n_nodes) noexcept;

/// Return the node order of Exodus or CGNS: barrio's, except for the last nodes of hexes of 27.
std::span<const std::int8_t> exodus_order(mesh::CellType type, int n_nodes) noexcept;
std::span<const std::int8_t> cgns_order(mesh::CellType type, int n_nodes) noexcept;

/// Tell whether cells of a type may have so many nodes: their corners, or the nodes of second order.
bool is_known_kind(mesh::CellType type, int n_nodes) noexcept;

/// Largest number of nodes of such a cell.
inline constexpr int max_cell_nodes = 27;

}  // namespace barrio::io::detail
