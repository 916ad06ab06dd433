#include "barrio/rankmap/assignment.hpp"

#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::Dense;
using test::expect_error;
using test::traffic_of;

TEST(Placement, KnowsBothWays) {
  Placement placement({2, 0, 3}, 5);
  EXPECT_EQ(std::vector<Rank>(placement.rank_at_core().begin(), placement.rank_at_core().end()),
            (std::vector<Rank>{1, no_rank, 0, 2, no_rank}));
  placement.exchange(2, 4);  // a move to a free core
  EXPECT_EQ(placement.core_of(0), 4);
  EXPECT_EQ(placement.rank_at(2), no_rank);
  placement.exchange(0, 3);
  EXPECT_EQ(placement.core_of(1), 3);
  EXPECT_EQ(placement.core_of(2), 0);
  placement.exchange(1, 2);  // two free cores
  placement.exchange(3, 3);
  EXPECT_NO_THROW(placement.validate());
}

TEST(Placement, RefusesWhatIsNotOneToOne) {
  expect_error(ErrorCode::bad_input, {"placement of rank 1", "core 0 is already taken by rank 0"},
               [] { Placement({0, 0}, 2); });
  expect_error(ErrorCode::bad_input, {"placement of rank 0", "core 2 is not in 0..1"}, [] { Placement({2, 0}, 2); });
  expect_error(ErrorCode::bad_input, {"core -1"}, [] { Placement({-1}, 2); });
  expect_error(ErrorCode::usage, {"3 ranks and only 2 cores", "at least one core per rank"},
               [] { Placement({0, 1, 2}, 2); });
}

TEST(Cost, ByHand) {
  // Pairs 0-2 (5 + 3) and 1-3 (4) on two nodes of two cores.
  const TrafficMatrix traffic = traffic_of(4, {{0, 2, 5}, {2, 0, 3}, {3, 1, 4}, {1, 1, 100}});
  const Machine machine = Machine::parse("2x2");
  const Placement in_order = Placement::in_order(4, 4);
  EXPECT_EQ(cost(traffic, machine, in_order), 8 * 10 + 4 * 10);
  EXPECT_EQ(cost(traffic, machine, Placement({0, 2, 1, 3}, 4)), 8 + 4);
  EXPECT_EQ(cost(traffic, machine, in_order, Weight::messages), 30);
  const PlacementFigures figures = compute_figures(traffic, machine, in_order);
  EXPECT_EQ(figures.total_weight, 12);
  EXPECT_EQ(figures.inter_node_weight, 12);
  EXPECT_EQ(figures.inter_node_share(), 1.0);
  EXPECT_EQ(figures.max_node_out_bytes, 7);
  EXPECT_EQ(compute_node_bytes(traffic, machine, in_order), (std::vector<double>{0, 5, 7, 0}));
  EXPECT_EQ(compute_node_bytes(traffic, machine, Placement({0, 2, 1, 3}, 4)), (std::vector<double>{8, 0, 0, 4}));
}

TEST(Cost, EqualsThePapersSumOnRandomProblems) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 3));
      const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.5);
      const Dense dense(traffic, machine);
      const Placement placement = test::random_placement(random, n_ranks, machine.n_cores());
      EXPECT_EQ(cost(traffic, machine, placement), dense.z(dense.pi(placement)));
    }
  }
}

TEST(Cost, DeltaEqualsTheDifferenceOverManyExchanges) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    const std::uint64_t seed = 11;
    SCOPED_TRACE(text + " seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int n_ranks = std::max(1, machine.n_cores() - 2);
    const CommunicationGraph graph = test::random_traffic(random, n_ranks, 0.4).compute_graph(Weight::bytes);
    Placement placement = test::random_placement(random, n_ranks, machine.n_cores());
    std::uniform_int_distribution<int> core(0, machine.n_cores() - 1);
    double now = cost(graph, machine, placement);
    for (int step = 0; step < 300; ++step) {
      const int a = core(random), b = core(random);
      const double delta = exchange_delta(graph, machine, placement, a, b);
      placement.exchange(a, b);
      const double next = cost(graph, machine, placement);
      ASSERT_EQ(now + delta, next) << "cores " << a << " and " << b;
      if (machine.group_of(a) == machine.group_of(b)) {
        ASSERT_EQ(delta, 0.0);
      }
      now = next;
    }
    placement.validate();
  }
}

TEST(LowerBound, IsBelowEveryPlacement) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const CommunicationGraph graph =
          test::random_traffic(random, machine.n_cores(), 0.3).compute_graph(Weight::bytes);
      const double bound = compute_lower_bound(graph, machine);
      for (int i = 0; i < 50; ++i)
        EXPECT_LE(bound, cost(graph, machine, test::random_placement(random, machine.n_cores(), machine.n_cores())));
    }
  }
}

TEST(LowerBound, IsReachedByPairsInNodes) {
  const TrafficMatrix traffic = traffic_of(4, {{0, 1, 5}, {2, 3, 7}});
  EXPECT_EQ(compute_lower_bound(traffic.compute_graph(Weight::bytes), Machine::parse("2x2")), 12);
}

TEST(KeepInPlace, SameCostFewerMoves) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 3));
      const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.4);
      const Placement old = test::random_placement(random, n_ranks, machine.n_cores());
      const Placement placement = test::random_placement(random, n_ranks, machine.n_cores());
      const Placement kept = keep_in_place(placement, old, machine);
      kept.validate();
      EXPECT_EQ(cost(traffic, machine, kept), cost(traffic, machine, placement));
      const auto n_kept = [&](const Placement& one) {
        int n = 0;
        for (Rank rank = 0; rank < n_ranks; ++rank) n += one.core_of(rank) == old.core_of(rank) ? 1 : 0;
        return n;
      };
      EXPECT_GE(n_kept(kept), n_kept(placement));
      EXPECT_EQ(keep_in_place(old, old, machine), old);
    }
  }
  // Whole nodes have exchanged names: no rank moves.
  const Machine machine = Machine::parse("3x2");
  EXPECT_EQ(keep_in_place(Placement({4, 5, 0, 1, 3, 2}, 6), Placement::in_order(6, 6), machine),
            Placement::in_order(6, 6));
}

}  // namespace
}  // namespace barrio::rankmap
