#include "barrio/partition/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/hypergraph.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::partition {
namespace {

using test::world;

/// A whole graph, known to every rank, from which each rank takes its slab.
struct WholeGraph {
  std::int64_t n = 0;
  std::vector<std::set<std::int64_t>> neighbours;

  [[nodiscard]] Graph slab(mpi::Context& context) const {
    Graph graph;
    graph.vertices = {n, context.size()};
    for (std::int64_t v = graph.vertices.first(context.rank()); v < graph.vertices.first(context.rank() + 1); ++v) {
      for (const std::int64_t w : neighbours[v]) graph.neighbours.push_back(GlobalId{w});
      graph.offsets.push_back(graph.neighbours.size());
    }
    return graph;
  }
};

WholeGraph grid(std::int64_t width, std::int64_t height) {
  WholeGraph whole{width * height, std::vector<std::set<std::int64_t>>(static_cast<std::size_t>(width * height))};
  const auto join = [&](std::int64_t v, std::int64_t w) {
    whole.neighbours[v].insert(w);
    whole.neighbours[w].insert(v);
  };
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      if (x + 1 < width) join(y * width + x, y * width + x + 1);
      if (y + 1 < height) join(y * width + x, (y + 1) * width + x);
    }
  }
  return whole;
}

WholeGraph random_graph(std::int64_t n, std::int64_t n_edges, std::uint64_t variant) {
  std::mt19937_64 random(test::seed() + variant);
  WholeGraph whole{n, std::vector<std::set<std::int64_t>>(static_cast<std::size_t>(n))};
  for (std::int64_t e = 0; e < n_edges && n > 1; ++e) {
    const auto v = random() % static_cast<std::uint64_t>(n);
    const auto w = random() % static_cast<std::uint64_t>(n);
    if (v == w) continue;
    whole.neighbours[v].insert(w);
    whole.neighbours[w].insert(v);
  }
  return whole;
}

/// Return this rank's slab of values of all vertices.
std::vector<std::int32_t> slab_of(const std::vector<std::int32_t>& whole, mpi::Context& context) {
  const Slabs slabs{static_cast<std::int64_t>(whole.size()), context.size()};
  return {whole.begin() + slabs.first(context.rank()), whole.begin() + slabs.first(context.rank() + 1)};
}

void expect_quality_equals_brute_force(const WholeGraph& whole, int n_parts, std::uint64_t variant) {
  std::mt19937_64 random(test::seed() + variant);
  std::vector<std::int32_t> part;
  for (std::int64_t v = 0; v < whole.n; ++v)
    part.push_back(static_cast<std::int32_t>(
        std::min(random() % static_cast<std::uint64_t>(n_parts), random() % static_cast<std::uint64_t>(n_parts))));
  std::int64_t n_cut = 0;
  std::vector<std::int64_t> size(n_parts, 0);
  for (std::size_t v = 0; v < part.size(); ++v) {
    size[static_cast<std::size_t>(part[v])] += 1;
    for (const std::int64_t w : whole.neighbours[v])
      if (static_cast<std::size_t>(w) > v && part[static_cast<std::size_t>(w)] != part[v]) ++n_cut;
  }
  const CutQuality quality = cut_quality(world(), whole.slab(world()), slab_of(part, world()), n_parts);
  EXPECT_EQ(quality.n_cut_edges, n_cut);
  const double mean = static_cast<double>(whole.n) / n_parts;
  const auto largest = static_cast<double>(*std::max_element(size.begin(), size.end()));
  EXPECT_DOUBLE_EQ(quality.imbalance, whole.n == 0 ? 1.0 : largest / mean);
  EXPECT_EQ(quality.n_empty_parts, std::count(size.begin(), size.end(), 0));
}

TEST(CutQuality, EqualsBruteForce) {
  for (const int n_parts : {1, 2, 5, 40}) {
    expect_quality_equals_brute_force(grid(17, 9), n_parts, 1);
    expect_quality_equals_brute_force(random_graph(100, 400, 2), n_parts, 3);
    expect_quality_equals_brute_force(random_graph(2, 3, 4), n_parts, 5);
    expect_quality_equals_brute_force(random_graph(0, 0, 6), n_parts, 7);
  }
}

