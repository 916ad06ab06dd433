#include "barrio/mpi/collectives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

template <class T>
class Reduce : public testing::Test {};
using Numbers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                               std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Reduce, Numbers);

TYPED_TEST(Reduce, SumMinMaxAndScan) {
  Context& context = test::world();
  const int n = context.size();
  const auto mine = static_cast<TypeParam>(context.rank() + 1);
  EXPECT_EQ(sum(context, mine), static_cast<TypeParam>(n * (n + 1) / 2));
  EXPECT_EQ(min(context, mine), TypeParam{1});
  EXPECT_EQ(max(context, mine), static_cast<TypeParam>(n));
  EXPECT_EQ(exclusive_sum(context, mine), static_cast<TypeParam>(context.rank() * (context.rank() + 1) / 2));
}

TYPED_TEST(Reduce, ManyItemsInPlace) {
  Context& context = test::world();
  std::array<TypeParam, 3> items{static_cast<TypeParam>(context.rank()), TypeParam{1},
                                 static_cast<TypeParam>(10 - context.rank())};
  all_reduce(context, std::span<TypeParam>(items), MPI_MIN);
  EXPECT_EQ(items[0], TypeParam{0});
  EXPECT_EQ(items[1], TypeParam{1});
  EXPECT_EQ(items[2], static_cast<TypeParam>(11 - context.size()));
}

TEST(ExclusiveSum, OfSeveralItemsIsThatOfEach) {
  Context& context = test::world();
  const std::int64_t rank = context.rank();
  std::array<std::int64_t, 3> items{rank + 1, 0, std::int64_t{1} << 33U};
  exclusive_sum(context, std::span<std::int64_t>(items));
  EXPECT_EQ(items[0], rank * (rank + 1) / 2);
  EXPECT_EQ(items[1], 0);
  EXPECT_EQ(items[2], rank << 33U);
  exclusive_sum(context, std::span<std::int64_t>());
}

TEST(AllReduce, TakesIdsAbove32BitsBoolsAndNothing) {
  Context& context = test::world();
  const GlobalId mine{(std::int64_t{1} << 40U) + context.rank()};
  EXPECT_EQ(all_reduce(context, mine, MPI_MAX), GlobalId{(std::int64_t{1} << 40U) + context.size() - 1});
  EXPECT_EQ(all_reduce(context, context.rank() == 0, MPI_LAND), context.size() == 1);
  EXPECT_EQ(all_reduce(context, context.rank() == context.size() - 1, MPI_LOR), true);
  all_reduce(context, std::span<int>(), MPI_SUM);
}

TEST(Barrier, HoldsUntilAllHaveCome) {
  Context& context = test::world();
  const Rank last = context.size() - 1;
  // All processes of a machine share the system's monotonic clock, but not necessarily that of MPI_Wtime.
  double arrived = 0.0;
  if (context.rank() == last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    arrived = Trace::steady_seconds();
  }
  barrier(context);
  const double left = Trace::steady_seconds();
  broadcast(context, std::span(&arrived, 1), last);
  EXPECT_GE(left, arrived);
}

TEST(Broadcast, GoesFromAnyRoot) {
  Context& context = test::world();
  for (Rank root = 0; root < context.size(); ++root) {
    std::array<double, 2> items{};
    if (context.rank() == root) items = {1.5, static_cast<double>(root)};
    broadcast(context, std::span<double>(items), root);
    EXPECT_EQ(items[0], 1.5);
    EXPECT_EQ(items[1], root);
  }
}

TEST(Broadcast, TakesTextsOfAnyLength) {
  Context& context = test::world();
  const Rank last = context.size() - 1;
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{3'000'001}}) {
    std::string wanted(length, 'a');
    for (std::size_t i = 0; i < length; ++i) wanted[i] = static_cast<char>('a' + i % 23);
    std::string text = context.rank() == last ? wanted : "something that was there before";
    broadcast(context, text, last);
    EXPECT_EQ(text.size(), length);
    EXPECT_TRUE(text == wanted);
  }
}

TEST(Broadcast, TakesVectorsOfAnyLength) {
  struct Item {
    std::int32_t id;
    double weight;
  };
  Context& context = test::world();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{50'000}}) {
    std::vector<Item> items;
    if (context.is_root()) {
      for (std::size_t i = 0; i < n; ++i) items.push_back({static_cast<std::int32_t>(i), 0.5});
    } else {
      items.resize(7);
    }
    broadcast(context, items);
    ASSERT_EQ(items.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(items[i].id, static_cast<std::int32_t>(i));
    EXPECT_TRUE(n == 0 || items.back().weight == 0.5);
  }
}

TEST(AllGather, OrdersByRank) {
  struct Item {
    Rank rank;
    double square;
  };
  Context& context = test::world();
  const auto all = all_gather(context, Item{context.rank(), 1.0 * context.rank() * context.rank()});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(context.size()));
  for (int r = 0; r < context.size(); ++r) {
    EXPECT_EQ(all[static_cast<std::size_t>(r)].rank, r);
    EXPECT_EQ(all[static_cast<std::size_t>(r)].square, 1.0 * r * r);
  }
}

std::string join(std::string low, std::string high) { return low + high; }

TEST(ReduceToRoot, JoinsInRankOrder) {
  Context& context = test::world();
  std::string wanted;
  for (int r = 0; r < context.size(); ++r) wanted += fmt::format("<{}>", r);
  const std::string merged = reduce_to_root(context, fmt::format("<{}>", context.rank()), join);
  EXPECT_EQ(merged, context.is_root() ? wanted : "");
}

TEST(ReduceToRoot, CallsMergeOncePerRankAboveZero) {
  Context& context = test::world();
  int n_calls = 0;
  (void)reduce_to_root(context, "x", [&](std::string low, std::string high) {
    ++n_calls;
    return low + high;
  });
  EXPECT_EQ(sum(context, n_calls), context.size() - 1);
}

TEST(ReduceToRoot, TakesEmptyAndLongTexts) {
  Context& context = test::world();
  EXPECT_EQ(reduce_to_root(context, "", join), "");
  const std::string mine(500'000, static_cast<char>('a' + context.rank() % 26));
  const std::string merged = reduce_to_root(context, mine, join);
  if (!context.is_root()) return;
  ASSERT_EQ(merged.size(), 500'000U * static_cast<std::size_t>(context.size()));
  for (int r = 0; r < context.size(); ++r)
    EXPECT_EQ(merged[500'000U * static_cast<std::size_t>(r) + 77], static_cast<char>('a' + r % 26));
}

TEST(ReduceToRoot, SuccessiveCallsDoNotMix) {
  Context& context = test::world();
  for (int round = 0; round < 20; ++round) {
    const std::string text = std::to_string(round) + ",";
    const std::string merged = reduce_to_root(context, text, join);
    std::string wanted;
    for (int r = 0; r < context.size(); ++r) wanted += text;
    EXPECT_EQ(merged, context.is_root() ? wanted : "");
  }
}

}  // namespace
}  // namespace barrio::mpi
