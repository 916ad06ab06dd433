#include "barrio/partition/remap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <random>

#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::partition {
namespace {

using test::collect;
using test::world;

/// Weights by rank and part, and the new number of each existing part.
struct Result {
  std::vector<std::vector<std::int64_t>> weight;
  std::map<std::int32_t, std::int32_t> renumbered;
};

constexpr int until_settled = std::numeric_limits<int>::max();

/// Remap, and gather the results of all ranks. A part with two numbers is a failure.
Result renumber(const std::vector<std::int32_t>& part, const std::vector<std::int64_t>& weights,
                int max_passes = until_settled) {
  const auto n = static_cast<std::size_t>(world().size());
  const std::vector<std::int32_t> now = remap(world(), part, weights, max_passes);
  EXPECT_EQ(now.size(), part.size());
  struct Item {
    Rank rank;
    std::int32_t part;
    std::int32_t now;
    std::int64_t weight;
  };
  std::vector<Item> items;
  for (std::size_t i = 0; i < part.size(); ++i)
    items.push_back({world().rank(), part[i], now[i], weights.empty() ? 1 : weights[i]});
  Result result;
  result.weight.assign(n, std::vector<std::int64_t>(n, -1));
  for (const Item& item : collect(world(), items)) {
    std::int64_t& sum = result.weight[item.rank][item.part];
    sum = std::max<std::int64_t>(sum, 0) + item.weight;
    EXPECT_EQ(result.renumbered.emplace(item.part, item.now).first->second, item.now) << item.part;
  }
  return result;
}

/// Compute the max weight that any numbering keeps, rank by rank over all subsets of parts.
std::int64_t max_that_can_stay(const std::vector<std::vector<std::int64_t>>& weight) {
  const std::size_t n = weight.size();
  std::vector<std::int64_t> best(std::size_t{1} << n, -1);
  best[0] = 0;
  for (std::size_t used = 0; used < best.size(); ++used) {
    const auto rank = static_cast<std::size_t>(std::popcount(used));
    if (best[used] < 0 || rank == n) continue;
    for (std::size_t p = 0; p < n; ++p) {
      if ((used >> p & 1U) != 0) continue;
      std::int64_t& next = best[used | std::size_t{1} << p];
      next = std::max(next, best[used] + std::max<std::int64_t>(weight[rank][p], 0));
    }
  }
  return best.back();
}

void expect_permutation(const Result& result) {
  std::vector<int> times(result.weight.size(), 0);
  for (const auto& [part, rank] : result.renumbered) {
    ASSERT_GE(rank, 0);
    ASSERT_LT(static_cast<std::size_t>(rank), times.size());
    EXPECT_EQ(++times[rank], 1) << "two parts go to rank " << rank;
  }
}

void expect_good(const Result& result) {
  ASSERT_NO_FATAL_FAILURE(expect_permutation(result));
  const std::size_t n = result.weight.size();
  std::vector<std::int64_t> of_part(n, -1);  // its weight that stays
  std::vector<std::int64_t> of_rank(n, -1);
  std::int64_t kept = 0;
  for (const auto& [part, rank] : result.renumbered) {
    of_part[part] = of_rank[rank] = result.weight[rank][part];
    kept += std::max<std::int64_t>(of_part[part], 0);
  }
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t p = 0; p < n; ++p)
      EXPECT_FALSE(result.weight[r][p] > of_rank[r] && result.weight[r][p] > of_part[p])
          << "rank " << r << " and part " << p << " both have less than with each other";
  EXPECT_GE(2 * kept, max_that_can_stay(result.weight));
}

TEST(Remap, KeepsWhatIsThere) {
  // The rank before p has all of part p.
  const std::int32_t next = (world().rank() + 1) % world().size();
  const std::vector<std::int32_t> part(7, next);
  EXPECT_EQ(remap(world(), part), std::vector<std::int32_t>(7, world().rank()));
  EXPECT_TRUE(remap(world(), {}).empty());
}

TEST(Remap, PairsTheHeaviestFirst) {
  std::mt19937_64 random(test::seed() + static_cast<std::uint64_t>(world().rank()));
  for (int repeat = 0; repeat < 40; ++repeat) {
    // Some ranks have no points, some parts are absent, weights tie, and some are 0.
    const std::uint64_t most = repeat % 4 == 0 ? 2 : 1000;
    const std::size_t n = random() % 3 == 0 ? 0 : random() % 30;
    const auto n_parts = static_cast<std::uint64_t>(repeat % 3 == 0 ? (world().size() + 1) / 2 : world().size());
    std::vector<std::int32_t> part;
    std::vector<std::int64_t> weights;
    for (std::size_t i = 0; i < n; ++i) {
      part.push_back(static_cast<std::int32_t>(random() % n_parts));
      weights.push_back(random() % most);
    }
    expect_good(renumber(part, repeat % 5 == 0 ? std::vector<std::int64_t>() : weights));
  }
}

/// Each rank prefers the part of the previous rank, so rank 0's choice moves all of them.
struct Chain {
  std::vector<std::int32_t> part;
  std::vector<std::int64_t> weights;

  Chain() {
    const Rank me = world().rank();
    has(std::max(me - 1, 0), 1000 - me);
    has(me, 999 - me);
  }
  void has(Rank one, std::int64_t weight) {
    part.push_back(one);
    weights.push_back(weight);
  }
};

TEST(Remap, ALongChainOfRefusalsEnds) {
  const Chain chain;
  expect_good(renumber(chain.part, chain.weights, world().size() + 1));
}

TEST(Remap, AChainThatIsCutLeavesAPermutation) {
  const Chain chain;
  for (const int max_passes : {0, 1, 2, 5}) expect_permutation(renumber(chain.part, chain.weights, max_passes));
}

}  // namespace
}  // namespace barrio::partition
