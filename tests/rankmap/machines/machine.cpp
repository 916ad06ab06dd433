#include "barrio/rankmap/machine.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;

TEST(Machine, TreeDistances) {
  const Machine machine = Machine::parse("8:16:4;1:10:20");
  EXPECT_EQ(machine.n_cores(), 512);
  EXPECT_EQ(machine.n_nodes(), 64);
  EXPECT_EQ(machine.distance(0, 0), 0);
  EXPECT_EQ(machine.distance(0, 7), 1);
  EXPECT_EQ(machine.distance(7, 8), 10);
  EXPECT_EQ(machine.distance(0, 127), 10);
  EXPECT_EQ(machine.distance(127, 128), 20);
  EXPECT_EQ(machine.node_of(127), 15);
  EXPECT_EQ(machine.slot_of(127), 7);
}

TEST(Machine, PaperFigure2) {
  const Machine machine = Machine::parse("3x4");
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) EXPECT_EQ(machine.distance(i, j), i == j ? 0 : i / 4 == j / 4 ? 1 : 10);
  EXPECT_EQ(machine.text(), "4:3;1:10");
}

TEST(Machine, SocketsLieInTheNode) {
  const Machine machine = Machine::parse("8:2/4:4;1:2:10:20");
  EXPECT_EQ(machine.max_cores_per_node(), 16);
  EXPECT_EQ(machine.n_nodes(), 16);
  EXPECT_EQ(machine.group_size(0), 8);
  EXPECT_EQ(machine.distance(0, 8), 2);
  EXPECT_EQ(machine.distance(0, 16), 10);
  EXPECT_EQ(machine.distance(0, 64), 20);
}

TEST(Machine, TorusHopsWrapAround) {
  const Machine machine = Machine::parse("torus:4x4x2;8;1:10");
  EXPECT_EQ(machine.n_cores(), 256);
  EXPECT_EQ(machine.distance(0, 7), 1);
  EXPECT_EQ(machine.distance(0, 8 * 1), 10);            // +1 in x
  EXPECT_EQ(machine.distance(0, 8 * 3), 10);            // x wraps
  EXPECT_EQ(machine.distance(0, 8 * (2 + 4 * 2)), 40);  // 2 in x, 2 in y
  EXPECT_EQ(machine.distance(0, 8 * (16 + 1)), 20);     // 1 in z, 1 in x
}

TEST(Machine, DistancesTheWrongWayRoundAreSeen) {
  for (const std::string text : {"8:16;10:1", "8:2/4:4;1:20:10:20", "8,8,4;10:1", "torus:4x4;8;10:1"}) {
    const std::string fault = Machine::parse(text).fault_of_distances();
    EXPECT_NE(fault.find("wrong way round"), std::string::npos) << text << ": " << fault;
  }
  EXPECT_NE(Machine::parse("8:16;10:1").fault_of_distances().find("10 on an inner level, 1 on the next one outside"),
            std::string::npos);
  for (const std::string text : {"2x4", "8:16:4;1:10:20", "8:16;1:1", "3,1,4,2:2:2;1:5:20", "torus:4x4;8;10:10"})
    EXPECT_EQ(Machine::parse(text).fault_of_distances(), "") << text;
  // Distances of no pair of cores do not count.
  for (const std::string text : {"1:16;10:1", "8:1:4;1:20:10", "8:1;10:1", "torus:4x4;1;10:1", "torus:1;8;10:1"})
    EXPECT_EQ(Machine::parse(text).fault_of_distances(), "") << text;
  const std::vector<double> inverted{0, 9, 1, 1, 9, 0, 1, 1, 1, 1, 0, 9, 1, 1, 9, 0};
  EXPECT_NE(Machine::dense(4, inverted, 2).fault_of_distances(), "");
  EXPECT_EQ(Machine::dense(4, inverted, 1).fault_of_distances(), "");
  EXPECT_EQ(Machine::dense(4, inverted, 4).fault_of_distances(), "");
}

TEST(Machine, UnevenNodes) {
  const Machine machine = Machine::parse("3,1,4,2:2:2;1:5:20");
  EXPECT_EQ(machine.n_cores(), 10);
  EXPECT_EQ(machine.n_nodes(), 4);
  EXPECT_EQ(machine.max_cores_per_node(), 4);
  EXPECT_EQ(machine.node_of(3), 1);
  EXPECT_EQ(machine.slot_of(7), 3);
  EXPECT_EQ(machine.cores_of_node(3), 2);
  EXPECT_EQ(machine.distance(0, 2), 1);
  EXPECT_EQ(machine.distance(0, 3), 5);
  EXPECT_EQ(machine.distance(3, 4), 20);
  // Switches of one and of three nodes.
  const Machine uneven = Machine::uneven_tree(
      {.group_sizes = {2, 2, 2, 2}, .levels = {{0, 1, 1, 1}}, .distances = {1, 10, 20}, .n_node_levels = 1});
  EXPECT_EQ(uneven.distance(0, 2), 20);
  EXPECT_EQ(uneven.distance(2, 6), 10);
  EXPECT_EQ(uneven.text(), "4 nodes of 8 cores in all;1:10:20");
  const auto cyclic = Placement::cyclic(9, machine);
  EXPECT_EQ(std::vector(cyclic.core_of_rank().begin(), cyclic.core_of_rank().end()),
            (std::vector<int>{0, 3, 4, 8, 1, 5, 9, 2, 6}));
  expect_error(ErrorCode::usage, {"group 1 is in branch 2 after 0"},
               [] { (void)Machine::uneven_tree({.group_sizes = {2, 2}, .levels = {{0, 2}}, .distances = {1, 2, 3}}); });
  expect_error(ErrorCode::usage, {"has no cores"}, [] { (void)Machine::uneven_tree({}); });
}

