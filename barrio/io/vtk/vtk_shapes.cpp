#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/io/text/letters.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

// VTK's axis-aligned cells.
constexpr std::array<std::int8_t, 4> pixel{0, 1, 3, 2};
constexpr std::array<std::int8_t, 8> voxel{0, 1, 3, 2, 4, 5, 7, 6};

/// VTK's own description draws a wedge reversed, but its shape functions and all programs do not.
std::optional<VtkShape> shape_of(int vtk_type) {
  switch (vtk_type) {
    case 2: return VtkShape{CellType::vertex, 1, {}};
    case 4: return VtkShape{CellType::edge, 2, {}};
    case 6: return VtkShape{CellType::triangle, 3, {}};
    case 7: return VtkShape{CellType::polygon, 0, {}};
    case 8: return VtkShape{CellType::quad, 4, pixel};
    case 11: return VtkShape{CellType::hex, 8, voxel};
    case vtk_pentagonal_prism: return VtkShape{CellType::polyhedron, 10, {}};
    case vtk_hexagonal_prism: return VtkShape{CellType::polyhedron, 12, {}};
    case vtk_polyhedron: return VtkShape{CellType::polyhedron, 0, {}};
    default: break;
  }
  const CellKind* const kind = vtk_kind(vtk_type);
  if (kind == nullptr) return {};
  return *kind;
}

/// Name cells that users may meet and barrio lacks; those with curved sides have larger numbers.
std::string_view name_of(int vtk_type) {
  switch (vtk_type) {
    case 0: return "empty cell";
    case 30: return "quadratic-linear quad";
    case 31: return "quadratic-linear wedge";
    case 33: return "biquadratic-quadratic hexahedron";
    case 37: return "triquadratic pyramid";
    case 41: return "convex point set";
    default: return "unknown shape";
  }
}

/// Normalise a name that is spelled in different ways.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_' && c != ' ') letters.push_back(lower(c));
  return letters;
}

}  // namespace

VtkShape vtk_shape(int vtk_type, std::int64_t n_nodes, const std::string& path) {
  const std::optional<VtkShape> known = shape_of(vtk_type);
  if (!known) {
    throw Error(
        ErrorCode::bad_input,
        {.subject = path,
         .cause =
             fmt::format("has cells of VTK type {} ({}), which barrio does not support", vtk_type, name_of(vtk_type)),
         .remedy = "cut them into tets, hexes, prisms, pyramids, polyhedra, triangles, quads, polygons or lines"});
  }
  const VtkShape shape = *known;
  if (shape.n_nodes > 0 && n_nodes != shape.n_nodes)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("has a cell of VTK type {} with {} nodes, but must have {}",
                                                            vtk_type, n_nodes, shape.n_nodes),
                                       .remedy = damaged_remedy});
  // Polygons of three or four corners are triangles or quads.
  if (shape.type == CellType::polygon && n_nodes == 3) return {CellType::triangle, 3, {}};
  if (shape.type == CellType::polygon && n_nodes == 4) return {CellType::quad, 4, {}};
  return shape;
}

bool names_material(std::string_view array) {
  static constexpr std::array<std::string_view, 6> names{"material",      "materialid",    "materialids",
                                                         "gmsh:physical", "cellentityids", "regionid"};
  return std::ranges::find(names, plain(array)) != names.end();
}

bool names_partition(std::string_view array) {
  static constexpr std::array<std::string_view, 4> names{"part", "partid", "partition", "partitionid"};
  return std::ranges::find(names, plain(array)) != names.end();
}

}  // namespace barrio::io::detail