bool has(const std::string& method) {
  const auto names = available_graph_methods();
  return std::find(names.begin(), names.end(), method) != names.end();
}

template <class Call>
void expect_refused(Call&& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "should refuse: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(GraphMethod, UnknownNamesAreRefusedWithASuggestion) {
  expect_refused([] { graph_method("ptskotch"); },
                 "partitioner 'ptskotch': is not known. Did you mean 'ptscotch'? (use ptscotch, metis or hypergraph)");
  expect_refused([] { graph_method("xyz"); }, "partitioner 'xyz': is not known. (use ptscotch, metis or hypergraph)");
}

TEST(GraphMethod, WhatTheBuildLacksIsRefusedByName) {
  const Graph graph = grid(4, 4).slab(world());
  const std::vector<std::int32_t> cluster(graph.offsets.size() - 1, 0);
  const std::string flavour = BARRIO_MPI_FLAVOUR;
  const std::string remedy = " (use rcb or hilbert, which every build has)";
  if (has("ptscotch")) {
    EXPECT_EQ(graph_method("ptscotch"), GraphMethod::ptscotch);
  } else {
    const std::string text = "partitioner 'ptscotch': is not in this build (MPI flavour " + flavour +
                             "); Debian builds it for Open MPI only" + remedy;
    expect_refused([] { graph_method("ptscotch"); }, text);
    expect_refused([&] { cut_by_ptscotch(world(), graph, 2); }, text);
  }
  if (has("hypergraph")) {
    EXPECT_EQ(graph_method("hypergraph"), GraphMethod::hypergraph);
  } else {
    const std::string text = "partitioner 'hypergraph': is not in this build (MPI flavour " + flavour +
                             "); it needs Zoltan, which Debian builds for Open MPI only" + remedy;
    expect_refused([] { graph_method("hypergraph"); }, text);
    expect_refused([] { cut_by_zoltan(world(), {}, 2); }, text);
  }
  if (has("metis")) {
    EXPECT_EQ(graph_method("metis"), GraphMethod::metis);
  } else {
    const std::string text = "partitioner 'metis': is not in this build (MPI flavour " + flavour + ")" + remedy;
    expect_refused([] { graph_method("metis"); }, text);
    expect_refused([&] { cut_by_metis(world(), graph, cluster, 1, 1); }, text);
  }
}

void expect_good_cut(const WholeGraph& whole, const std::vector<std::int32_t>& part, int n_parts, double imbalance,
                     std::int64_t n_cut_edges) {
  const Graph graph = whole.slab(world());
  ASSERT_EQ(part.size(), graph.offsets.size() - 1);
  for (const std::int32_t p : part) {
    ASSERT_GE(p, 0);
    ASSERT_LT(p, n_parts);
  }
  const CutQuality quality = cut_quality(world(), graph, part, n_parts);
  EXPECT_LE(quality.imbalance, imbalance) << n_parts << " parts";
  EXPECT_LE(quality.n_cut_edges, n_cut_edges) << n_parts << " parts";
  EXPECT_EQ(quality.n_empty_parts, 0);
}

TEST(PtScotch, CutsAGridWell) {
  if (!has("ptscotch")) GTEST_SKIP() << "this build has no PT-Scotch";
  const WholeGraph whole = grid(40, 30);
  for (const int n_parts : {1, 2, 3, 8}) {
    // Stripes of 40 / n_parts columns would cut 30 edges each.
    expect_good_cut(whole, cut_by_ptscotch(world(), whole.slab(world()), n_parts), n_parts, 1.11, 45 * (n_parts - 1));
  }
}

TEST(PtScotch, RepeatsItself) {
  if (!has("ptscotch")) GTEST_SKIP() << "this build has no PT-Scotch";
  const Graph graph = grid(25, 25).slab(world());
  const auto part = cut_by_ptscotch(world(), graph, 5);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(cut_by_ptscotch(world(), graph, 5), part);
}

TEST(PtScotch, BoundsAreRefusedByName) {
  if (!has("ptscotch")) GTEST_SKIP() << "this build has no PT-Scotch";
  Graph graph = grid(4, 4).slab(world());
  expect_refused([&] { cut_by_ptscotch(world(), graph, 0); },
                 "PT-Scotch, 0 parts: must be at least 1 (ask for 1 or more)");
  graph.vertices.n_rows = std::int64_t{1} << 32;
  expect_refused([&] { cut_by_ptscotch(world(), graph, 2); },
                 "PT-Scotch, 4294967296 vertices: its ids have 32 bits in this build (use rcb)");
}