TEST(Machine, ToldApartByAndHalves) {
  std::vector<std::string> machines = test::sample_machines();
  machines.push_back("2:3:5:2;1:4:9:16");
  for (const std::string& text : machines) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text);
    std::vector<int> all;
    for (int a = 0; a < machine.n_groups(); ++a) {
      all.push_back(a);
      for (int b = 0; b < machine.n_groups(); ++b) {
        if (a == b) continue;
        const auto slices = machine.told_apart_by(a, b);
        for (int c = 0; c < machine.n_groups(); ++c) {
          const bool is_inside = std::ranges::any_of(slices, [&](auto s) { return c >= s.begin && c < s.end; });
          if (!is_inside) {
            EXPECT_EQ(machine.group_distance(a, c), machine.group_distance(b, c));
          }
        }
      }
    }
    // Halving ends at single groups, and drops none.
    std::vector<std::vector<int>> open{all};
    std::size_t n_single = 0;
    while (!open.empty()) {
      const std::vector<int> now = open.back();
      open.pop_back();
      if (now.size() == 1) {
        ++n_single;
        continue;
      }
      const auto [low, high] = machine.halve(now);
      ASSERT_FALSE(low.empty() || high.empty());
      std::vector<int> both;
      std::ranges::merge(low, high, std::back_inserter(both));
      EXPECT_EQ(both, now);
      open.push_back(low);
      open.push_back(high);
    }
    EXPECT_EQ(n_single, all.size());
  }
  // The outermost level first.
  EXPECT_EQ(Machine::parse("2:3:2;1:4:9").halve(std::vector{0, 1, 2, 3, 4, 5}).first, (std::vector{0, 1, 2}));
}

TEST(Machine, TotalDistances) {
  for (const std::string& text : test::sample_machines()) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text);
    const auto by_hand = [&](int core) {
      double sum = 0.0;
      for (int other = 0; other < machine.n_cores(); ++other) sum += machine.distance(core, other);
      return sum;
    };
    const bool is_torus = text.starts_with("torus");
    for (int core = 0; core < machine.n_cores(); ++core) {
      const double expected = is_torus ? by_hand(core) - by_hand(0) : by_hand(core);
      EXPECT_EQ(machine.total_distance(machine.group_of(core)), expected);
    }
  }
  EXPECT_EQ(Machine::dense(3, {0, 1, 5, 1, 0, 2, 5, 2, 0}).total_distance(1), 3);
}

TEST(Machine, TextIsReadBack) {
  for (const std::string& text : test::sample_machines()) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text), again = Machine::parse(machine.text());
    EXPECT_EQ(again.text(), machine.text());
    ASSERT_EQ(again.n_cores(), machine.n_cores());
    EXPECT_EQ(again.n_nodes(), machine.n_nodes());
    for (int a = 0; a < machine.n_cores(); ++a)
      for (int b = 0; b < machine.n_cores(); ++b) EXPECT_EQ(again.distance(a, b), machine.distance(a, b));
  }
  EXPECT_EQ(Machine::parse(" 8 : 16 ; 1 : 2.5 ").text(), "8:16;1:2.5");
  EXPECT_EQ(Machine::parse("2:2/3;1:2:10").text(), "2:2/3;1:2:10");
}

TEST(Machine, CoresOfAGroupAreInterchangeable) {
  for (const std::string& text : test::sample_machines()) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text);
    for (int a = 0; a < machine.n_cores(); ++a) {
      for (int b = 0; b < machine.n_cores(); ++b) {
        EXPECT_EQ(machine.distance(a, b), machine.distance(b, a));
        if (machine.group_of(a) != machine.group_of(b)) continue;
        EXPECT_EQ(machine.node_of(a), machine.node_of(b));
        for (int c = 0; c < machine.n_cores(); ++c) {
          if (c == a || c == b) continue;
          EXPECT_EQ(machine.distance(a, c), machine.distance(b, c));
        }
      }
    }
  }
}

