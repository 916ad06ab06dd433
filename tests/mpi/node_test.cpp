#include "barrio/mpi/node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

TEST(Node, PlacesOfAllRanksFitTogether) {
  Context& context = test::world();
  const auto places = all_gather(context, find_node(context));
  std::map<int, int> seen;  // node -> ranks so far
  for (const NodePlace& place : places) {
    EXPECT_EQ(place.n_nodes, places.front().n_nodes);
    EXPECT_GE(place.node, 0);
    EXPECT_LT(place.node, place.n_nodes);
    EXPECT_EQ(place.rank_on_node, seen[place.node]) << "ranks of a node are numbered in the order of the job";
    if (seen[place.node]++ == 0) {
      EXPECT_EQ(place.node, static_cast<int>(seen.size()) - 1) << "nodes are numbered by their lowest rank";
    }
  }
  int n_ranks = 0;
  for (const NodePlace& place : places) {
    EXPECT_EQ(place.ranks_on_node, seen[place.node]);
    if (place.rank_on_node == 0) n_ranks += place.ranks_on_node;
  }
  EXPECT_EQ(static_cast<int>(seen.size()), places.front().n_nodes);
  EXPECT_EQ(n_ranks, context.size()) << "summed over nodes";
}

TEST(Node, RanksOfAContextAreCountedNotThoseOfTheJob) {
  Context& world = test::world();
  const Comm half = Comm::split(world.comm(), world.rank() % 2, world.rank());
  Context context(half.get());
  const NodePlace place = find_node(context);
  EXPECT_EQ(sum(context, place.rank_on_node == 0 ? place.ranks_on_node : 0), context.size());
}

TEST(Node, AProcessMayRunSomewhere) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), 1 << 14);
}

}  // namespace
}  // namespace barrio::mpi
