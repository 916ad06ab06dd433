#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "barrio/base/error.hpp"
#include "barrio/io/detail/vtk_grid.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

struct Known {
  int vtk_type;
  VtkShape shape;
};
// Pixels and voxels run along the axes. Mid-edge nodes of ours go around the base, up, around the top; VTK's go up
// last. A wedge is drawn turned round in VTK's own description, but not in its shape functions, nor by any program.
constexpr std::array<Known, 19> known_shapes{{{1, {CellType::vertex, 1, nullptr}},
                                              {2, {CellType::vertex, 1, nullptr}},
                                              {3, {CellType::edge, 2, nullptr}},
                                              {4, {CellType::edge, 2, nullptr}},
                                              {5, {CellType::triangle, 3, nullptr}},
                                              {7, {CellType::polygon, 0, nullptr}},
                                              {8, {CellType::quad, 4, "abdc"}},
                                              {9, {CellType::quad, 4, nullptr}},
                                              {10, {CellType::tet, 4, nullptr}},
                                              {11, {CellType::hex, 8, "abdcefhg"}},
                                              {12, {CellType::hex, 8, nullptr}},
                                              {13, {CellType::prism, 6, nullptr}},
                                              {14, {CellType::pyramid, 5, nullptr}},
                                              {21, {CellType::edge, 3, nullptr}},
                                              {22, {CellType::triangle, 6, nullptr}},
                                              {23, {CellType::quad, 8, nullptr}},
                                              {24, {CellType::tet, 10, nullptr}},
                                              {25, {CellType::hex, 20, "abcdefghijklqrstmnop"}},
                                              {26, {CellType::prism, 15, "abcdefghimnojkl"}}}};

/// Names of cells that people may meet and barrio lacks; those with curved sides have numbers above these.
std::string_view name_of(int vtk_type) {
  switch (vtk_type) {
    case 0: return "empty cell";
    case 2: return "poly-vertex";
    case 4: return "poly-line";
    case 6: return "triangle strip";
    case 41: return "convex point set";
    case 42: return "polyhedron";
    default: return "no shape that barrio has";
  }
}

/// A name without what people write now this way, now that.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_' && c != ' ') letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return letters;
}

}  // namespace

VtkShape vtk_shape(int vtk_type, std::int64_t n_nodes, const std::string& path) {
  const auto* const known = std::ranges::find(known_shapes, vtk_type, &Known::vtk_type);
  const bool is_list = vtk_type == 2 || vtk_type == 4;  // of points or lines: one of it is a cell like others
  if (known == known_shapes.end() || (is_list && n_nodes != known->shape.n_nodes)) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has cells of VTK type {} ({}), which barrio lacks", vtk_type, name_of(vtk_type)),
                 .remedy = "cut them into tets, hexes, prisms, pyramids, triangles, quads, polygons or lines"});
  }
  VtkShape shape = known->shape;
  if (shape.n_nodes > 0 && n_nodes != shape.n_nodes)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("has a cell of VTK type {} with {} nodes, it needs {}",
                                                            vtk_type, n_nodes, shape.n_nodes),
                                       .remedy = "the file is damaged or was written wrongly"});
  // Polygons of three and four corners are what they look like.
  if (shape.type == CellType::polygon && n_nodes == 3) return {CellType::triangle, 3, nullptr};
  if (shape.type == CellType::polygon && n_nodes == 4) return {CellType::quad, 4, nullptr};
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
