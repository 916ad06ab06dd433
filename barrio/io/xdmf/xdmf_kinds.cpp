#include <algorithm>
#include <array>

#include "barrio/io/vtk/vtk_grid.hpp"
#include "barrio/io/xdmf/xdmf_file.hpp"

namespace barrio::io::detail {
namespace {

// Programs write the names of version 2, of version 3, or both mixed.
constexpr std::array<XdmfKind, 34> kinds{{{"polyvertex", 1, vtk_poly_vertex, 0},
                                          {"polyline", 2, vtk_poly_line, 0},
                                          {"polygon", 3, vtk_polygon, 0},
                                          {"triangle", 4, 5, 3},
                                          {"quadrilateral", 5, 9, 4},
                                          {"tetrahedron", 6, 10, 4},
                                          {"pyramid", 7, 14, 5},
                                          {"wedge", 8, 13, 6},
                                          {"hexahedron", 9, 12, 8},
                                          {"polyhedron", xdmf_polyhedron, vtk_polyhedron, 0},
                                          {"edge_3", 34, 21, 3},
                                          {"quadrilateral_9", 35, 28, 9},
                                          {"quad_9", 35, 28, 9},
                                          {"triangle_6", 36, 22, 6},
                                          {"tri_6", 36, 22, 6},
                                          {"quadrilateral_8", 37, 23, 8},
                                          {"quad_8", 37, 23, 8},
                                          {"tetrahedron_10", 38, 24, 10},
                                          {"tet_10", 38, 24, 10},
                                          {"pyramid_13", 39, 27, 13},
                                          {"wedge_15", 40, 26, 15},
                                          {"wedge_18", 41, 32, 18},
                                          {"hexahedron_20", 48, 25, 20},
                                          {"hex_20", 48, 25, 20},
                                          {"hexahedron_24", 49, 33, 24},
                                          {"hex_24", 49, 33, 24},
                                          {"hexahedron_27", 50, 29, 27},
                                          {"hex_27", 50, 29, 27},
                                          {"interval", 2, vtk_poly_line, 0},
                                          {"quad", 5, 9, 4},
                                          {"tet", 6, 10, 4},
                                          {"hex", 9, 12, 8},
                                          {"tri", 4, 5, 3},
                                          {"edge", 2, vtk_poly_line, 0}}};

}  // namespace

const XdmfKind* xdmf_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kinds, name, &XdmfKind::name);
  return found == kinds.end() ? nullptr : found;
}
const XdmfKind* xdmf_kind(std::int64_t code) {
  const auto* const found = std::ranges::find(kinds, code, &XdmfKind::code);
  return found == kinds.end() ? nullptr : found;
}

}  // namespace barrio::io::detail