TEST(Machine, RingsAreTheSortedDistancesOfACore) {
  for (const std::string& text : test::sample_machines()) {
    SCOPED_TRACE(text);
    const Machine machine = Machine::parse(text);
    std::vector<double> from_rings;
    for (const auto& ring : machine.rings()) from_rings.insert(from_rings.end(), ring.n_cores, ring.distance);
    // The min over cores, for each position in the order; in symmetric machines all cores are equal.
    std::vector<double> best(machine.n_cores() - 1, 1e300);
    for (int core = 0; core < machine.n_cores(); ++core) {
      std::vector<double> sorted;
      for (int other = 0; other < machine.n_cores(); ++other)
        if (other != core) sorted.push_back(machine.distance(core, other));
      std::ranges::sort(sorted);
      for (std::size_t k = 0; k < best.size(); ++k) best[k] = std::min(best[k], sorted[k]);
      if (text.find(',') == std::string::npos) {
        EXPECT_EQ(from_rings, sorted);
      }
    }
    EXPECT_EQ(from_rings, best);
  }
  const Machine dense = Machine::dense(3, {0, 1, 5, 1, 0, 2, 5, 2, 0});
  ASSERT_EQ(dense.rings().size(), 2U);
  EXPECT_EQ(dense.rings()[0].distance, 1);  // of cores 0 and 1
  EXPECT_EQ(dense.rings()[1].distance, 2);  // of core 1
}

TEST(Machine, NodeNames) {
  Machine machine = Machine::parse("3x2");
  EXPECT_EQ(machine.node_name(2), "node2");
  machine.set_node_names({"n01", "n02.cluster", "gpu-3"});
  EXPECT_EQ(machine.node_name(1), "n02.cluster");
  expect_error(ErrorCode::usage, {"are 2, but the machine has 3 nodes"}, [&] { machine.set_node_names({"a", "b"}); });
  expect_error(ErrorCode::usage, {"node name 'a'", "is given twice"}, [&] { machine.set_node_names({"a", "b", "a"}); });
  expect_error(ErrorCode::usage, {"node name 'b slots=4'", "not a host name"},
               [&] { machine.set_node_names({"a", "b slots=4", "c"}); });
  expect_error(ErrorCode::usage, {"node name ''"}, [&] { machine.set_node_names({"a", "", "c"}); });
  EXPECT_EQ(machine.node_name(0), "n01");
}

TEST(Machine, RefusesBadText) {
  const auto refuse = [](const std::string& text, const std::string& cause) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::usage, {cause}, [&] { (void)Machine::parse(text); });
  };
  refuse("", "is empty");
  refuse("fat-tree", "is not a machine");
  refuse("8", "is not a machine");
  refuse("8:16", "machine '8:16': has no distances");
  refuse("8:16;1", "has 2 levels and 1 distances");
  refuse("8:16;1:2;3", "has too many parts");
  refuse("8:0;1:10", "'0' must be a count");
  refuse("8:;1:10", "'' must be a count");
  refuse("8:-2;1:10", "'-2' must be a count");
  refuse("8:2;1:-10", "'-10' must be a distance");
  refuse("8:2;1:nan", "'nan' must be a distance");
  refuse("8:2;1:", "'' must be a distance");
  refuse("99999999999:2;1:10", "'99999999999' must be a count");
  refuse("100000:100000;1:10", "more than 67108864 cores");
  refuse("4,4;1", "has 2 levels and 1 distances");
  refuse("4,4,4:2:2;1:2:3", "has 3 nodes, but its levels have 4");
  refuse("4,0;1:2", "'0' must be a count");
  refuse("2/2/2;1:2:3", "more than one '/'");
  refuse("2x", "'' must be a count");
  refuse("2x4x8", "more parts than nodes and cores");
  refuse("torus:4x4", "a torus must have three parts");
  refuse("torus:4x4;8;1", "a torus must have two distances");
  refuse("torus:4x0;8;1:10", "'0' must be a count");
  refuse("torus:4x4;8:2;1:10", "one number of cores");
  expect_error(ErrorCode::usage, {"torus:4x4x2;8;1:10", "2x4", "8:16:4;1:10:20"}, [] { (void)Machine::parse("?"); });
}

TEST(Machine, RefusesBadNumbers) {
  using Ints = std::vector<int>;
  using Doubles = std::vector<double>;
  expect_error(ErrorCode::usage, {"0 levels"}, [] { (void)Machine::tree(Ints{}, Doubles{}); });
  expect_error(ErrorCode::usage, {"2 of 2 levels in a node"},
               [] { (void)Machine::tree(Ints{2, 2}, Doubles{1, 2}, 2); });
  expect_error(ErrorCode::usage, {"a count of 0"}, [] { (void)Machine::torus(Ints{2}, 0, 1, 10); });
  expect_error(ErrorCode::usage, {"without dimensions"}, [] { (void)Machine::torus(Ints{}, 1, 1, 10); });
  expect_error(ErrorCode::usage, {"3 distances for 2 cores"}, [] { (void)Machine::dense(2, {0, 1, 1}); });
  expect_error(ErrorCode::usage, {"distance 1 to 0 differs"}, [] { (void)Machine::dense(2, {0, 1, 2, 0}); });
  expect_error(ErrorCode::usage, {"a distance of -1"}, [] { (void)Machine::dense(2, {0, -1, -1, 0}); });
  expect_error(ErrorCode::usage, {"a distance of inf"}, [] {
    const double infinity = std::numeric_limits<double>::infinity();
    (void)Machine::dense(2, {0, infinity, infinity, 0});
  });
}

}  // namespace
}  // namespace barrio::rankmap
