// Rounds by nodes deliver the same messages as direct rounds. Nodes are simulated by groups of ranks of this job.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/rounds/node_plan.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

std::uint64_t random_of(std::initializer_list<std::uint64_t> words) {
  Hash64 hash(4711);
  for (const std::uint64_t word : words) hash.add(word);
  return hash.value();
}

/// Make a random graph in which about one pair in `one_in` are neighbours; the same on all ranks.
std::vector<Rank> random_neighbours(std::uint64_t seed, Rank me, int size, std::uint64_t one_in) {
  std::vector<Rank> ranks;
  for (Rank other = 0; other < size; ++other) {
    const auto [low, high] = std::minmax(me, other);
    const auto pair = static_cast<std::uint64_t>(low) * 1000 + static_cast<std::uint64_t>(high);
    if (other != me && random_of({seed, pair}) % one_in == 0) ranks.push_back(other);
  }
  return ranks;
}

/// Return the number of messages from one rank to another in a round: often zero, sometimes many.
std::size_t n_messages(std::uint64_t round, Rank from, Rank to) {
  const std::uint64_t random = random_of({round, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)});
  return random % 3 == 0 ? 0 : random / 3 % (random % 7 == 0 ? 3000 : 5);
}
std::uint64_t message(std::uint64_t round, Rank from, Rank to, std::size_t i) {
  return random_of({round, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), i});
}

class Routed : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static int node() { return world().rank() % GetParam(); }  // not consecutive ranks
};

TEST_P(Routed, BringsWhatWasWrittenInOrder) {
  const int size = world().size();
  const Rank me = world().rank();
  for (const std::uint64_t one_in : {1, 2, 4}) {
    for (const Delivery delivery : {Delivery::arrival, Delivery::by_rank}) {
      const std::vector<Rank> ranks = random_neighbours(one_in, me, size, one_in);
      Neighborhood hood(world(), ranks, {.delivery = delivery, .routing = Routing::by_node, .node = node()});
      EXPECT_EQ(hood.routing(), Routing::by_node);
      EXPECT_TRUE(std::ranges::equal(hood.neighbours(), ranks));
      for (std::uint64_t repeat = 0; repeat < 6; ++repeat) {
        auto round = hood.begin_round<std::uint64_t>();
        for (std::size_t i = 0; i < ranks.size(); ++i) {
          const Rank to = ranks[i];
          const std::size_t n = n_messages(repeat, me, to);
          for (std::size_t k = 0; k < n; ++k)
            (k % 2 == 0 ? round.allocate(to) : round.channel(i).allocate()) = message(repeat, me, to, k);
        }
        round.allocate(me) = repeat;
        round.close();
        std::vector<std::vector<std::uint64_t>> received(size);
        std::vector<Rank> order;
        for (const auto& [from, value] : round.received()) {
          received[from].push_back(value);
          order.push_back(from);
        }
        EXPECT_TRUE(delivery == Delivery::arrival || std::ranges::is_sorted(order));
        for (Rank from = 0; from < size; ++from) {
          std::vector<std::uint64_t> wanted;
          if (from == me) wanted = {repeat};
          if (std::ranges::binary_search(ranks, from))
            for (std::size_t k = 0; k < n_messages(repeat, from, me); ++k)
              wanted.push_back(message(repeat, from, me, k));
          EXPECT_EQ(received[static_cast<std::size_t>(from)], wanted) << from << " round " << repeat;
        }
      }
      EXPECT_EQ(hood.epoch(), 6U);
      EXPECT_EQ(hood.statistics().rounds, 6U);
    }
  }
}

TEST_P(Routed, BringsMessagesOfAnyLength) {
  const int size = world().size();
  const Rank me = world().rank();
  const std::vector<Rank> ranks = random_neighbours(7, me, size, 1);
  Neighborhood hood(world(), ranks, {.packet_bytes = 256, .routing = Routing::by_node, .node = node()});
  const std::vector<std::size_t> lengths{0, 1, 7, 8, 9, 100, 300'000, 0, 5};
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round = hood.begin_byte_round();
    for (const Rank to : ranks)
      for (const std::size_t n : lengths) std::ranges::fill(round.allocate(to, n), std::byte(me + to));
    round.close();
    std::vector<std::size_t> n_taken(size, 0);
    for (const auto& [from, bytes] : round.received()) {
      std::size_t& n = n_taken[from];
      ASSERT_LT(n, lengths.size());
      EXPECT_EQ(bytes.size(), lengths[n]);
      EXPECT_TRUE(std::ranges::all_of(bytes, [&, from = from](std::byte b) { return b == std::byte(me + from); }));
      n += 1;
    }
    for (const Rank from : ranks) EXPECT_EQ(n_taken[static_cast<std::size_t>(from)], lengths.size());
  }
}

