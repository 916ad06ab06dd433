#include "barrio/rankmap/solve.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/search/bottleneck.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::Dense;
using test::expect_error;
using test::traffic_of;

double brute_force_optimum(const TrafficMatrix& traffic, const Machine& machine) {
  const Dense dense(traffic, machine);
  std::vector<int> pi(machine.n_cores());
  std::iota(pi.begin(), pi.end(), 0);
  double best = dense.z(pi);
  while (std::ranges::next_permutation(pi).found) best = std::min(best, dense.z(pi));
  return best;
}

void expect_consistent(const MapResult& result, const TrafficMatrix& traffic, const Machine& machine) {
  result.placement.validate();
  EXPECT_EQ(cost(traffic, machine, result.given, result.weight), result.cost_before);
  EXPECT_EQ(cost(traffic, machine, result.placement, result.weight), result.cost_after);
  EXPECT_LE(result.cost_after, result.cost_before);
  EXPECT_LE(result.lower_bound, result.cost_after * (1 + 1e-12));
  EXPECT_EQ(result.before.cost, result.cost_before);
  EXPECT_EQ(result.after.cost, result.cost_after);
  const bool is_better = result.cost_after < result.cost_before;
  EXPECT_EQ(result.placement == result.given, !is_better);
}

/// Make the traffic of a halo exchange on a grid of nx x ny parts; part (x, y) is rank number(x, y).
template <class Number>
TrafficMatrix grid_traffic(int nx, int ny, Number number) {
  std::vector<test::Bytes> list;
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      if (x + 1 < nx)
        list.insert(list.end(), {{number(x, y), number(x + 1, y), 100}, {number(x + 1, y), number(x, y), 100}});
      if (y + 1 < ny)
        list.insert(list.end(), {{number(x, y), number(x, y + 1), 100}, {number(x, y + 1), number(x, y), 100}});
    }
  return traffic_of(nx * ny, list);
}

TEST(Map, BruteForceSmallProblems) {
  int n_optimal = 0, n_all = 0;
  for (const std::string text : {"2:3;1:10", "3:2;1:10", "2:2:2;1:2:10", "7x1", "torus:3x2;1;1:10"}) {
    const Machine machine = Machine::parse(text);
    if (machine.n_cores() > 7) continue;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = machine.n_cores() - static_cast<int>(seed % 2);
      const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.5);
      const double optimum = brute_force_optimum(traffic, machine);
      const MapResult result = map(traffic, machine);
      expect_consistent(result, traffic, machine);
      EXPECT_GE(result.cost_after, optimum);
      EXPECT_LE(result.lower_bound, optimum);
      n_optimal += result.cost_after == optimum ? 1 : 0;
      ++n_all;
    }
  }
  EXPECT_GE(n_optimal, n_all * 3 / 4) << "of " << n_all;
}

TEST(Map, NeverWorseOnRandomProblems) {
  for (const std::string& text : test::sample_machines()) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const int n_ranks = std::max(1, machine.n_cores() - static_cast<int>(seed % 4));
      const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.05 * static_cast<double>(seed));
      MapOptions options{.seed = seed, .seconds = 0.002};
      if (seed % 2 == 0) options.given = test::random_placement(random, n_ranks, machine.n_cores());
      const MapResult result = map(traffic, machine, options);
      expect_consistent(result, traffic, machine);
      const MapResult again = map(traffic, machine, options);
      EXPECT_EQ(again.placement, result.placement) << "one seed, two results";
      EXPECT_EQ(again.method, result.method);
      // A search from the result never gets worse.
      options.given = result.placement;
      EXPECT_LE(map(traffic, machine, options).cost_after, result.cost_after);
    }
  }
}

