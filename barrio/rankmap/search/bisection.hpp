#pragma once

#include <cstdint>
#include <vector>

namespace barrio::rankmap::detail {

/// A graph to cut in two: compressed rows, both directions of each edge, no loops.
struct CutGraph {
  std::vector<int> offsets{0};
  std::vector<int> targets;
  std::vector<float> weights;
  std::vector<int> sizes;          ///< by vertex, >= 1
  std::vector<float> bias;         ///< by vertex, extra cost on side 1; empty: 0
  std::vector<signed char> fixed;  ///< by vertex, its required side, or -1; empty: none required

  [[nodiscard]] int n_vertices() const noexcept { return static_cast<int>(sizes.size()); }
};

/// Cut a graph into two sides with little weight across: coarsen by heavy edges, grow a side from several seeds, refine
/// by Fiduccia and Mattheyses' moves on the way back. @param n_low  total size of side 0, exact if all sizes are 1
/// @return side of each vertex, 0 or 1. Local, deterministic for a seed. Cost: O(edges log edges)
/// Source: Karypis and Kumar 1998 (the scheme), Fiduccia and Mattheyses 1982 (the moves).
std::vector<signed char> bisect(const CutGraph& graph, int n_low, std::uint64_t seed);

}  // namespace barrio::rankmap::detail
