#include "barrio/mesh/range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <ranges>
#include <set>
#include <vector>

#include "barrio/mesh/rank_sets.hpp"
#include "barrio/mesh/tables/id_index.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

Range random_range(std::mt19937_64& random, std::set<int>& model) {
  Range range;
  const auto n = static_cast<int>(random() % 12);
  for (int i = 0; i < n; ++i) {
    const auto first = static_cast<int>(random() % 40);
    const int last = first + static_cast<int>(random() % 6);
    range.insert({LocalId{first}, LocalId{last}});
    for (int id = first; id < last; ++id) model.insert(id);
  }
  return range;
}

std::set<int> members(const Range& range) {
  std::set<int> all;
  for (const LocalId id : range) all.insert(value(id));
  return all;
}

TEST(LocalRange, IsALoopOverItsIds) {
  std::vector<int> met;
  for (const LocalId id : LocalRange{LocalId{3}, LocalId{6}}) met.push_back(value(id));
  EXPECT_EQ(met, (std::vector{3, 4, 5}));
  for (const LocalId id : LocalRange{LocalId{3}, LocalId{3}}) ADD_FAILURE() << value(id);
  static_assert(std::ranges::forward_range<LocalRange>);
  EXPECT_EQ(std::ranges::distance(LocalRange{LocalId{0}, LocalId{7}}), 7);
}

TEST(Range, SetOperationsEqualThoseOfPlainSets) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::set<int> a_model;
    std::set<int> b_model;
    const Range a = random_range(random, a_model);
    const Range b = random_range(random, b_model);
    ASSERT_EQ(members(a), a_model);
    ASSERT_EQ(a.size(), a_model.size());
    for (std::size_t r = 0; r + 1 < a.runs().size(); ++r) ASSERT_LT(a.runs()[r].last, a.runs()[r + 1].first);
    std::set<int> united = a_model;
    united.insert(b_model.begin(), b_model.end());
    std::set<int> both;
    std::set<int> rest;
    for (const int id : a_model) (b_model.count(id) > 0 ? both : rest).insert(id);
    ASSERT_EQ(members(a.united(b)), united);
    ASSERT_EQ(members(a.intersected(b)), both);
    ASSERT_EQ(members(a.without(b)), rest);
    for (int id = -1; id < 48; ++id) ASSERT_EQ(a.contains(LocalId{id}), a_model.count(id) > 0);
    std::vector<LocalId> ids = a.ids();
    std::shuffle(ids.begin(), ids.end(), random);
    ids.insert(ids.end(), ids.begin(), ids.end());
    ASSERT_EQ(Range::of(ids), a);
  }
}

TEST(Range, RunsOfIdsCostEightBytes) {
  Range range;
  for (int id = 0; id < 1000; ++id) range.insert(LocalId{id});
  EXPECT_EQ(range.runs().size(), 1U);
  EXPECT_EQ(range.size(), 1000U);
  EXPECT_LE(range.memory_bytes(), 8U);
}

TEST(RankSets, HoldsEachSetOnce) {
  RankSets sets;
  std::vector<std::vector<Rank>> known;
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 5000; ++repeat) {
    std::set<Rank> ranks;
    for (std::uint64_t n = random() % 4; n > 0; --n) ranks.insert(static_cast<Rank>(random() % 9));
    const std::vector<Rank> list(ranks.begin(), ranks.end());
    const auto number = static_cast<std::size_t>(sets.add(list));
    const auto at = std::find(known.begin(), known.end(), list);
    ASSERT_EQ(number, static_cast<std::size_t>(at - known.begin()));
    if (at == known.end()) known.push_back(list);
    ASSERT_TRUE(std::ranges::equal(sets[static_cast<std::int32_t>(number)], list));
  }
  EXPECT_EQ(sets.size(), known.size());
}

TEST(IdIndex, FindsTheSamePlacesByWindowAndByTable) {
  std::mt19937_64 random(test::seed());
  for (const std::int64_t span : {10, 1000, 100'000}) {
    std::vector<GlobalId> ids;
    for (int i = 0; i < 500; ++i)
      ids.push_back(
          GlobalId{(std::int64_t{1} << 40) + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span))});
    detail::IdIndex by_window(ids, span + 1);
    detail::IdIndex by_table(ids, 0);
    const std::set<GlobalId> different(ids.begin(), ids.end());
    ASSERT_EQ(by_window.size(), different.size());
    EXPECT_EQ(by_window.ids(), by_table.ids());
    EXPECT_TRUE(std::ranges::is_sorted(by_window.ids()));
    for (int i = 0; i < 300; ++i) {  // some known, some new, some outside the window
      const GlobalId id{(std::int64_t{1} << 40) - 50 +
                        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * span))};
      EXPECT_EQ(by_window.find(id), by_table.find(id));
      const auto n = static_cast<std::int32_t>(by_window.size());
      const bool is_new = by_window.find(id) < 0;
      EXPECT_EQ(by_window.add(id), by_table.add(id));
      if (is_new) {
        EXPECT_EQ(by_window.find(id), n);
      }
    }
    EXPECT_EQ(by_window.ids(), by_table.ids());
  }
  EXPECT_EQ(detail::IdIndex(std::span<const GlobalId>(), 10).find(GlobalId{0}), -1);
}

TEST(OrderOfRuns, SortsIdsOfFewRunsAndOfMany) {
  std::mt19937_64 random(test::seed());
  for (const std::size_t n_runs : {0, 1, 2, 7, 200, 257, 300, 2000}) {  // sorted, not merged, from 257 on
    std::vector<GlobalId> ids;
    for (std::size_t run = 0; run < n_runs; ++run) {
      const auto first = static_cast<std::ptrdiff_t>(ids.size());
      for (std::uint64_t i = 0; i <= random() % 40; ++i)
        ids.push_back(GlobalId{static_cast<std::int64_t>(random() >> 2U)});
      std::ranges::sort(ids.begin() + first, ids.end());
    }
    const std::vector<std::int32_t> order = detail::order_of_runs(ids);
    std::vector<GlobalId> sorted;
    for (const std::int32_t i : order) sorted.push_back(ids[i]);
    std::ranges::sort(ids);
    EXPECT_EQ(sorted, ids) << n_runs << " runs";
  }
}

}  // namespace
}  // namespace barrio::mesh
