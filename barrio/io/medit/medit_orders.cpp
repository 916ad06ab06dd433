#include "barrio/io/medit/medit_orders.hpp"

#include <algorithm>
#include <vector>

#include "barrio/mesh/topology.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;
using mesh::Dim;

constexpr int max_indices = 4;
using Bezier = std::array<std::int64_t, max_indices>;

// Bezier indices of the corners of a cell with corners only, those that are not used are 0.
constexpr std::array<Bezier, 2> edge_corners{{{0}, {1}}};
constexpr std::array<Bezier, 4> simplex_corners{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
constexpr std::array<Bezier, 8> hex_corners{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
constexpr std::array<Bezier, 6> prism_corners{
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}};

std::span<const Bezier> corners_of(CellType type) {
  switch (type) {
    case CellType::edge: return edge_corners;
    case CellType::triangle:
    case CellType::tet: return simplex_corners;
    case CellType::prism: return prism_corners;
    default: return hex_corners;  // the apex of a pyramid stands above its first corner
  }
}

/// Return the sum of the indices of some corners, over a divisor.
Bezier sum_of(CellType type, std::span<const std::int8_t> corners, std::int64_t divisor) {
  Bezier sum{};
  for (const std::int8_t corner : corners)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += corners_of(type)[corner][k];
  for (std::int64_t& index : sum) index /= divisor;
  return sum;
}

/// List the indices of barrio's nodes.
std::vector<Bezier> nodes_of(CellType type, int n_nodes) {
  const mesh::CellTopology& topology = mesh::topology(type);
  const bool has_corners_only = n_nodes == topology.n_corners;
  std::vector<Bezier> nodes;
  std::vector<std::int8_t> all;
  for (int c = 0; c < topology.n_corners; ++c) {
    Bezier corner = corners_of(type)[c];
    for (std::int64_t& index : corner) index *= has_corners_only ? 1 : 2;
    nodes.push_back(corner);
    all.push_back(static_cast<std::int8_t>(c));
  }
  for (std::size_t e = 0; e < topology.edges.size(); e += 2)
    nodes.push_back(sum_of(type, topology.edges.subspan(e, 2), 1));
  if (topology.dim == Dim::volume)
    mesh::for_each_side<std::int8_t>(type, all, [&](std::span<const std::int8_t> side) {
      if (side.size() == 4) nodes.push_back(sum_of(type, side, 2));
    });
  if (type == CellType::quad || type == CellType::hex) nodes.push_back(sum_of(type, all, topology.n_corners / 2));
  nodes.resize(n_nodes);
  return nodes;
}

}  // namespace

int n_bezier_indices(CellType type) noexcept {
  switch (type) {
    case CellType::edge: return 1;
    case CellType::quad: return 2;
    case CellType::tet:
    case CellType::prism: return 4;
    default: return 3;
  }
}

std::optional<MeditOrder> medit_order(CellType type, int n_nodes, std::span<const std::int64_t> indices) {
  const std::size_t width = n_bezier_indices(type);
  if (indices.size() != width * n_nodes) return {};
  MeditOrder order{type, n_nodes, {}};
  std::vector<Bezier> in_file(n_nodes, Bezier{});
  for (std::size_t n = 0; n < in_file.size(); ++n)
    std::ranges::copy(indices.subspan(n * width, width), in_file[n].begin());
  const std::vector<Bezier> nodes = nodes_of(type, n_nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto found = std::ranges::find(in_file, nodes[i]);
    if (found == in_file.end()) return {};
    order.places[i] = static_cast<std::int8_t>(found - in_file.begin());
  }
  return order;
}

MeditOrder default_medit_order(CellType type, int n_nodes) noexcept {
  // As the example "test_libmeshb_hexq2" of libMeshb has it for hexes.
  static constexpr std::array<std::int8_t, 27> hex{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 16, 17,
                                                   18, 19, 12, 13, 14, 15, 22, 23, 24, 25, 20, 21, 26};
  static constexpr std::array<std::int8_t, 18> prism{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11, 15, 16, 17};
  MeditOrder order{type, n_nodes, {}};
  for (std::size_t i = 0; i < order.places.size(); ++i) order.places[i] = static_cast<std::int8_t>(i);
  if (type == CellType::hex && n_nodes == 27) std::ranges::copy(hex, order.places.begin());
  if (type == CellType::prism && n_nodes == 18) std::ranges::copy(prism, order.places.begin());
  return order;
}

}  // namespace barrio::io::detail
