#include "barrio/mesh/cell_type.hpp"

#include <array>
#include <utility>

#include "barrio/mesh/topology.hpp"

namespace barrio::mesh {
namespace {

// Canonical corner order of the common mesh formats (MOAB, Exodus, CGNS and VTK agree on these types). Normals of sides
// point outwards.
constexpr std::array<std::int8_t, 4> edge_sides{0, -1, 1, -1};
constexpr std::array<std::int8_t, 9> triangle_sides{0, 1, -1, 1, 2, -1, 2, 0, -1};
constexpr std::array<std::int8_t, 12> quad_sides{0, 1, -1, 1, 2, -1, 2, 3, -1, 3, 0, -1};
constexpr std::array<std::int8_t, 16> tet_sides{0, 1, 3, -1, 1, 2, 3, -1, 0, 3, 2, -1, 0, 2, 1, -1};
constexpr std::array<std::int8_t, 21> pyramid_sides{0, 1, 4, -1, 1, 2, 4, -1, 2, 3, 4, -1, 3, 0, 4, -1, 0, 3, 2, 1, -1};
constexpr std::array<std::int8_t, 23> prism_sides{0, 1, 4,  3, -1, 1, 2,  5, 4, -1, 0, 3,
                                                  5, 2, -1, 0, 2,  1, -1, 3, 4, 5,  -1};
constexpr std::array<std::int8_t, 25> knife_sides{0, 1,  5, 4, -1, 1, 2,  6, 5, -1, 2, 3, 5,
                                                  6, -1, 3, 0, 4,  5, -1, 0, 3, 2,  1, -1};
constexpr std::array<std::int8_t, 30> hex_sides{0, 1, 5, 4, -1, 1, 2, 6, 5, -1, 2, 3, 7, 6, -1,
                                                3, 0, 4, 7, -1, 0, 3, 2, 1, -1, 4, 5, 6, 7, -1};

constexpr std::array<std::int8_t, 2> edge_edges{0, 1};
constexpr std::array<std::int8_t, 6> triangle_edges{0, 1, 1, 2, 2, 0};
constexpr std::array<std::int8_t, 8> quad_edges{0, 1, 1, 2, 2, 3, 3, 0};
constexpr std::array<std::int8_t, 12> tet_edges{0, 1, 1, 2, 2, 0, 0, 3, 1, 3, 2, 3};
constexpr std::array<std::int8_t, 16> pyramid_edges{0, 1, 1, 2, 2, 3, 3, 0, 0, 4, 1, 4, 2, 4, 3, 4};
constexpr std::array<std::int8_t, 18> prism_edges{0, 1, 1, 2, 2, 0, 0, 3, 1, 4, 2, 5, 3, 4, 4, 5, 5, 3};
constexpr std::array<std::int8_t, 20> knife_edges{0, 1, 1, 2, 2, 3, 3, 0, 0, 4, 1, 5, 2, 6, 3, 5, 4, 5, 5, 6};
constexpr std::array<std::int8_t, 24> hex_edges{0, 1, 1, 2, 2, 3, 3, 0, 0, 4, 1, 5, 2, 6, 3, 7, 4, 5, 5, 6, 6, 7, 7, 4};

constexpr std::array<CellTopology, n_cell_types> topologies{{
    {"vertex", "vertices", Dim::vertex, 1, {}, {}},
    {"edge", "edges", Dim::edge, 2, edge_sides, edge_edges},
    {"triangle", "triangles", Dim::face, 3, triangle_sides, triangle_edges},
    {"quad", "quads", Dim::face, 4, quad_sides, quad_edges},
    {"polygon", "polygons", Dim::face, 0, {}, {}},
    {"tet", "tets", Dim::volume, 4, tet_sides, tet_edges},
    {"pyramid", "pyramids", Dim::volume, 5, pyramid_sides, pyramid_edges},
    {"prism", "prisms", Dim::volume, 6, prism_sides, prism_edges},
    {"knife", "knives", Dim::volume, 7, knife_sides, knife_edges},
    {"hex", "hexes", Dim::volume, 8, hex_sides, hex_edges},
    {"polyhedron", "polyhedra", Dim::volume, 0, {}, {}},
}};

constexpr SideBits bits_of_sides(std::span<const std::int8_t> corners) {
  SideBits sides;
  std::uint32_t side = 0;
  for (const std::int8_t corner : corners) {
    if (corner >= 0) {
      side |= 1U << corner;
    } else {
      sides.bits[sides.n++] = std::exchange(side, 0U);
    }
  }
  return sides;
}

constexpr SideBits bits_of_edges(std::span<const std::int8_t> ends) {
  SideBits edges;
  for (std::size_t e = 0; e + 1 < ends.size(); e += 2) edges.bits[edges.n++] = 1U << ends[e] | 1U << ends[e + 1];
  return edges;
}

/// Bits of the sides and of the edges of each type.
constexpr auto bits_of_types = [] {
  std::array<std::array<SideBits, 2>, n_cell_types> bits;
  for (std::size_t t = 0; t < bits.size(); ++t)
    bits[t] = {bits_of_sides(topologies[t].sides), bits_of_edges(topologies[t].edges)};
  return bits;
}();

}  // namespace

const CellTopology& topology(CellType type) noexcept { return topologies[index(type)]; }

const SideBits& side_bits(CellType type, Dim dim) noexcept {
  const bool is_below = value(dim) + 1 == value(topology(type).dim);
  return bits_of_types[index(type)][is_below ? 0 : 1];
}

}  // namespace barrio::mesh
