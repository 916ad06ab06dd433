#include "barrio/rankmap/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::rankmap {
namespace {

using barrio::test::world;

struct Seat {
  Rank new_rank;
  int node;
};

/// Weights of a graph, known to all ranks.
class Weights {
 public:
  Weights(int n, double fill, std::uint64_t seed)
      : n_(n), values_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to) {
        const std::uint64_t dice = mix64(seed ^ mix64(static_cast<std::uint64_t>(from * n + to)));
        if (from != to && static_cast<double>(dice % 1000) < 1000 * fill)
          at(from, to) = static_cast<double>(dice / 1000 % 50 + 1);
      }
  }
  double& at(int from, int to) { return values_[from * n_ + to]; }
  /// Compute Z of ranks on these nodes, from the definition.
  double cost(const std::vector<int>& node_of_rank, double inside, double outside) {
    double sum = 0.0;
    for (int from = 0; from < n_; ++from)
      for (int to = 0; to < n_; ++to) sum += at(from, to) * (node_of_rank[from] == node_of_rank[to] ? inside : outside);
    return sum;
  }
  /// Return a rank's partners and its weights to them.
  std::pair<std::vector<Rank>, std::vector<double>> row(int from) {
    std::pair<std::vector<Rank>, std::vector<double>> found;
    for (int to = 0; to < n_; ++to) {
      if (at(from, to) == 0.0) continue;
      found.first.push_back(to);
      found.second.push_back(at(from, to));
    }
    return found;
  }

 private:
  int n_;
  std::vector<double> values_;
};

/// Return the node of each new rank. Checks that ranks are a permutation.
std::vector<int> nodes_of_ranks(const Reordered& found, int my_node) {
  const auto seats = mpi::all_gather(world(), Seat{found.comm.rank(), my_node});
  std::vector<int> node(seats.size(), -1);
  for (const Seat& seat : seats) {
    EXPECT_EQ(node[static_cast<std::size_t>(seat.new_rank)], -1);
    node[seat.new_rank] = seat.node;
  }
  return node;
}

TEST(Reorder, CostsWhatItSaysOnRandomGraphs) {
  const int n = world().size();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Weights weights(n, 0.4, seed);
    const auto [neighbours, mine] = weights.row(world().rank());
    for (const int n_nodes : {1, 2, 3}) {
      const int node = world().rank() % n_nodes;
      const Reordered found =
          reorder(world(), neighbours, mine, {.inside = 2.0, .outside = 7.0, .node = node, .seconds = 0.005});
      ASSERT_EQ(found.comm.size(), n);
      std::vector<int> before;
      for (int rank = 0; rank < n; ++rank) before.push_back(rank % n_nodes);
      EXPECT_EQ(found.cost_before, weights.cost(before, 2.0, 7.0));
      EXPECT_EQ(found.cost_after, weights.cost(nodes_of_ranks(found, node), 2.0, 7.0));
      EXPECT_LE(found.cost_after, found.cost_before);
      const int n_moved = mpi::sum(world(), found.comm.rank() != world().rank() ? 1 : 0);
      EXPECT_EQ(found.n_moved, n_moved);
      EXPECT_EQ(n_moved > 0, found.cost_after < found.cost_before);
    }
  }
}

TEST(Reorder, BringsPairsTogetherAndThenLeavesThemThere) {
  const int n = world().size();
  if (n % 2 != 0) GTEST_SKIP() << "pairs need an even number of ranks";
  // Ranks alternate between two nodes; rank i communicates with its neighbour by number, which is on the other node.
  const int node = world().rank() % 2;
  const std::vector<Rank> partner{world().rank() ^ 1};
  const std::vector<double> weight{100.0};
  Reordered found = reorder(world(), partner, weight, {.node = node});
  // With two ranks there is no better placement.
  const bool can_help = n >= 4;
  EXPECT_EQ(found.share_before, 1.0);
  if (n % 4 == 0) {
    EXPECT_EQ(found.share_after, 0.0);
  }
  EXPECT_EQ(found.cost_after < found.cost_before, can_help);
  mpi::Context next(found.comm.get());
  const std::vector<Rank> again{next.rank() ^ 1};
  const Reordered second = reorder(next, again, weight, {.node = node});
  EXPECT_EQ(second.n_moved, 0);
  EXPECT_EQ(second.comm.rank(), next.rank());
  EXPECT_EQ(second.cost_before, found.cost_after);
  // No unnecessary moves: one rank of each separated pair.
  if (n % 4 == 0) {
    EXPECT_LE(found.n_moved, n / 2);
  }
}

TEST(Reorder, LittleGainMovesNobody) {
  const int n = world().size();
  Weights weights(n, 0.5, 3);
  const auto [neighbours, mine] = weights.row(world().rank());
  const Reordered found = reorder(world(), neighbours, mine, {.node = world().rank() % 2, .min_gain = 1.0});
  EXPECT_EQ(found.n_moved, 0);
  EXPECT_EQ(found.cost_after, found.cost_before);
  EXPECT_EQ(found.comm.rank(), world().rank());
  // Neither does no traffic.
  EXPECT_EQ(reorder(world(), {}, {}, {.node = world().rank() % 2}).n_moved, 0);
  EXPECT_EQ(reorder(world(), {}, {}).n_moved, 0);
}

TEST(Reorder, RefusesBadInputOnAllRanks) {
  const auto refused = [](const std::vector<Rank>& neighbours, const std::vector<double>& weights,
                          const ReorderOptions& options = {}) -> std::string {
    try {
      (void)reorder(world(), neighbours, weights, options);
    } catch (const AgreedError& error) {
      return error.what();
    }
    return "nothing";
  };
  const bool is_last = world().rank() == world().size() - 1;
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  EXPECT_TRUE(has(refused(is_last ? std::vector<Rank>{99} : std::vector<Rank>{},
                          is_last ? std::vector<double>{1.0} : std::vector<double>{}),
                  "neighbour 99"));
  EXPECT_TRUE(has(refused({0}, {is_last ? std::nan("") : 1.0}), "is nan"));
  EXPECT_TRUE(has(refused({0}, {}), "0 for 1 neighbours"));
  EXPECT_TRUE(has(refused({}, {}, {.inside = 5.0, .outside = 1.0}), "5 inside and 1 outside"));
  EXPECT_TRUE(has(refused({}, {}, {.seconds = -1.0}), "time"));
  EXPECT_TRUE(has(refused({}, {}, {.min_gain = 2.0}), "min gain"));
  EXPECT_TRUE(has(refused({}, {}, {.node = is_last ? -1 : 0}), "node: is -1"));
  if (world().size() > 1) {
    EXPECT_TRUE(has(refused({}, {}, {.node = is_last ? std::optional<int>(1) : std::nullopt}), "by some ranks only"));
  }
}

}  // namespace
}  // namespace barrio::rankmap
