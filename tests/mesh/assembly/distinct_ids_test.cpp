#include "barrio/mesh/assembly/distinct_ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh::detail {
namespace {

using test::world;

/// An id of a dimension, and the rank that has it. All ranks draw the same list.
struct Drawn {
  int dim;
  std::int64_t id;
  Rank rank;
};

/// Draw distinct ids: runs of random lengths, at random distances, each for a random rank.
std::vector<Drawn> draw(std::mt19937_64& random) {
  const auto up_to = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Drawn> all;
  for (int dim = 0; dim < 4; ++dim) {
    const std::int64_t longest = std::int64_t{1} << up_to(9);
    const std::int64_t widest = std::int64_t{1} << up_to(dim == 2 ? 40 : 6);
    std::int64_t id = up_to(200);
    for (std::int64_t k = up_to(60); k > 0; --k) {
      const auto rank = static_cast<Rank>(up_to(world().size()));
      for (std::int64_t n = 1 + up_to(longest); n > 0; --n) all.push_back({dim, id++, rank});
      id += up_to(widest);
    }
  }
  return all;
}

std::optional<GivenTwice> find(const std::vector<Drawn>& all) {
  std::array<std::int64_t, 4> highest{};
  for (const Drawn& one : all) highest[one.dim] = std::max(highest[one.dim], one.id);
  DistinctIds distinct(world(), highest);
  for (int dim = 0; dim < 4; ++dim) {
    std::vector<std::int64_t> mine;
    for (const Drawn& one : all)
      if (one.dim == dim && one.rank == world().rank()) mine.push_back(one.id);
    std::ranges::sort(mine);
    for (const std::int64_t id : mine) distinct.add(Dim{dim}, id);
  }
  return distinct.find();
}

TEST(DistinctIds, FindsAnIdOfTwoRanksAndNoOther) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<Drawn> all = draw(random);
    EXPECT_FALSE(find(all)) << "round " << round;
    if (all.empty() || world().size() == 1) continue;
    // One to three stretches of ids, of one or many, are given again by another rank.
    std::map<std::pair<int, std::int64_t>, std::array<Rank, 2>> twice;
    const std::vector<Drawn> given = all;
    for (std::uint64_t k = random() % 3 + 1; k > 0; --k) {
      const std::size_t first = random() % given.size();
      const std::size_t n = random() % 2 == 0 ? 1 : random() % 300 + 1;
      for (std::size_t i = first; i < std::min(first + n, given.size()); ++i) {
        const Rank other = (given[i].rank + 1) % world().size();
        const bool is_new = twice
                                .try_emplace({given[i].dim, given[i].id},
                                             std::array{std::min(given[i].rank, other), std::max(given[i].rank, other)})
                                .second;
        if (is_new) all.push_back({given[i].dim, given[i].id, other});
      }
    }
    const std::optional<GivenTwice> found = find(all);
    std::vector<std::int64_t> mine;
    if (found) {
      mine = {value(found->dim), found->id, found->low, found->high};
      const auto wanted = twice.find({value(found->dim), found->id});
      ASSERT_NE(wanted, twice.end()) << "round " << round << ": id " << found->id;
      EXPECT_EQ(wanted->second, (std::array<Rank, 2>{found->low, found->high})) << "round " << round;
    }
    EXPECT_FALSE(test::collect(world(), mine).empty()) << "round " << round;
  }
}

}  // namespace
}  // namespace barrio::mesh::detail
