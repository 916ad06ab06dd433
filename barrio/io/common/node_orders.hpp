#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/cell_type.hpp"

// The order of the nodes of a cell. Ours is that of .h5m, and of Exodus but for hexes of 27: corners, then mid-edge
// nodes in the order of CellTopology::edges, then mid-face nodes in the order of CellTopology::sides, the mid-cell node
// last. Cells with mid-face nodes on their quadrilaterals only (18-node prism, 14-node pyramid) leave the triangles
// out.

namespace barrio::io::detail {

/// A format's kind of cell.
struct CellKind {
  mesh::CellType type;
  int n_nodes;
  std::span<const std::int8_t> order;  ///< which of the format's nodes is our i-th; empty: the same order

  /// Put the nodes of cells, one after the other, in our order.
  template <class T>
  void put_in_order(std::span<T> nodes) const {
    std::vector<T> cell(order.size());
    for (; !order.empty() && !nodes.empty(); nodes = nodes.subspan(cell.size())) {
      for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = nodes[order[i]];
      std::ranges::copy(cell, nodes.begin());
    }
  }
};

/// By the numbers that formats give cells; null for those that barrio lacks. Cells of any number of nodes (polygons,
/// polyhedra) and VTK's cells along axes are not among them.
const CellKind* gmsh_kind(int number) noexcept;
const CellKind* cgns_kind(int number) noexcept;
const CellKind* vtk_kind(int number) noexcept;

/// VTK's number of a kind; 0 where it has none.
int vtk_number(mesh::CellType type, int n_nodes) noexcept;

/// Exodus and CGNS have our order, but for the last nodes of hexes of 27.
std::span<const std::int8_t> exodus_order(mesh::CellType type, int n_nodes) noexcept;
std::span<const std::int8_t> cgns_order(mesh::CellType type, int n_nodes) noexcept;

/// Whether cells may have so many nodes: their corners, or those of second order.
bool is_known_kind(mesh::CellType type, int n_nodes) noexcept;

/// The most nodes that such a cell has.
inline constexpr int max_cell_nodes = 27;

}  // namespace barrio::io::detail
