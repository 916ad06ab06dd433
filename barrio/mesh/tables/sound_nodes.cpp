#include "barrio/mesh/tables/sound_nodes.hpp"

#include <algorithm>
#include <array>

namespace barrio::mesh {
namespace {

template <int n>
bool has_sound_corners(std::span<const GlobalId> nodes, std::size_t nodes_per_cell, std::uint64_t n_vertices) {
  constexpr std::size_t n_together = 256;
  std::array<std::array<std::uint32_t, n_together>, n> corners;  // lower halves of ids; equal ids have equal halves
  std::uint64_t highest = 0;                                     // negative ids become the largest
  for (std::size_t first = 0; first < nodes.size(); first += n_together * nodes_per_cell) {
    const std::size_t n_cells = std::min(n_together, (nodes.size() - first) / nodes_per_cell);
    const std::span<const GlobalId> some = nodes.subspan(first, n_cells * nodes_per_cell);
    for (const GlobalId node : some) highest = std::max(highest, index(node));
    if (highest >= n_vertices) return false;
    for (std::size_t c = 0; c < n_cells; ++c)
      for (std::size_t i = 0; i < n; ++i)
        corners[i][c] = static_cast<std::uint32_t>(value(some[c * nodes_per_cell + i]));
    std::uint32_t n_equal = 0;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (std::size_t c = 0; c < n_cells; ++c) n_equal += corners[i][c] == corners[j][c] ? 1U : 0U;
    if (n_equal > 0) return false;
  }
  return true;
}

}  // namespace

bool detail::has_sound_nodes(const CellBlock& block, std::int64_t n_vertices) {
  const std::size_t width = block.nodes_per_cell;
  switch (topology(block.type).n_corners) {
    case 1: return has_sound_corners<1>(block.nodes, width, n_vertices);
    case 2: return has_sound_corners<2>(block.nodes, width, n_vertices);
    case 3: return has_sound_corners<3>(block.nodes, width, n_vertices);
    case 4: return has_sound_corners<4>(block.nodes, width, n_vertices);
    case 5: return has_sound_corners<5>(block.nodes, width, n_vertices);
    case 6: return has_sound_corners<6>(block.nodes, width, n_vertices);
    case 7: return has_sound_corners<7>(block.nodes, width, n_vertices);
    case 8: return has_sound_corners<8>(block.nodes, width, n_vertices);
    default: return false;
  }
}

}  // namespace barrio::mesh
