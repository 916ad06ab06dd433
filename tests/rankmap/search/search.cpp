// Searches and initial placements that barrio adds to the paper's.
#include <algorithm>
#include <numeric>

#include "barrio/rankmap/search/anneal.hpp"
#include "barrio/rankmap/search/bisection.hpp"
#include "barrio/rankmap/search/bottleneck.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "barrio/rankmap/search/gain_table.hpp"
#include "barrio/rankmap/search/multisect.hpp"
#include "barrio/rankmap/search/regroup.hpp"
#include "barrio/rankmap/search/tabu.hpp"
#include "barrio/rankmap/solve.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

/// Make the traffic of parts of a grid, numbered in order or shuffled.
TrafficMatrix grid(int nx, int ny, std::uint64_t shuffle) {
  std::vector<int> number(nx * ny);
  std::iota(number.begin(), number.end(), 0);
  std::mt19937_64 random(shuffle);
  if (shuffle != 0) std::shuffle(number.begin(), number.end(), random);
  const auto at = [&](int x, int y) { return number[static_cast<std::size_t>(y * nx + x)]; };
  std::vector<test::Bytes> list;
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; ++x) {
      if (x + 1 < nx) list.push_back({at(x, y), at(x + 1, y), 8});
      if (y + 1 < ny) list.push_back({at(x, y), at(x, y + 1), 8});
    }
  }
  return test::traffic_of(nx * ny, list);
}

detail::CutGraph cut_graph_of(const CommunicationGraph& graph) {
  detail::CutGraph result;
  result.sizes.assign(graph.n_ranks(), 1);
  for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
    const auto partners = graph.partners_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k) {
      result.targets.push_back(partners[k]);
      result.weights.push_back(static_cast<float>(graph.weights_of(rank)[k]));
    }
    result.offsets.push_back(static_cast<int>(result.targets.size()));
  }
  return result;
}

TEST(Bisection, IsExactAndCutsAGridAcross) {
  const CommunicationGraph graph = grid(32, 16, 3).compute_graph(Weight::bytes);
  const detail::CutGraph whole = cut_graph_of(graph);
  for (const int n_low : {0, 1, 100, 256, 511, 512}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto side = detail::bisect(whole, n_low, seed);
      EXPECT_EQ(std::ranges::count(side, 0), n_low);
      EXPECT_EQ(side, detail::bisect(whole, n_low, seed));
      if (n_low != 256) continue;
      int n_cut = 0;
      for (Rank rank = 0; rank < graph.n_ranks(); ++rank)
        for (const Rank partner : graph.partners_of(rank)) n_cut += side[rank] != side[partner] ? 1 : 0;
      // 16 edges cross the middle; a diagonal or a step costs a few more.
      EXPECT_LE(n_cut / 2, 22) << "seed " << seed;
    }
  }
}

TEST(Bisection, KeepsFixedVerticesAndHeedsABias) {
  std::mt19937_64 random(2);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    detail::CutGraph graph = cut_graph_of(test::random_traffic(random, 120, 0.05).compute_graph(Weight::bytes));
    graph.fixed.assign(120, -1);
    for (int i = 0; i < 30; ++i) graph.fixed[i * 4] = static_cast<signed char>(i % 3 == 0 ? 1 : 0);
    const auto side = detail::bisect(graph, 60, seed);
    EXPECT_EQ(std::ranges::count(side, 0), 60);
    for (std::size_t i = 0; i < side.size(); ++i)
      if (graph.fixed[i] >= 0) {
        EXPECT_EQ(side[i], graph.fixed[i]);
      }
  }
  // Without edges only the bias tells the sides apart.
  detail::CutGraph silent;
  silent.sizes.assign(80, 1);
  silent.offsets.assign(81, 0);
  for (int i = 0; i < 80; ++i) silent.bias.push_back(i % 2 == 0 ? 1.0F : -1.0F);
  const auto side = detail::bisect(silent, 40, 1);
  for (std::size_t i = 0; i < side.size(); ++i) EXPECT_EQ(side[i], i % 2 == 0 ? 0 : 1);
}

TEST(Multisection, PlacesAllOnEveryMachine) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 4));
      const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.3).compute_graph(Weight::bytes);
      const Placement placement = multisect(graph, machine, seed);
      placement.validate();
      EXPECT_EQ(placement.n_ranks(), n_ranks);
      EXPECT_EQ(placement, multisect(graph, machine, seed));
      const Placement given = test::random_placement(random, n_ranks, machine.n_cores());
      std::vector<bool> is_fixed(n_ranks);
      for (int rank = 0; rank < n_ranks; rank += 3) is_fixed[rank] = true;
      const Placement pinned = multisect(graph, machine, seed, &given, is_fixed);
      pinned.validate();
      for (int rank = 0; rank < n_ranks; rank += 3) EXPECT_EQ(pinned.core_of(rank), given.core_of(rank));
    }
  }
}

TEST(Multisection, FindsBlocksOfAGrid) {
  const CommunicationGraph graph = grid(16, 16, 7).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("16:16;1:10");
  // 16 squares of 4 x 4: 24 edges inside each, 96 between them.
  constexpr double best = 8 * (16 * 24 * 1 + 96 * 10);
  EXPECT_LE(cost(graph, machine, multisect(graph, machine, 1)), 1.15 * best);
}

