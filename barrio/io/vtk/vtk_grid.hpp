#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "barrio/io/common/node_orders.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// VTK's numbers of cells that are lists of cells.
inline constexpr int vtk_poly_vertex = 2;
inline constexpr int vtk_poly_line = 4;
inline constexpr int vtk_strip = 6;
inline constexpr int vtk_polygon = 7;
/// VTK's numbers of cells that are, or become, polyhedra.
inline constexpr int vtk_pentagonal_prism = 15;
inline constexpr int vtk_hexagonal_prism = 16;
inline constexpr int vtk_polyhedron = 42;

/// An array of a VTK file: its heading and this share's values, row after row.
struct VtkArray {
  std::string name;
  int n_components = 1;
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;
  bool is_id = false;  ///< the file marks it as the global ids of its rows
};

/// A share of a VTK file, whatever its dialect. Points are cut evenly, as `Slabs` cuts them; cells so that those of one
/// type ascend with the shares. Nodes of polyhedra are closed loops of points, one for each face (`vtk_polyhedra.hpp`).
struct VtkGrid {
  bool has_gmsh_types = false;           ///< types are Gmsh's numbers, and nodes in its order
  std::int64_t n_points = 0;             ///< of the file
  std::vector<double> coordinates;       ///< of this share's points
  std::vector<std::uint8_t> types;       ///< VTK's number of the type of each of this share's cells
  std::vector<std::int64_t> offsets{0};  ///< of the cells' nodes, one longer than types
  std::vector<std::int64_t> nodes;       ///< points of the file, in VTK's order
  std::vector<VtkArray> on_points;       ///< the same list in every share
  std::vector<VtkArray> on_cells;
  /// First point of each piece of the mesh, if each has its own copies of shared points; the same in every share.
  std::vector<std::int64_t> first_points;
  std::int64_t n_poly_lines = 0;  ///< cut up by `split_lists`
  std::int64_t n_strips = 0;
  std::int64_t n_prisms = 0;  ///< over pentagons and hexagons, turned into polyhedra by `split_lists`

  void add_cell(int type, std::span<const std::int64_t> of_cell) {
    types.push_back(static_cast<std::uint8_t>(type));
    nodes.insert(nodes.end(), of_cell.begin(), of_cell.end());
    offsets.push_back(nodes.size());
  }
  [[nodiscard]] std::span<const std::int64_t> nodes_of(std::size_t cell) const& noexcept {
    return std::span<const std::int64_t>(nodes).subspan(offsets[cell], offsets[cell + 1] - offsets[cell]);
  }
};

/// Cut poly-lines into lines, triangle strips into triangles and poly-vertices into points. Each piece keeps the type
/// number and the values of the original cell. Turn prisms over pentagons and hexagons into polyhedra. Local, of one
/// share.
/// @throws Error{bad_input} naming `path` if a cell that is cut has very many values
void split_lists(VtkGrid& grid, const std::string& path);

/// Barrio's kind for a cell of VTK; polygons and polyhedra have no number of nodes: 0.
using VtkShape = CellKind;
/// Look up a cell by VTK's number of its type and its number of nodes, as `split_lists` leaves them.
/// @throws Error{bad_input} naming `path` for cells that barrio lacks, or a wrong number of nodes
VtkShape vtk_shape(int vtk_type, std::int64_t n_nodes, const std::string& path);

/// Tell whether the values of an integer array of cells are ids of materials, judged by its name.
bool names_material(std::string_view array);
/// Tell whether they are a partition.
bool names_partition(std::string_view array);
/// Tell whether a cell with an id of such an array belongs to a set.
constexpr bool is_set_id(std::string_view array, std::int64_t id) noexcept {
  return array == "gmsh:physical" ? id > 0 : id >= 0;  // Gmsh's groups begin at 1; 0 means no group
}

/// Make the tables from the shares of all ranks. Collective.
/// Arrays become tags. An array that names materials becomes sets by dimension and id, one that names a partition the
/// parts. Vertices stand for cells that are single points, and are in their sets; other
/// values of these are left out, and named.
/// @param set_names  by dimension and id; the same on every rank
/// @throws AgreedError{bad_input} naming `path` for cells that barrio lacks
/// Cost: one exchange per block, and per array and block; memory O(share)
mesh::MeshTables tables_of_vtk(mpi::Context& context, VtkGrid grid, const std::string& path,
                               const std::map<std::pair<int, int>, std::string>& set_names = {});

}  // namespace barrio::io::detail
