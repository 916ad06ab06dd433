#pragma once

#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::bench {

/// One edge of a tile: the rank at (x, y) of each tile is a neighbour of the rank `dx` to the right and `dy` up, which
/// may be in another tile. Edges are undirected.
struct TileLink {
  int x;
  int y;
  int dx;
  int dy;
};

/// Generates neighbourhoods that are irregular in a tile and the same in all tiles: a periodic grid of square tiles of
/// ranks. Each rank finds its neighbours from its rank and the number of ranks only.
/// Source: Ovcharenko et al. 2012, section 5, figure 9.
class TileGraph {
 public:
  /// Make a graph. @param tile  ranks along a side of a tile, > 0. @throws Error{usage} if a link starts outside the
  /// tile
  TileGraph(int tile, std::vector<TileLink> links);

  /// Make tiles of 4 x 4 ranks with the degrees of the paper: of N ranks N/4 have 2 neighbours, N/8 have 3, N/4 have 4,
  /// 3N/16 have 5, and N/16 each have 9, 14 and 36. This holds for at least 64 ranks; with fewer, links coincide. The
  /// paper does not give its links; these are chosen nearest first.
  static TileGraph semi_regular();

  /// Return the neighbours, ascending, without the rank itself. Local. Tiles form the squarest grid possible; ranks
  /// after the last complete tile have no neighbours. Cost: O(links).
  [[nodiscard]] std::vector<Rank> neighbours(Rank rank, int n_ranks) const;

 private:
  int tile_;
  std::vector<TileLink> links_;
};

}  // namespace barrio::bench