TEST(Map, KeepsAGoodNumberingThatTheConstructionSpoils) {
  // The numbering of graph partitioners: each node already has a block of 4 x 2 neighbours.
  const auto by_blocks = [](int x, int y) { return (x / 4 + y / 2 * 2) * 8 + x % 4 + y % 2 * 4; };
  const TrafficMatrix traffic = grid_traffic(8, 8, by_blocks);
  const Machine machine = Machine::parse("8:8;1:10");
  const MapResult result = map(traffic, machine);
  expect_consistent(result, traffic, machine);
  EXPECT_GT(result.cost_construction, 1.3 * result.cost_before);
  // The paper's whole method, exchange after construction, remains worse than the given order.
  const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);
  Placement papers = construct(graph, machine);
  exchange_in_blocks(graph, machine, papers, 64);
  EXPECT_GT(cost(graph, machine, papers), result.cost_before);
  EXPECT_EQ(result.cost_after, result.cost_before);
  EXPECT_EQ(result.method, "given order");
  EXPECT_EQ(result.placement, Placement::in_order(64, 64));
}

TEST(Map, RepairsAScatteredNumbering) {
  // The numbering of simple bisection codes: bit-reversed, so neighbours are far apart.
  const auto scattered = [](int x, int y) {
    int number = 0;
    for (int bit = 0; bit < 3; ++bit) number |= ((x >> bit & 1) << (5 - 2 * bit)) | ((y >> bit & 1) << (4 - 2 * bit));
    return number;
  };
  const TrafficMatrix traffic = grid_traffic(8, 8, scattered);
  const Machine machine = Machine::parse("8:8;1:10");
  const MapResult result = map(traffic, machine);
  expect_consistent(result, traffic, machine);
  EXPECT_LT(result.cost_after, 0.6 * result.cost_before);
  EXPECT_LT(result.after.inter_node_share(), 0.6);
  EXPECT_EQ(result.before.inter_node_share(), 1.0);
  EXPECT_LT(result.after.max_node_out_bytes, result.before.max_node_out_bytes);
}

TEST(Map, MoreTimeIsWellSpent) {
  std::mt19937_64 random(21);
  const TrafficMatrix traffic = test::random_traffic(random, 60, 0.1);
  const Machine machine = Machine::parse("4:4:4;1:3:9");
  double little = 0.0, much = 0.0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const MapResult quick = map(traffic, machine, {.seed = seed, .seconds = 0.0});
    const MapResult slow = map(traffic, machine, {.seed = seed, .seconds = 0.1});
    expect_consistent(quick, traffic, machine);
    expect_consistent(slow, traffic, machine);
    little += quick.cost_after;
    much += slow.cost_after;
  }
  EXPECT_LT(much, little);
}

