#pragma once

#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::bench {

/// One edge of a tile: the rank at (x, y) of each tile borders on the rank `dx` to the right and `dy` up, which may
/// stand in another tile. Edges have no direction.
struct TileLink {
  int x;
  int y;
  int dx;
  int dy;
};

/// Generate neighbourhoods that are irregular in a tile and alike in all tiles: a grid of square tiles of ranks, closed
/// to a torus. Each rank finds its neighbours from its rank and the number of ranks alone.
/// Source: Ovcharenko et al. 2012, section 5, figure 9.
class TileGraph {
 public:
  /// @param tile  ranks along a side of a tile, > 0. @throws Error{usage} for a link that starts outside of the tile
  TileGraph(int tile, std::vector<TileLink> links);

  /// Tiles of 4 x 4 ranks with the degrees of the paper: of N ranks N/4 have 2 neighbours, N/8 have 3, N/4 have 4,
  /// 3N/16 have 5, and N/16 each have 9, 14 and 36. Holds for 64 ranks and more; below, links fall together. The paper
  /// does not give its links; these are nearest first.
  static TileGraph semi_regular();

  /// Ascending, without the rank itself. Local. Tiles stand in the squarest grid there is for their number; ranks that
  /// are left over by the last whole tile have no neighbours. Cost: O(links).
  [[nodiscard]] std::vector<Rank> neighbours(Rank rank, int n_ranks) const;

 private:
  int tile_;
  std::vector<TileLink> links_;
};

}  // namespace barrio::bench