TEST(NearestConstruction, BeatsTheConstructionOnATorus) {
  const CommunicationGraph graph = grid(16, 8, 5).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("torus:8x4;4;1:10");
  const Placement placement = construct_nearest(graph, machine);
  placement.validate();
  EXPECT_LT(cost(graph, machine, placement), 0.9 * cost(graph, machine, construct(graph, machine)));
}

TEST(GainTable, AgreesWithTheCostOfExchanges) {
  for (const std::string& text : test::sample_machines()) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text);
    if (machine.n_groups() < 2) continue;
    std::mt19937_64 random(11);
    const int n_ranks = std::max(1, machine.n_cores() - 2);
    const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.5).compute_graph(Weight::bytes);
    const Placement start = test::random_placement(random, n_ranks, machine.n_cores());
    detail::Seats seats(machine, start), other_seats(machine, start);
    detail::GainTable table(graph, machine, seats);
    detail::GainLists lists(graph, machine, other_seats);
    std::uniform_int_distribution<int> pick(0, machine.n_cores() - 1);
    for (int step = 0; step < 300; ++step) {
      const int one = pick(random), other = pick(random);
      if (seats.group_of(one) == seats.group_of(other)) continue;
      const Placement before = seats.placement();
      const double expected = exchange_delta(graph, machine, before, seats.core_of(one), seats.core_of(other));
      EXPECT_NEAR(table.bound(one, other) + table.correction(one, other), expected, 1e-2);
      EXPECT_NEAR(lists.bound(one, other), expected, 1e-2);
      EXPECT_LE(table.bound(one, other), expected + 1e-2);
      table.exchange(one, other);
      lists.exchange(one, other);
      EXPECT_NEAR(cost(graph, machine, seats.placement()) - cost(graph, machine, before), expected, 1e-6);
      EXPECT_EQ(seats.placement(), other_seats.placement());
    }
  }
}

TEST(Annealing, NeverWorseRepeatsAndKeepsFixedRanks) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 3));
      const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.3).compute_graph(Weight::bytes);
      const Placement start = test::random_placement(random, n_ranks, machine.n_cores());
      std::vector<bool> is_fixed(n_ranks);
      if (seed % 2 == 0) is_fixed[0] = true;
      const AnnealOptions options{
          .n_moves = 20'000, .seed = seed, .hottest = 0.3 * mean_loss(graph, machine, start, 1), .is_fixed = is_fixed};
      Placement found = start, again = start;
      EXPECT_TRUE(anneal(graph, machine, found, options).is_complete);
      (void)anneal(graph, machine, again, options);
      found.validate();
      EXPECT_EQ(found, again);
      EXPECT_LE(cost(graph, machine, found), cost(graph, machine, start));
      if (seed % 2 == 0) {
        EXPECT_EQ(found.core_of(0), start.core_of(0));
        continue;
      }
      // Finally no pair exchange gains.
      for (int a = 0; a < machine.n_cores(); ++a)
        for (int b = 0; b < machine.n_cores(); ++b)
          EXPECT_GE(exchange_delta(graph, machine, found, a, b), -1e-3 * cost(graph, machine, found));
    }
  }
}

TEST(Annealing, EndsWhereRoundingLooksLikeAGain) {
  // Equal weights beyond single precision allow no gain.
  for (const std::string text : {"64x1", "16x4", "8:2:4;1:10:20", "torus:4x4;4;1:10"}) {
    const Machine machine = Machine::parse(text);
    for (const double bytes : {1'000'003.0, 123'456'789.0, 1e15 / 3}) {
      std::vector<test::Bytes> list;
      for (Rank from = 0; from < 64; ++from)
        for (Rank to = 0; to < 64; ++to)
          if (from != to) list.push_back({from, to, bytes + from % 3});
      const TrafficMatrix traffic = test::traffic_of(64, list);
      const MapResult result = map(traffic, machine, {.seconds = 0.02});
      EXPECT_LE(result.cost_after, result.cost_before);
      EXPECT_LT(result.seconds, 5.0);
    }
  }
}

TEST(Annealing, LeavesALocalMinimum) {
  const CommunicationGraph graph = grid(16, 16, 9).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("8:32;1:10");
  Placement descended = construct(graph, machine);
  exchange_in_blocks(graph, machine, descended, machine.n_cores());
  Placement annealed = descended;
  (void)anneal(graph, machine, annealed,
               {.n_moves = 1'000'000, .seed = 1, .hottest = 0.2 * mean_loss(graph, machine, descended, 1)});
  EXPECT_LT(cost(graph, machine, annealed), 0.97 * cost(graph, machine, descended));
}