// Time is counted in work: a busy machine finds the same, unless the deadline ends the search, which is also checked.
TEST(Map, MoreTimeNeverFindsWorse) {
  std::mt19937_64 random(33);
  const auto measured = [&](int n) {  // like a matrix of latencies: all different
    std::vector<double> distances(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
    const auto at = [&](int i, int j) {
      return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) distances[at(i, j)] = distances[at(j, i)] = static_cast<double>(random() % 900 + 100);
    return Machine::dense(n, std::move(distances));
  };
  struct Problem {
    const char* name;
    TrafficMatrix traffic;
    Machine machine;
    MapOptions options;
    bool is_long = false;
  };
  std::vector<Problem> problems;
  const auto scattered = [](int x, int y) { return (x * 37 + y * 16) % 256; };
  problems.push_back({"grid on nodes", grid_traffic(16, 16, scattered), Machine::parse("32x8"), {}, true});
  problems.push_back({"random on a tree", test::random_traffic(random, 96, 0.1), Machine::parse("4:4:6;1:3:9"), {}});
  problems.push_back(
      {"random on a torus", test::random_traffic(random, 60, 0.1), Machine::parse("torus:4x4;4;1:10"), {}});
  problems.push_back({"random on a matrix", test::random_traffic(random, 40, 0.3), measured(42), {}, true});
  problems.push_back({"dense on a matrix", test::random_traffic(random, 64, 1.0), measured(64), {}});
  problems.push_back({"fixed ranks",
                      test::random_traffic(random, 64, 0.1),
                      Machine::parse("8x8"),
                      {.pins = {{0, 9}, {5, -1}, {40, 2}}}});
  problems.push_back(
      {"fixed ranks on a matrix", test::random_traffic(random, 32, 0.3), measured(32), {.pins = {{0, 9}, {5, -1}}}});
  problems.push_back(
      {"the busiest node", test::random_traffic(random, 48, 0.15), Machine::parse("8x6"), {.bottleneck = 0.7}});
  problems.push_back({"the busiest node, by the paper",
                      test::random_traffic(random, 48, 0.15),
                      Machine::parse("8x6"),
                      {.bottleneck = 0.7, .method = Method::paper_improvement}});
  for (Problem& problem : problems) {
    SCOPED_TRACE(problem.name);
    // Budgets need not be doubled, and need not be at the end of a stage.
    std::vector<double> budgets{0.0, 0.03125, 0.04, 0.05, 0.0624, 0.0625, 0.0626};
    const double most = problem.is_long ? 0.5 : 0.1;
    for (double seconds = 0.003; seconds < most; seconds *= 2) budgets.push_back(seconds);
    std::ranges::sort(budgets);
    double last = std::numeric_limits<double>::infinity(), first = 0.0;
    for (const double seconds : budgets) {
      problem.options.seconds = seconds;
      problem.options.patience = std::numeric_limits<double>::infinity();
      const MapResult result = map(problem.traffic, problem.machine, problem.options);
      EXPECT_TRUE(result.is_complete) << seconds << " s";
      EXPECT_LE(result.mixed_after, last * (1 + 1e-12)) << seconds << " s";
      if (seconds == 0.0) first = result.mixed_after;
      last = result.mixed_after;
    }
    if (problem.options.method == Method::best) {
      EXPECT_LT(last, first);
    }
  }
}

TEST(Map, ThePapersMethodsAreThePapers) {
  std::mt19937_64 random(4);
  const TrafficMatrix traffic = test::random_traffic(random, 70, 0.1);
  const Machine machine = Machine::parse("18x4");
  const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);
  Placement papers = construct(graph, machine);
  EXPECT_EQ(map(traffic, machine, {.method = Method::paper_construction}).placement, papers);
  exchange_in_blocks(graph, machine, papers, 8);
  const MapResult improved = map(traffic, machine, {.method = Method::paper_improvement, .block = 8});
  EXPECT_EQ(improved.placement, papers);
  EXPECT_EQ(improved.method, "construction + pair exchange (blocks of 8)");
  Placement from_given = Placement::in_order(70, 72);
  exchange_in_blocks(graph, machine, from_given, 64);
  EXPECT_EQ(map(traffic, machine, {.method = Method::paper_from_given}).placement, from_given);
  for (const Method method :
       {Method::best, Method::paper_construction, Method::paper_improvement, Method::paper_from_given})
    EXPECT_EQ(parse_method(name_of(method)), method);
  expect_error(ErrorCode::usage, {"method 'paper-constructoin'", "Did you mean 'paper-construction'"},
               [] { (void)parse_method("paper-constructoin"); });
}

TEST(Map, PinnedRanksStay) {
  std::mt19937_64 random(8);
  for (const std::string text : {"8x4", "4:4:3;1:5:9", "torus:3x3;4;1:10", "3,5,2,8,8,6;1:10"}) {
    const Machine machine = Machine::parse(text);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(text + " seed " + std::to_string(seed));
      const int n_ranks = machine.n_cores() - static_cast<int>(seed % 3);
      const TrafficMatrix traffic = test::random_traffic(random, n_ranks, 0.1);
      const Placement given = test::random_placement(random, n_ranks, machine.n_cores());
      // A rank pinned to its present core, unless another rank needs that core.
      const Rank stays = given.core_of(5) == 7 || given.core_of(5) == 30 ? 6 : 5;
      const MapResult result = map(traffic, machine,
                                   {.seed = seed,
                                    .seconds = 0.02,
                                    .given = given,
                                    .pins = {{.rank = 0, .core = 7}, {.rank = stays}, {.rank = 9, .core = 30}}});
      expect_consistent(result, traffic, machine);
      EXPECT_EQ(result.placement.core_of(0), 7);
      EXPECT_EQ(result.placement.core_of(9), 30);
      EXPECT_EQ(result.placement.core_of(stays), given.core_of(stays));
      EXPECT_LT(result.cost_after, result.cost_before);
    }
  }
}