TEST_P(Routed, OneMessageGoesBetweenTwoNodes) {
  // All ranks are neighbours: direct rounds take a message for each pair of ranks.
  const int size = world().size();
  const Rank me = world().rank();
  const std::vector<Rank> ranks = random_neighbours(0, me, size, 1);
  const detail::NodePlan plan = detail::make_node_plan(world(), ranks, node());
  const int n_nodes = std::min(GetParam(), size);
  EXPECT_EQ(mpi::sum(world(), static_cast<int>(plan.peers.size())), n_nodes * (n_nodes - 1));
  for (const Rank peer : plan.peers) EXPECT_NE(peer % GetParam(), node());
  for (const Rank rank : plan.locals) EXPECT_EQ(rank % GetParam(), node());
  for (const Rank rank : plan.near) EXPECT_EQ(rank % GetParam(), node());
  for (const detail::NodePlan::Far& far : plan.far) {
    EXPECT_EQ(far.agent % GetParam(), node());
    EXPECT_EQ(far.their_agent % GetParam(), far.rank % GetParam());
  }
  EXPECT_EQ(plan.near.size() + plan.far.size(), ranks.size());

  // A short round has the messages of the plan, not one for each neighbour.
  Neighborhood hood(world(), ranks, {.routing = Routing::by_node, .node = node()});
  for (const bool is_silent : {false, true}) {
    const std::uint64_t before = hood.statistics().packets_sent;
    auto round = hood.begin_round<int>();
    for (const Rank to : ranks)
      if (!is_silent) round.allocate(to) = me;
    round.close();
    EXPECT_EQ(round.collect().size(), is_silent ? 0 : ranks.size());
    EXPECT_EQ(hood.statistics().packets_sent - before, plan.near.size() + 2 * plan.locals.size() + plan.peers.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Routing, Routed, testing::Values(1, 2, 3, 100));

TEST(Routing, AutomaticChoosesTheSameOnAllRanks) {
  const int size = world().size();
  const Rank me = world().rank();
  // Too few ranks for any gain.
  const std::vector<Rank> all = random_neighbours(0, me, size, 1);
  const Neighborhood dense(world(), all, {.routing = Routing::automatic, .node = me % 2});
  const Neighborhood ring(world(), neighbours_of(Graph::ring, me, size),
                          {.routing = Routing::automatic, .node = me % 2});
  EXPECT_EQ(dense.routing(), Routing::direct);
  EXPECT_EQ(ring.routing(), Routing::direct);
}

/// Make the plan of a rank on `n_nodes` nodes of 16 if all ranks are neighbours.
detail::NodePlan plan_of_all(int n_nodes) {
  detail::NodePlan plan;
  plan.near.resize(15);
  plan.locals.resize(15);
  plan.far.resize(static_cast<std::size_t>(n_nodes - 1) * 16);
  plan.peers.resize(1);
  return plan;
}

TEST(Routing, ManyRanksANodeGainFromFourNodesOn) {
  EXPECT_FALSE(detail::is_cheaper_by_node(world(), plan_of_all(2)));
  EXPECT_TRUE(detail::is_cheaper_by_node(world(), plan_of_all(4)));
  // The busiest rank decides, wherever it is.
  detail::NodePlan busy = plan_of_all(4);
  if (world().is_root()) busy.peers.resize(40);
  EXPECT_FALSE(detail::is_cheaper_by_node(world(), busy));
}

TEST(Routing, CheapMessagesOnANodePayEarlier) {
  Profile profile;
  profile.near_cost = 0.3;
  mpi::Context context(world().comm(), {.profile = profile});
  EXPECT_TRUE(detail::is_cheaper_by_node(context, plan_of_all(2)));
  // Nothing to gain if all neighbours are on the node.
  EXPECT_FALSE(detail::is_cheaper_by_node(context, plan_of_all(1)));
}

TEST(Routing, NodesOfTheMachineAreFound) {
  const std::vector<Rank> ranks = neighbours_of(Graph::ring, world().rank(), world().size());
  const detail::NodePlan plan = detail::make_node_plan(world(), ranks, {});
  const mpi::NodeRanks node = mpi::find_node_ranks(world());
  EXPECT_EQ(node.node, mpi::find_node(world()).node);
  EXPECT_TRUE(std::ranges::is_sorted(node.ranks));
  EXPECT_TRUE(std::ranges::binary_search(node.ranks, world().rank()));
  EXPECT_NEAR(mpi::sum(world(), 1.0 / static_cast<double>(node.ranks.size())), mpi::find_node(world()).n_nodes, 1e-9);
  for (const Rank rank : plan.near) EXPECT_TRUE(std::ranges::binary_search(node.ranks, rank));
  for (const detail::NodePlan::Far& far : plan.far) EXPECT_FALSE(std::ranges::binary_search(node.ranks, far.rank));
}

TEST(Routing, RanksWithoutNeighboursPassOn) {
  const int size = world().size();
  const Rank me = world().rank();
  const int half = size / 2;
  if (size < 4) GTEST_SKIP() << "two nodes of at least two ranks";
  // Only the first ranks of the two halves are neighbours; the rank numbers determine which ranks forward.
  std::vector<Rank> ranks;
  if (me == 0) ranks = {half};
  if (me == half) ranks = {0};
  Neighborhood hood(world(), ranks, {.routing = Routing::by_node, .node = me < half ? 0 : 1});
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round = hood.begin_round<int>();
    for (const Rank to : ranks) round.allocate(to) = repeat;
    round.close();
    const auto all = round.collect();
    ASSERT_EQ(all.size(), ranks.size());
    for (const auto& [from, value] : all) EXPECT_EQ(value, repeat);
  }
}

TEST(Routing, SaysWhatItCannotDo) {
  const int size = world().size();
  const Rank me = world().rank();
  const std::vector<Rank> ranks = neighbours_of(Graph::ring, me, size);
  EXPECT_EQ(error_of([&] {
              const Neighborhood hood(world(), ranks,
                                      {.termination = Termination::introductions, .routing = Routing::by_node});
            }),
            "Routing::by_node: forwards messages to neighbours only (use it with Termination::neighbourhood)");
  const Neighborhood direct(world(), ranks, {.termination = Termination::introductions, .routing = Routing::automatic});
  EXPECT_EQ(direct.routing(), Routing::direct);
  EXPECT_EQ(error_of([&] { const Neighborhood hood(world(), ranks, {.routing = Routing::by_node, .node = -7}); }),
            "node -7: must be at least 0");
  if (size > 1) {
    std::optional<int> some;
    if (me > 0) some = 1;
    EXPECT_EQ(error_of([&] { const Neighborhood hood(world(), ranks, {.routing = Routing::by_node, .node = some}); }),
              "node: is given on " + std::to_string(size - 1) + " of " + std::to_string(size) + " ranks" +
                  " (give it on all ranks, or on none)");
    // Rank 0 lists the last rank, which does not list it: all ranks get the error, and none waits.
    std::vector<Rank> one_sided;
    if (me == 0) one_sided = {size - 1};
    EXPECT_THROW(const Neighborhood hood(world(), one_sided, {.routing = Routing::by_node}), AgreedError);
  }
  Neighborhood hood(world(), ranks, {.routing = Routing::by_node, .node = me});
  hood.set_neighbours(ranks);
  if (!ranks.empty()) {
    EXPECT_EQ(error_of([&] { hood.set_neighbours({}); }),
              "a Neighborhood with Routing::by_node: cannot change its neighbours: ranks of other nodes forward "
              "their messages (make a new one, which is collective, or use Routing::direct)");
  }
  auto round = hood.begin_round<int>();
  const std::string name = "rank " + std::to_string((me + 2) % size) + ": is not a neighbour of rank";
  if (size > 3) {
    EXPECT_EQ(error_of([&] { round.allocate((me + 2) % size) = 1; }).substr(0, name.size()), name);
  }
  round.close();
  EXPECT_TRUE(round.collect().empty());
}

}  // namespace
}  // namespace barrio::exchange