TEST(Annealing, OnMachinesWithoutATable) {
  // 40 000 cores in 5 000 nodes: 800 MB of table.
  const CommunicationGraph graph = grid(200, 200, 5).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("8:50:100;1:10:20");
  EXPECT_FALSE(has_gain_table(graph, machine));
  Placement placement = multisect(graph, machine, 1);
  const double before = cost(graph, machine, placement);
  (void)anneal(graph, machine, placement,
               {.n_moves = 200'000, .seed = 1, .hottest = 0.03 * mean_loss(graph, machine, placement, 1)});
  placement.validate();
  EXPECT_LT(cost(graph, machine, placement), before);
}

TEST(Groups, MoveTogether) {
  // Eight nodes of two cores, each with one partner node that is far away in the given order.
  std::vector<test::Bytes> list;
  for (Rank node = 0; node < 8; ++node) {
    list.push_back({2 * node, 2 * node + 1, 100});
    list.push_back({2 * node, 2 * ((node + 4) % 8), 10});
  }
  const CommunicationGraph graph = test::traffic_of(16, list).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("2:2:4;1:5:50");
  EXPECT_TRUE(detail::can_move_groups(machine));
  EXPECT_TRUE(detail::can_move_groups(Machine::parse("torus:4x2;2;1:3")));
  for (const char* text : {"8x4", "1:4:4;0:1:2", "2,3,2,2:2:2;1:2:3"})
    EXPECT_FALSE(detail::can_move_groups(Machine::parse(text)));
  Placement placement = Placement::in_order(16, 16);
  // No exchange of two ranks helps.
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < 16; ++b) EXPECT_GE(exchange_delta(graph, machine, placement, a, b), 0.0);
  detail::move_groups(graph, machine, placement, {}, 20'000, 1);
  EXPECT_EQ(cost(graph, machine, placement), 8 * 100 * 1 + 8 * 10 * 5);
}

TEST(Tabu, FindsTheOptimumOfSmallMatricesAndKeepsFixedRanks) {
  std::mt19937_64 random(6);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    constexpr int n = 7;
    std::vector<double> distances(n * n, 0.0);
    std::uniform_int_distribution<int> dice(1, 30);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) distances[i * n + j] = distances[j * n + i] = dice(random);
    const Machine machine = Machine::dense(n, distances);
    const int n_ranks = seed % 2 == 0 ? n : n - 1;
    const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.8).compute_graph(Weight::bytes);
    std::vector<int> seats(n);
    std::iota(seats.begin(), seats.end(), 0);
    double best = 1e300, best_fixed = 1e300;
    do {
      const double z = cost(graph, machine, Placement({seats.begin(), seats.begin() + n_ranks}, n));
      best = std::min(best, z);
      if (seats[2] == 2) best_fixed = std::min(best_fixed, z);
    } while (std::ranges::next_permutation(seats).found);
    Placement found = Placement::in_order(n_ranks, n);
    const TabuCounts counts = tabu_search(graph, machine, found, {.n_steps = 20'000, .seed = seed});
    EXPECT_TRUE(counts.is_complete);
    EXPECT_GT(counts.n_restarts, 0U);
    EXPECT_EQ(cost(graph, machine, found), best);
    Placement fixed = Placement::in_order(n_ranks, n);
    std::vector<bool> is_fixed(n_ranks);
    is_fixed[2] = true;
    (void)tabu_search(graph, machine, fixed, {.n_steps = 20'000, .seed = seed, .is_fixed = is_fixed});
    EXPECT_EQ(fixed.core_of(2), 2);
    EXPECT_EQ(cost(graph, machine, fixed), best_fixed);
    Placement late = Placement::in_order(n_ranks, n);
    EXPECT_FALSE(tabu_search(graph, machine, late, {.n_steps = 20'000}, Deadline(0.0)).is_complete);
    EXPECT_EQ(late, Placement::in_order(n_ranks, n));
  }
}

TEST(Bottleneck, ByHand) {
  // Nodes {0, 1}, {2, 3}, {4, 5}: rank 0 sends to all others.
  const CommunicationGraph graph =
      test::traffic_of(6, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}, {0, 5, 1}}).compute_graph(Weight::bytes);
  const Machine machine = Machine::parse("3x2");
  const Placement placement = Placement::in_order(6, 6);
  EXPECT_EQ(compute_node_loads(graph, machine, placement), (std::vector<double>{40, 20, 20}));
  EXPECT_EQ(cost(graph, machine, placement), 41);
  EXPECT_EQ(bottleneck_cost(graph, machine, placement), 1 + 3 * 40 / 2);
  EXPECT_EQ(mixed_cost(graph, machine, placement, 0.5), 0.5 * 41 + 0.5 * 61);
}

TEST(Bottleneck, ReliefIsNeverWorseAndKeepsFixedRanks) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 3));
      const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.4).compute_graph(Weight::bytes);
      const Placement start = test::random_placement(random, n_ranks, machine.n_cores());
      std::vector<bool> is_fixed(n_ranks);
      is_fixed[0] = true;
      Placement placement = start;
      EXPECT_TRUE(relieve_bottleneck(graph, machine, placement, 0.7, is_fixed));
      placement.validate();
      EXPECT_EQ(placement.core_of(0), start.core_of(0));
      EXPECT_LE(mixed_cost(graph, machine, placement, 0.7), mixed_cost(graph, machine, start, 0.7) * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace barrio::rankmap