TEST(Map, ABottleneckThatCountsFallsAtSomeCostOfTheSum) {
  std::mt19937_64 random(17);
  const Machine machine = Machine::parse("8x4");
  double z = 0.0, z_mixed = 0.0, load = 0.0, load_mixed = 0.0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const TrafficMatrix traffic = test::random_traffic(random, 32, 0.15);
    const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);
    const MapResult sum = map(traffic, machine, {.seconds = 0.05});
    const MapResult mixed = map(traffic, machine, {.bottleneck = 0.9, .seconds = 0.05});
    expect_consistent(sum, traffic, machine);
    EXPECT_LE(mixed.mixed_after, mixed.mixed_before);
    EXPECT_EQ(to_json(mixed, traffic, machine)["after"]["mixed_cost"].get<double>(), mixed.mixed_after);
    EXPECT_NEAR(mixed.mixed_after, mixed_cost(graph, machine, mixed.placement, 0.9), 1e-9 * mixed.mixed_after);
    EXPECT_LE(mixed.mixed_after, mixed_cost(graph, machine, sum.placement, 0.9) * (1 + 1e-12));
    z += sum.cost_after;
    z_mixed += mixed.cost_after;
    load += bottleneck_cost(graph, machine, sum.placement);
    load_mixed += bottleneck_cost(graph, machine, mixed.placement);
  }
  EXPECT_LT(load_mixed, 0.97 * load);
  EXPECT_GE(z_mixed, z);
}

TEST(Map, SmallAndEmptyProblems) {
  const Machine machine = Machine::parse("2x2");
  for (const int n : {0, 1, 4}) {
    const TrafficMatrix silent(n);
    const MapResult result = map(silent, machine);
    expect_consistent(result, silent, machine);
    EXPECT_EQ(result.cost_after, 0.0);
    EXPECT_EQ(result.placement, Placement::in_order(n, 4));
    EXPECT_EQ(result.after.inter_node_share(), 0.0);
  }
  const TrafficMatrix to_itself = traffic_of(1, {{0, 0, 5}});
  EXPECT_EQ(map(to_itself, Machine::parse("1x1")).cost_after, 0.0);
}

TEST(Map, GraphInPieces) {
  // Rings of two ranks {k, k + 4}, and rank 8 alone.
  std::vector<test::Bytes> list;
  for (Rank rank = 0; rank < 4; ++rank) list.push_back({rank, rank + 4, 10});
  const TrafficMatrix traffic = traffic_of(9, list);
  const Machine machine = Machine::parse("5x2");
  const MapResult result = map(traffic, machine);
  expect_consistent(result, traffic, machine);
  EXPECT_EQ(result.cost_after, 40.0);
  EXPECT_EQ(result.lower_bound, 40.0);
}

TEST(Map, PartlyFilledMachine) {
  // Six ranks in two triangles; the given order splits them over the first two nodes of four.
  const TrafficMatrix traffic = traffic_of(6, {{0, 2, 9}, {2, 4, 9}, {4, 0, 9}, {1, 3, 9}, {3, 5, 9}, {5, 1, 9}});
  const Machine machine = Machine::parse("4x4");
  const MapResult result = map(traffic, machine);
  expect_consistent(result, traffic, machine);
  EXPECT_EQ(result.cost_after, 6 * 9);
  EXPECT_EQ(result.after.inter_node_weight, 0.0);
  // Two ranks far apart on a large machine meet.
  const TrafficMatrix pair = traffic_of(2, {{0, 1, 1}});
  const Machine large = Machine::parse("torus:4x4;2;1:10");
  EXPECT_EQ(map(pair, large, {.given = Placement({0, 20}, 32)}).cost_after, 1.0);
}

