#include "barrio/io/medit/medit_keywords.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/io/text/letters.hpp"

// Names and codes are those of the GMF format: D. Marcum and L. Marechal, "The libMeshb library", list of keywords.

namespace barrio::io::detail {
namespace {

using mesh::CellType;

constexpr std::array all_keywords{
    MeditKeyword{"Vertices", 4, MeditUse::vertices, CellType::vertex},
    MeditKeyword{"Edges", 5, MeditUse::cells, CellType::edge},
    MeditKeyword{"Triangles", 6, MeditUse::cells, CellType::triangle},
    MeditKeyword{"Quadrilaterals", 7, MeditUse::cells, CellType::quad},
    MeditKeyword{"Tetrahedra", 8, MeditUse::cells, CellType::tet},
    MeditKeyword{"Pyramids", 49, MeditUse::cells, CellType::pyramid},
    MeditKeyword{"Prisms", 9, MeditUse::cells, CellType::prism},
    MeditKeyword{"Hexahedra", 10, MeditUse::cells, CellType::hex},
    MeditKeyword{"Corners", 13, MeditUse::list, CellType::vertex},
    MeditKeyword{"Ridges", 14, MeditUse::list, CellType::edge},
    MeditKeyword{"RequiredVertices", 15, MeditUse::list, CellType::vertex},
    MeditKeyword{"RequiredEdges", 16, MeditUse::list, CellType::edge},
    MeditKeyword{"RequiredTriangles", 17, MeditUse::list, CellType::triangle},
    MeditKeyword{"RequiredQuadrilaterals", 18, MeditUse::list, CellType::quad},
    MeditKeyword{"RequiredTetrahedra", 12, MeditUse::list, CellType::tet},  // Mmg's
    MeditKeyword{"End", medit_end_code, MeditUse::end, CellType::vertex},
};

// Spellings of the first versions of Medit.
constexpr std::array old_keywords{
    MeditKeyword{"Hexaedra", 10, MeditUse::cells, CellType::hex},
    MeditKeyword{"Pentahedra", 9, MeditUse::cells, CellType::prism},
};

// Cells of second order, and the orders of nodes.
constexpr std::array keywords_of_orders{
    MeditKeyword{"EdgesP2", 25, MeditUse::cells, CellType::edge, 3},
    MeditKeyword{"TrianglesP2", 24, MeditUse::cells, CellType::triangle, 6},
    MeditKeyword{"QuadrilateralsQ2", 27, MeditUse::cells, CellType::quad, 9},
    MeditKeyword{"TetrahedraP2", 30, MeditUse::cells, CellType::tet, 10},
    MeditKeyword{"PyramidsP2", 87, MeditUse::cells, CellType::pyramid, 14},
    MeditKeyword{"PrismsP2", 86, MeditUse::cells, CellType::prism, 18},
    MeditKeyword{"HexahedraQ2", 33, MeditUse::cells, CellType::hex, 27},
    MeditKeyword{"EdgesP2Ordering", 127, MeditUse::ordering, CellType::edge, 3},
    MeditKeyword{"TrianglesP2Ordering", 129, MeditUse::ordering, CellType::triangle, 6},
    MeditKeyword{"QuadrilateralsQ2Ordering", 131, MeditUse::ordering, CellType::quad, 9},
    MeditKeyword{"TetrahedraP2Ordering", 133, MeditUse::ordering, CellType::tet, 10},
    MeditKeyword{"PyramidsP2Ordering", 135, MeditUse::ordering, CellType::pyramid, 14},
    MeditKeyword{"PrismsP2Ordering", 137, MeditUse::ordering, CellType::prism, 18},
    MeditKeyword{"HexahedraQ2Ordering", 139, MeditUse::ordering, CellType::hex, 27},
    MeditKeyword{"EdgesP1Ordering", 141, MeditUse::ordering, CellType::edge},
    MeditKeyword{"TrianglesP1Ordering", 143, MeditUse::ordering, CellType::triangle},
    MeditKeyword{"QuadrilateralsQ1Ordering", 145, MeditUse::ordering, CellType::quad},
    MeditKeyword{"TetrahedraP1Ordering", 147, MeditUse::ordering, CellType::tet},
    MeditKeyword{"PyramidsP1Ordering", 149, MeditUse::ordering, CellType::pyramid},
    MeditKeyword{"PrismsP1Ordering", 151, MeditUse::ordering, CellType::prism},
    MeditKeyword{"HexahedraQ1Ordering", 153, MeditUse::ordering, CellType::hex},
};

// Gmsh writes quads and hexes of second order under the keywords of first order.
constexpr std::array wide_keywords{
    MeditKeyword{"Quadrilaterals", 7, MeditUse::cells, CellType::quad, 8},
    MeditKeyword{"Quadrilaterals", 7, MeditUse::cells, CellType::quad, 9},
    MeditKeyword{"Hexahedra", 10, MeditUse::cells, CellType::hex, 20},
    MeditKeyword{"Hexahedra", 10, MeditUse::cells, CellType::hex, 27},
};

struct CodeAndName {
  int code;
  std::string_view name;
};
/// Keywords of cells that barrio does not read; a mesh without these cells would have holes.
constexpr std::array lacking_cells{
    CodeAndName{46, "Polyhedra"},
    CodeAndName{47, "Polygons"},
    CodeAndName{88, "QuadrilateralsQ3"},
    CodeAndName{89, "QuadrilateralsQ4"},
    CodeAndName{90, "TrianglesP3"},
    CodeAndName{91, "TrianglesP4"},
    CodeAndName{92, "EdgesP3"},
    CodeAndName{93, "EdgesP4"},
    CodeAndName{96, "TetrahedraP3"},
    CodeAndName{97, "TetrahedraP4"},
    CodeAndName{98, "HexahedraQ3"},
    CodeAndName{99, "HexahedraQ4"},
    CodeAndName{100, "PyramidsP3"},
    CodeAndName{101, "PyramidsP4"},
    CodeAndName{102, "PrismsP3"},
    CodeAndName{103, "PrismsP4"},
    CodeAndName{200, "Prisms9"},
    CodeAndName{201, "Hexahedra12"},
    CodeAndName{202, "Quadrilaterals6"},
    CodeAndName{203, "BoundaryPolygonHeaders"},
    CodeAndName{205, "InnerPolygonHeaders"},
    CodeAndName{207, "PolyhedraHeaders"},
};

constexpr auto refused_keywords = [] {
  std::array<MeditKeyword, lacking_cells.size()> all{};
  std::ranges::transform(lacking_cells, all.begin(), [](const CodeAndName& cells) {
    return MeditKeyword{cells.name, cells.code, MeditUse::refuse, CellType::vertex};
  });
  return all;
}();

/// Names, for messages, of the most common keywords that barrio does not use. For 59 to 62 (tangents and normals)
/// libMeshb and Mmg differ.
constexpr std::array keywords_left_out{
    CodeAndName{19, "TangentAtEdgeVertices"},
    CodeAndName{20, "NormalAtVertices"},
    CodeAndName{21, "NormalAtTriangleVertices"},
    CodeAndName{22, "NormalAtQuadrilateralVertices"},
    CodeAndName{23, "AngleOfCornerBound"},
    CodeAndName{29, "SubDomainFromGeom"},
    CodeAndName{40, "VerticesOnGeometricVertices"},
    CodeAndName{41, "VerticesOnGeometricEdges"},
    CodeAndName{42, "VerticesOnGeometricTriangles"},
    CodeAndName{44, "EdgesOnGeometricEdges"},
    CodeAndName{50, "BoundingBox"},
    CodeAndName{63, "SolAtVertices"},
    CodeAndName{78, "Iterations"},
    CodeAndName{79, "Time"},
    CodeAndName{82, "PeriodicVertices"},
    CodeAndName{125, "BezierBasis"},
    CodeAndName{126, "ByteFlow"},
    CodeAndName{199, "ReferenceStrings"},
};

template <class Same>
const MeditKeyword* find_keyword(Same&& is_it) {
  for (const std::span<const MeditKeyword> some :
       {std::span<const MeditKeyword>(all_keywords), std::span<const MeditKeyword>(old_keywords),
        std::span<const MeditKeyword>(keywords_of_orders), std::span<const MeditKeyword>(refused_keywords)}) {
    const auto found = std::ranges::find_if(some, is_it);
    if (found != some.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

bool is_same_word(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char one, char other) { return lower(one) == lower(other); });
}

std::span<const MeditKeyword> medit_keywords() noexcept { return all_keywords; }

const MeditKeyword* find_medit_keyword(std::string_view name) noexcept {
  return find_keyword([&](const MeditKeyword& keyword) { return is_same_word(keyword.name, name); });
}

const MeditKeyword* find_medit_keyword(int code) noexcept {
  return find_keyword([&](const MeditKeyword& keyword) { return keyword.code == code; });
}

bool has_wide_keyword(const MeditKeyword& keyword) noexcept {
  return keyword.n_nodes == 0 &&
         std::ranges::find(wide_keywords, keyword.code, &MeditKeyword::code) != wide_keywords.end();
}

const MeditKeyword* find_wide_keyword(std::int64_t code, std::int64_t n_nodes) noexcept {
  const auto* const found = std::ranges::find_if(
      wide_keywords, [&](const MeditKeyword& wide) { return wide.code == code && wide.n_nodes == n_nodes; });
  return found == wide_keywords.end() ? nullptr : found;
}

const MeditKeyword* medit_cells(CellType type) noexcept {
  return find_keyword(
      [&](const MeditKeyword& keyword) { return keyword.use == MeditUse::cells && keyword.type == type; });
}

std::string medit_name(int code) {
  const auto known = std::ranges::find(keywords_left_out, code, &CodeAndName::code);
  return known == keywords_left_out.end() ? fmt::format("keyword {}", code) : std::string(known->name);
}

}  // namespace barrio::io::detail
