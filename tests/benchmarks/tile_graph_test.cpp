#include "benchmarks/exchange/tile_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "barrio/base/error.hpp"

namespace barrio::bench {
namespace {

TEST(TileGraph, HasTheDegreesOfThePaper) {
  const TileGraph graph = TileGraph::semi_regular();
  for (const int n_ranks : {64, 256, 1024}) {
    std::map<std::size_t, int> n_with;
    for (Rank rank = 0; rank < n_ranks; ++rank) n_with[graph.neighbours(rank, n_ranks).size()] += 1;
    const int n = n_ranks / 16;
    EXPECT_EQ(n_with,
              (std::map<std::size_t, int>{{2, 4 * n}, {3, 2 * n}, {4, 4 * n}, {5, 3 * n}, {9, n}, {14, n}, {36, n}}));
  }
}

TEST(TileGraph, IsMutualForAnyNumberOfRanks) {
  const TileGraph graph = TileGraph::semi_regular();
  for (const int n_ranks : {1, 15, 16, 17, 32, 48, 64, 100, 112}) {
    for (Rank rank = 0; rank < n_ranks; ++rank) {
      const auto mine = graph.neighbours(rank, n_ranks);
      EXPECT_TRUE(std::ranges::is_sorted(mine));
      EXPECT_EQ(mine.empty(), rank >= n_ranks / 16 * 16);
      for (const Rank other : mine) {
        ASSERT_NE(other, rank);
        EXPECT_TRUE(std::ranges::binary_search(graph.neighbours(other, n_ranks), rank)) << rank << " and " << other;
      }
    }
  }
}

TEST(TileGraph, MakesARing) {
  const TileGraph ring(1, {{0, 0, 1, 0}});
  EXPECT_EQ(ring.neighbours(0, 5), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(ring.neighbours(3, 5), (std::vector<Rank>{2, 4}));
  EXPECT_EQ(ring.neighbours(0, 2), (std::vector<Rank>{1}));
  EXPECT_TRUE(ring.neighbours(0, 1).empty());
}

TEST(TileGraph, RefusesLinksOutside) {
  EXPECT_THROW(TileGraph(2, {{2, 0, 1, 0}}), Error);
  EXPECT_THROW(TileGraph(0, {}), Error);
}

}  // namespace
}  // namespace barrio::bench