TEST(Map, WeightDecides) {
  const TrafficMatrix traffic(4, {{0, 1, 0, 1000, 1}, {0, 2, 0, 1, 500}, {1, 3, 0, 1, 500}, {2, 3, 0, 1000, 1}});
  const Machine machine = Machine::parse("2x2");
  EXPECT_EQ(map(traffic, machine, {.weight = Weight::bytes}).placement, Placement::in_order(4, 4));
  const Placement by_messages = map(traffic, machine, {.weight = Weight::messages}).placement;
  EXPECT_EQ(machine.node_of(by_messages.core_of(0)), machine.node_of(by_messages.core_of(2)));
  // A latency of ten bytes per message changes the result.
  const MapResult by_both = map(traffic, machine, {.message_bytes = 10});
  EXPECT_EQ(by_both.cost_after, 2 * 5001 + 20 * 1010.0);
  EXPECT_EQ(machine.node_of(by_both.placement.core_of(0)), machine.node_of(by_both.placement.core_of(2)));
  expect_error(ErrorCode::usage, {"weight 'points'", "is zero in all of this traffic", "use weight 'bytes'"},
               [&] { map(traffic, machine, {.weight = Weight::points}); });
}

TEST(Map, NoTimeGivesAValidResult) {
  std::mt19937_64 random(9);
  const TrafficMatrix traffic = test::random_traffic(random, 128, 0.1);
  const Machine machine = Machine::parse("16x8");
  const MapResult result = map(traffic, machine, {.seconds = 0.0});
  expect_consistent(result, traffic, machine);
  EXPECT_LT(result.seconds, 1.0);
  // On any machine, however slow, and in builds with sanitizers.
  EXPECT_TRUE(map(traffic, machine, {.patience = std::numeric_limits<double>::infinity()}).is_complete);
}

TEST(Map, RefusesBadArguments) {
  const TrafficMatrix traffic = traffic_of(5, {{0, 1, 1}});
  const Machine small = Machine::parse("2x2"), machine = Machine::parse("2x3");
  expect_error(ErrorCode::usage, {"machine '2:2;1:10'", "has 4 cores for 5 ranks", "at least one core per rank"},
               [&] { map(traffic, small); });
  expect_error(ErrorCode::usage, {"block", "is 0"}, [&] { map(traffic, machine, {.block = 0}); });
  expect_error(ErrorCode::usage, {"time", "is -3 s"}, [&] { map(traffic, machine, {.seconds = -3}); });
  expect_error(ErrorCode::usage, {"time", "nan"}, [&] { map(traffic, machine, {.seconds = std::nan("")}); });
  expect_error(ErrorCode::usage, {"time", "a million"}, [&] { map(traffic, machine, {.seconds = 1e9}); });
  expect_error(ErrorCode::usage, {"bottleneck", "is 2"}, [&] { map(traffic, machine, {.bottleneck = 2}); });
  expect_error(ErrorCode::usage, {"bytes per message", "is -1"}, [&] { map(traffic, machine, {.message_bytes = -1}); });
  expect_error(ErrorCode::usage, {"bytes per message", "with weight 'messages'"},
               [&] { map(traffic, machine, {.weight = Weight::messages, .message_bytes = 8}); });
  expect_error(ErrorCode::usage, {"pin of rank 5", "0..4"}, [&] { map(traffic, machine, {.pins = {{5, 0}}}); });
  expect_error(ErrorCode::usage, {"pin of rank 1", "core 6 is not in 0..5"},
               [&] { map(traffic, machine, {.pins = {{1, 6}}}); });
  expect_error(ErrorCode::usage, {"pin of rank 4", "core 4 has rank 0"},
               [&] { map(traffic, machine, {.pins = {{0, 4}, {4, -1}}}); });
  expect_error(ErrorCode::usage, {"pin of rank 1", "is given twice"},
               [&] { map(traffic, machine, {.pins = {{1, 4}, {1, 5}}}); });
  expect_error(ErrorCode::usage, {"pin of rank 2", "core 4 has rank 1"},
               [&] { map(traffic, machine, {.pins = {{1, 4}, {2, 4}}}); });
  expect_error(ErrorCode::usage, {"paper-improvement", "cannot keep a rank"},
               [&] { map(traffic, machine, {.method = Method::paper_improvement, .pins = {{1, 4}}}); });
  expect_error(ErrorCode::usage, {"given placement", "has 4 ranks on 4 cores, but must have 5 on 6"},
               [&] { map(traffic, machine, {.given = Placement::in_order(4, 4)}); });
}

}  // namespace
}  // namespace barrio::rankmap
