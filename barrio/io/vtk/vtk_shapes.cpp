#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

// Along the axes.
constexpr std::array<std::int8_t, 4> pixel{0, 1, 3, 2};
constexpr std::array<std::int8_t, 8> voxel{0, 1, 3, 2, 4, 5, 7, 6};

/// A wedge is drawn turned round in VTK's own description, but not in its shape functions, nor by any program.
std::optional<VtkShape> shape_of(int vtk_type) {
  switch (vtk_type) {
    case 2: return VtkShape{CellType::vertex, 1, {}};
    case 4: return VtkShape{CellType::edge, 2, {}};
    case 6: return VtkShape{CellType::triangle, 3, {}};
    case 7: return VtkShape{CellType::polygon, 0, {}};
    case 8: return VtkShape{CellType::quad, 4, pixel};
    case 11: return VtkShape{CellType::hex, 8, voxel};
    default: break;
  }
  const CellKind* const kind = vtk_kind(vtk_type);
  if (kind == nullptr) return {};
  return *kind;
}

/// Names of cells that people may meet and barrio lacks; those with curved sides have numbers above these.
std::string_view name_of(int vtk_type) {
  switch (vtk_type) {
    case 0: return "empty cell";
    case 30: return "quadratic-linear quad";
    case 31: return "quadratic-linear wedge";
    case 33: return "biquadratic-quadratic hexahedron";
    case 37: return "triquadratic pyramid";
    case 41: return "convex point set";
    case 42: return "polyhedron";
    default: return "no shape that barrio has";
  }
}

/// A name without what is spelled now one way, now another.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_' && c != ' ') letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return letters;
}

}  // namespace

VtkShape vtk_shape(int vtk_type, std::int64_t n_nodes, const std::string& path) {
  const std::optional<VtkShape> known = shape_of(vtk_type);
  if (!known) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has cells of VTK type {} ({}), which barrio lacks", vtk_type, name_of(vtk_type)),
                 .remedy = "cut them into tets, hexes, prisms, pyramids, triangles, quads, polygons or lines"});
  }
  const VtkShape shape = *known;
  if (shape.n_nodes > 0 && n_nodes != shape.n_nodes)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("has a cell of VTK type {} with {} nodes, it needs {}",
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