TEST(PtScotch, EmptyRanksAreLegal) {
  if (!has("ptscotch")) GTEST_SKIP() << "this build has no PT-Scotch";
  const WholeGraph whole = grid(2, 1);
  for (const std::int32_t p : cut_by_ptscotch(world(), whole.slab(world()), 2)) {
    EXPECT_GE(p, 0);
    EXPECT_LT(p, 2);
  }
}

/// Make a net for each vertex of a grid of squares, of the squares around it. Nets are distributed in slabs, like
/// vertices.
Hypergraph nets_of_grid(std::int64_t width, std::int64_t height) {
  Hypergraph nets;
  nets.vertices = {width * height, world().size()};
  const Slabs slabs{(width + 1) * (height + 1), world().size()};
  nets.first_net = slabs.first(world().rank());
  for (std::int64_t net = nets.first_net; net < slabs.first(world().rank() + 1); ++net) {
    for (std::int64_t y = net / (width + 1) - 1; y <= net / (width + 1); ++y)
      for (std::int64_t x = net % (width + 1) - 1; x <= net % (width + 1); ++x)
        if (x >= 0 && x < width && y >= 0 && y < height) nets.pins.push_back(GlobalId{y * width + x});
    nets.offsets.push_back(nets.pins.size());
  }
  return nets;
}

TEST(Zoltan, CutsAGridWellAndRepeatsItself) {
  if (!has("hypergraph")) GTEST_SKIP() << "this build has no Zoltan";
  const WholeGraph whole = grid(40, 30);
  for (const int n_parts : {1, 2, 3, 8}) {
    const auto part = cut_by_zoltan(world(), nets_of_grid(40, 30), n_parts);
    expect_good_cut(whole, part, n_parts, 1.1, 45 * (n_parts - 1));
    EXPECT_EQ(cut_by_zoltan(world(), nets_of_grid(40, 30), n_parts), part);
  }
}

TEST(Zoltan, EmptyRanksAreLegal) {
  if (!has("hypergraph")) GTEST_SKIP() << "this build has no Zoltan";
  for (const std::int32_t p : cut_by_zoltan(world(), nets_of_grid(2, 1), 2)) {
    EXPECT_GE(p, 0);
    EXPECT_LT(p, 2);
  }
  EXPECT_TRUE(cut_by_zoltan(world(), nets_of_grid(0, 0), 2).empty());
}

TEST(Zoltan, BoundsAreRefusedByName) {
  if (!has("hypergraph")) GTEST_SKIP() << "this build has no Zoltan";
  expect_refused([] { cut_by_zoltan(world(), nets_of_grid(2, 2), 0); },
                 "Zoltan, 0 parts: must be at least 1 (ask for 1 or more)");
}

/// Return parts: squares of 4 by 4 vertices of a grid.
std::vector<std::int32_t> squares(std::int64_t width, std::int64_t height) {
  std::vector<std::int32_t> cluster;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) cluster.push_back(static_cast<std::int32_t>(y / 4 * (width / 4) + x / 4));
  return cluster;
}

TEST(Metis, CutsAGridWell) {
  if (!has("metis")) GTEST_SKIP() << "this build has no METIS";
  const WholeGraph whole = grid(64, 40);
  const auto cluster = slab_of(squares(64, 40), world());
  for (const int n_parts : {1, 2, 3, 8}) {
    const auto part = cut_by_metis(world(), whole.slab(world()), cluster, 160, n_parts);
    expect_good_cut(whole, part, n_parts, 1.15, 60 * (n_parts - 1));
    std::vector<std::int32_t> part_of(160, -1);
    for (std::size_t v = 0; v < part.size(); ++v) {
      auto& known = part_of[static_cast<std::size_t>(cluster[v])];
      if (known == -1) known = part[v];
      EXPECT_EQ(known, part[v]) << "a cluster must stay together";
    }
  }
}

