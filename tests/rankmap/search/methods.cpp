#include <numeric>

#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::Dense;

// Construct a placement as printed in section 5.2.1, on full matrices. @return core -> process
std::vector<int> dense_construction(const Dense& problem) {
  const int n = problem.n();
  std::vector<int> pi(n, -1);
  std::vector<bool> assigned_process(pi.size(), false), assigned_core(pi.size(), false);
  for (int step = 1; step <= n; ++step) {
    int best_process = -1, best_core = -1;
    double best_a = 0.0, best_b = 0.0;
    for (int x = 0; x < n; ++x) {
      double sum_a = 0.0, sum_b = 0.0;
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (step == 1 || assigned_process[at]) sum_a += problem.a(i, x) + problem.a(x, i);
        if (step == 1 || assigned_core[at]) sum_b += problem.b(i, x) + problem.b(x, i);
      }
      if (!assigned_process[x] && (best_process < 0 || sum_a > best_a)) {
        best_process = x;
        best_a = sum_a;
      }
      if (!assigned_core[x] && (best_core < 0 || sum_b < best_b)) {
        best_core = x;
        best_b = sum_b;
      }
    }
    assigned_process[best_process] = true;
    assigned_core[best_core] = true;
    pi[best_core] = best_process;
  }
  return pi;
}

// Run the basic algorithm of section 5.2.2 on the pairs of one block, with every cost computed from scratch.
void dense_exchange(const Dense& problem, std::vector<int>& pi, int begin, int end) {
  const int n_pairs = (end - begin) * (end - begin - 1) / 2;
  double z = problem.z(pi);
  int i = begin, j = begin + 1;
  for (int n_failed = 0; n_failed < n_pairs;) {
    std::vector<int> neighbour = pi;
    std::swap(neighbour[i], neighbour[j]);
    const double z_neighbour = problem.z(neighbour);
    ++n_failed;
    if (z_neighbour < z) {
      pi = neighbour;
      z = z_neighbour;
      n_failed = 0;
    }
    if (j < end - 1) {  // equation (2)
      ++j;
    } else if (i < end - 2) {
      ++i;
      j = i + 1;
    } else {
      i = begin;
      j = begin + 1;
    }
  }
}

std::vector<Rank> ranks_at_cores(const Placement& placement) {
  return {placement.rank_at_core().begin(), placement.rank_at_core().end()};
}

std::vector<Rank> without_silent(std::vector<int> pi, int n_ranks) {
  for (int& process : pi)
    if (process >= n_ranks) process = no_rank;
  return pi;
}

TEST(Construction, ByHand) {
  // Two nodes of two cores. Loads: rank 0: 5+1=6, 1: 5+2=7, 2: 2+4=6, 3: 1+4=5.
  // Step 1: rank 1 (7) to core 0 (all cores are equal: 2*(1+10+10)).
  // Step 2: rank 0 (5) before rank 2 (2); core 1 (2) before core 2 (20).
  // Step 3: rank 2 (2) before rank 3 (1); core 2 (40), equal to core 3.
  // Step 4: rank 3 to core 3.
  const TrafficMatrix traffic = test::traffic_of(4, {{0, 1, 5}, {1, 2, 2}, {2, 3, 4}, {3, 0, 1}});
  const Machine machine = Machine::parse("2x2");
  const Placement placement = construct(traffic.compute_graph(Weight::bytes), machine);
  EXPECT_EQ(ranks_at_cores(placement), (std::vector<Rank>{1, 0, 2, 3}));
  EXPECT_EQ(cost(traffic, machine, placement), 5 + 4 + 20 + 10);
}

TEST(Construction, EqualsThePapersOnRandomProblems) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const TrafficMatrix traffic = test::random_traffic(random, machine.n_cores(), seed % 2 == 0 ? 0.2 : 0.8);
      const Dense dense(traffic, machine);
      EXPECT_EQ(ranks_at_cores(construct(traffic.compute_graph(Weight::bytes), machine)), dense_construction(dense));
    }
  }
}

TEST(Construction, TakesTheCentreOfAGeneralMachine) {
  // A line of five cores: core 2 is nearest to all.
  std::vector<double> line;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) line.push_back(std::abs(i - j));
  const Machine machine = Machine::dense(5, line);
  const TrafficMatrix traffic = test::traffic_of(5, {{4, 0, 9}, {4, 1, 8}, {4, 2, 7}, {4, 3, 6}});
  const Placement placement = construct(traffic.compute_graph(Weight::bytes), machine);
  EXPECT_EQ(placement.core_of(4), 2);
  EXPECT_EQ(ranks_at_cores(placement), dense_construction(Dense(traffic, machine)));
}

