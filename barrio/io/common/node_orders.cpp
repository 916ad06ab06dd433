#include "barrio/io/common/node_orders.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace barrio::io::detail {
namespace {

using mesh::CellType;

// Each order follows the format's own list of edges and faces; tests/io/node_orders_test.cpp has those lists.

// Gmsh, reference manual, "Node ordering": edges of a hex by their corners: 01 03 04 12 15 23 26 37 45 47 56 67; faces
// bottom, front, left, right, back, top.
constexpr std::array<std::int8_t, 10> gmsh_tet{0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
constexpr std::array<std::int8_t, 27> gmsh_hex{0,  1,  2,  3,  4,  5,  6,  7,  8,  11, 13, 9,  10, 12,
                                               14, 15, 16, 18, 19, 17, 21, 23, 24, 22, 20, 25, 26};
constexpr std::array<std::int8_t, 18> gmsh_prism{0, 1, 2, 3, 4, 5, 6, 9, 7, 8, 10, 11, 12, 14, 13, 15, 17, 16};
constexpr std::array<std::int8_t, 14> gmsh_pyramid{0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12, 13};

// VTK: edges around the base, around the top, then upwards; faces -x, +x, -y, +y, bottom, top.
constexpr std::array<std::int8_t, 27> vtk_hex{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 16, 17,
                                              18, 19, 12, 13, 14, 15, 22, 21, 23, 20, 24, 25, 26};
constexpr std::array<std::int8_t, 18> vtk_prism{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11, 15, 16, 17};

// CGNS, SIDS, "Unstructured Grid Element Numbering Conventions": the bottom before the sides.
constexpr std::array<std::int8_t, 27> cgns_hex{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                               14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 20, 25, 26};

// Exodus: the cell, bottom, top, left, right, front, back.
constexpr std::array<std::int8_t, 27> exodus_hex{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                                 14, 15, 16, 17, 18, 19, 25, 24, 26, 23, 21, 22, 20};

struct KnownCell {
  CellType type;
  int n_nodes;
  int vtk;
  int gmsh;
  int cgns;
};
constexpr std::array<KnownCell, 20> kinds{
    {{CellType::vertex, 1, 1, 15, 2},     {CellType::edge, 2, 3, 1, 3},       {CellType::edge, 3, 21, 8, 4},
     {CellType::triangle, 3, 5, 2, 5},    {CellType::triangle, 6, 22, 9, 6},  {CellType::triangle, 7, 34, 0, 0},
     {CellType::quad, 4, 9, 3, 7},        {CellType::quad, 8, 23, 16, 8},     {CellType::quad, 9, 28, 10, 9},
     {CellType::tet, 4, 10, 4, 10},       {CellType::tet, 10, 24, 11, 11},    {CellType::pyramid, 5, 14, 7, 12},
     {CellType::pyramid, 13, 27, 19, 21}, {CellType::pyramid, 14, 0, 14, 13}, {CellType::prism, 6, 13, 6, 14},
     {CellType::prism, 15, 26, 18, 15},   {CellType::prism, 18, 32, 13, 16},  {CellType::hex, 8, 12, 5, 17},
     {CellType::hex, 20, 25, 17, 18},     {CellType::hex, 27, 29, 12, 19}}};

using Order = std::span<const std::int8_t>;

Order gmsh_order(CellType type) {
  switch (type) {
    case CellType::tet: return gmsh_tet;
    case CellType::hex: return gmsh_hex;
    case CellType::prism: return gmsh_prism;
    case CellType::pyramid: return gmsh_pyramid;
    default: return {};
  }
}
Order vtk_order(CellType type) {
  if (type == CellType::hex) return vtk_hex;
  return type == CellType::prism ? Order(vtk_prism) : Order();
}

/// Return the kinds of a format; a cell with fewer nodes uses the first entries of the order of one with more.
template <class OrderOf>
std::array<CellKind, kinds.size()> kinds_of(OrderOf&& order_of) {
  std::array<CellKind, kinds.size()> all{};
  std::ranges::transform(kinds, all.begin(), [&](const KnownCell& kind) {
    const Order order = order_of(kind.type);
    const std::size_t n = kind.n_nodes;
    return CellKind{kind.type, kind.n_nodes, order.size() < n ? Order() : order.first(n)};
  });
  return all;
}

const CellKind* look_up(const std::array<CellKind, kinds.size()>& all, int KnownCell::* number, int wanted) {
  const auto at = std::ranges::find(kinds, wanted, number);
  return wanted <= 0 || at == kinds.end() ? nullptr : &all[at - kinds.begin()];
}

const KnownCell* find(CellType type, int n_nodes) {
  const auto at =
      std::ranges::find_if(kinds, [&](const KnownCell& k) { return k.type == type && k.n_nodes == n_nodes; });
  return at == kinds.end() ? nullptr : &*at;
}

}  // namespace

const CellKind* gmsh_kind(int number) noexcept {
  static const auto all = kinds_of(gmsh_order);
  return look_up(all, &KnownCell::gmsh, number);
}

const CellKind* gmsh_kind(CellType type, int n_nodes) noexcept {
  const KnownCell* const kind = find(type, n_nodes);
  return kind == nullptr ? nullptr : gmsh_kind(kind->gmsh);
}

const CellKind* cgns_kind(int number) noexcept {
  static const auto all = kinds_of([](CellType type) { return type == CellType::hex ? Order(cgns_hex) : Order(); });
  return look_up(all, &KnownCell::cgns, number);
}

const CellKind* vtk_kind(int number) noexcept {
  static const auto all = kinds_of(vtk_order);
  return look_up(all, &KnownCell::vtk, number);
}

int vtk_number(CellType type, int n_nodes) noexcept {
  const KnownCell* const kind = find(type, n_nodes);
  return kind == nullptr ? 0 : kind->vtk;
}

Order exodus_order(CellType type, int n_nodes) noexcept {
  return type == CellType::hex && n_nodes == 27 ? Order(exodus_hex) : Order();
}

Order cgns_order(CellType type, int n_nodes) noexcept {
  return type == CellType::hex && n_nodes == 27 ? Order(cgns_hex) : Order();
}

bool is_known_kind(CellType type, int n_nodes) noexcept { return find(type, n_nodes) != nullptr; }

}  // namespace barrio::io::detail