TEST(GraphMethods, WeightsThatAreAll0CountAs1EachAndNothingIsPrinted) {
  const WholeGraph whole = grid(40, 32);
  Graph graph = whole.slab(world());
  graph.weights.assign(graph.offsets.size() - 1, 0);
  testing::internal::CaptureStdout();
  if (has("metis"))
    expect_good_cut(whole, cut_by_metis(world(), graph, slab_of(squares(40, 32), world()), 80, 8), 8, 1.3, 420);
  if (has("ptscotch")) expect_good_cut(whole, cut_by_ptscotch(world(), graph, 8), 8, 1.1, 420);
  if (has("hypergraph")) {
    Hypergraph nets = nets_of_grid(40, 32);
    nets.weights.assign(nets.vertices.size(world().rank()), 0);
    expect_good_cut(whole, cut_by_zoltan(world(), nets, 8), 8, 1.1, 420);
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Metis, ResultDoesNotDependOnTheRankCount) {
  if (!has("metis")) GTEST_SKIP() << "this build has no METIS";
  mpi::Context alone(MPI_COMM_SELF);
  const auto expect_same = [&](const WholeGraph& whole, const std::vector<std::int32_t>& cluster, int n_clusters,
                               int n_parts) {
    const auto expected = cut_by_metis(alone, whole.slab(alone), cluster, n_clusters, n_parts);
    const auto found = cut_by_metis(world(), whole.slab(world()), slab_of(cluster, world()), n_clusters, n_parts);
    EXPECT_EQ(found, slab_of(expected, world()));
  };
  expect_same(grid(64, 40), squares(64, 40), 160, 7);
  const WholeGraph whole = random_graph(3000, 9000, 20);
  std::mt19937_64 random(test::seed() + 21);
  std::vector<std::int32_t> cluster;
  for (std::int64_t v = 0; v < whole.n; ++v) cluster.push_back(static_cast<std::int32_t>(random() % 500));
  expect_same(whole, cluster, 500, 6);
}

TEST(Metis, ResultIsTheOneWrittenDown) {
  if (!has("metis")) GTEST_SKIP() << "this build has no METIS";
  const auto part = cut_by_metis(world(), grid(64, 40).slab(world()), slab_of(squares(64, 40), world()), 160, 7);
  std::uint64_t sum = 0;
  const std::int64_t first = Slabs{64 * 40, world().size()}.first(world().rank());
  for (std::size_t v = 0; v < part.size(); ++v)
    sum += Hash64().add(first + static_cast<std::int64_t>(v)).add(static_cast<std::int64_t>(part[v])).value();
  EXPECT_EQ(mpi::sum(world(), sum), 9721687806704283150U) << "METIS 5.1.0; another version may cut otherwise";
}

TEST(Metis, AGraphWithoutEdgesAndEmptyClustersIsLegal) {
  if (!has("metis")) GTEST_SKIP() << "this build has no METIS";
  const WholeGraph whole = random_graph(30, 0, 30);
  std::vector<std::int32_t> cluster;
  for (std::int32_t v = 0; v < 30; ++v) cluster.push_back(2 * (v % 10));
  for (const std::int32_t p : cut_by_metis(world(), whole.slab(world()), slab_of(cluster, world()), 20, 3)) {
    EXPECT_GE(p, 0);
    EXPECT_LT(p, 3);
  }
}

TEST(Metis, BoundsAreRefusedByName) {
  if (!has("metis")) GTEST_SKIP() << "this build has no METIS";
  const Graph graph = grid(4, 4).slab(world());
  const std::vector<std::int32_t> cluster(graph.offsets.size() - 1, 0);
  const std::string rest =
      " clusters: METIS is serial and takes at most 200000 clusters, and at least one per part (use rcb or ptscotch "
      "for more parts)";
  expect_refused([&] { cut_by_metis(world(), graph, cluster, metis_max_vertices + 1, 2); },
                 "METIS, 2 parts of 200001" + rest);
  expect_refused([&] { cut_by_metis(world(), graph, cluster, 4, 5); }, "METIS, 5 parts of 4" + rest);
  expect_refused([&] { cut_by_metis(world(), graph, cluster, 4, 0); }, "METIS, 0 parts of 4" + rest);
  EXPECT_NO_THROW(cut_by_metis(world(), graph, cluster, metis_max_vertices, 2));
}

}  // namespace
}  // namespace barrio::partition