TEST(PairExchange, FollowsEquation2OnRandomProblems) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (const int block : {1, 2, 5, 64}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(text + " block " + std::to_string(block) + " seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const int n_ranks = std::max(1, machine.n_cores() - (seed % 2 == 0 ? 2 : 0));
        const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.4);
        Placement placement = test::random_placement(random, n_ranks, machine.n_cores());
        const Dense dense(traffic, machine);
        std::vector<int> pi = dense.pi(placement);
        for (int begin = 0; begin < machine.n_cores(); begin += block)
          dense_exchange(dense, pi, begin, std::min(machine.n_cores(), begin + block));
        const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);
        EXPECT_TRUE(exchange_in_blocks(graph, machine, placement, block).is_complete);
        EXPECT_EQ(ranks_at_cores(placement), without_silent(pi, n_ranks));
        placement.validate();
      }
    }
  }
}

TEST(PairExchange, LeavesNoBetterPair) {
  std::mt19937_64 random(3);
  const Machine machine = Machine::parse("4:4:2;1:10:20");
  const CommunicationGraph graph = test::random_traffic(random, 30, 0.2).compute_graph(Weight::bytes);
  Placement placement = test::random_placement(random, 30, 32);
  const SearchCounts counts = exchange_in_blocks(graph, machine, placement, machine.n_cores());
  EXPECT_GT(counts.n_exchanged, 0U);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) EXPECT_GE(exchange_delta(graph, machine, placement, i, j), 0.0);
}

TEST(NearPartners, NeverWorseAndLeavesNoBetterPairTwoStepsApart) {
  std::vector<std::string> machines = test::sample_machines();
  machines.insert(machines.end(), {"8x8", "4:4:6;1:3:9", "torus:4x4x2;4;1:5"});
  for (const std::string& text : machines) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 0; seed <= 6; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 3));
      const double fill = seed % 2 == 0 ? 0.02 : machine.n_cores() > 20 ? 0.06 : 0.4;
      const CommunicationGraph graph = test::random_traffic(random, n_ranks, fill).compute_graph(Weight::bytes);
      Placement placement = test::random_placement(random, n_ranks, machine.n_cores());
      const double before = cost(graph, machine, placement);
      const SearchCounts counts = exchange_near_partners(graph, machine, placement, seed);
      EXPECT_LE(cost(graph, machine, placement), before);
      EXPECT_EQ(counts.n_exchanged > 0, cost(graph, machine, placement) < before);
      placement.validate();
      int n_better = 0;
      const auto look_at = [&](Rank rank, Rank other) {
        n_better +=
            exchange_delta(graph, machine, placement, placement.core_of(rank), placement.core_of(other)) < 0.0 ? 1 : 0;
      };
      for (Rank rank = 0; rank < n_ranks; ++rank) {
        for (const Rank partner : graph.partners_of(rank)) {
          look_at(rank, partner);
          for (const Rank other : graph.partners_of(partner)) look_at(rank, other);
        }
      }
      EXPECT_EQ(n_better, 0);
    }
  }
}

TEST(NearPartners, MovesToAFreeCoreBesideThePartner) {
  const Machine machine = Machine::parse("3x4");
  const CommunicationGraph graph = test::traffic_of(2, {{0, 1, 5}}).compute_graph(Weight::bytes);
  Placement placement({0, 11}, 12);
  exchange_near_partners(graph, machine, placement);
  EXPECT_EQ(machine.node_of(placement.core_of(0)), machine.node_of(placement.core_of(1)));
}

TEST(Deadline, StopsASearch) {
  std::mt19937_64 random(5);
  const Machine machine = Machine::parse("8x8");
  const CommunicationGraph graph = test::random_traffic(random, 64, 0.2).compute_graph(Weight::bytes);
  Placement placement = Placement::in_order(64, 64);
  EXPECT_FALSE(exchange_in_blocks(graph, machine, placement, 64, Deadline(0.0)).is_complete);
  EXPECT_FALSE(exchange_near_partners(graph, machine, placement, 0, Deadline(0.0)).is_complete);
  EXPECT_EQ(placement, Placement::in_order(64, 64));
  EXPECT_FALSE(Deadline().has_passed());
  EXPECT_FALSE(Deadline(1e300).has_passed());
}

}  // namespace
}  // namespace barrio::rankmap
