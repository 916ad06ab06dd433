#include "barrio/base/slabs.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/mpi_test.hpp"

namespace barrio {
namespace {

void expect_inverse(const Slabs& slabs, std::int64_t row) {
  const Rank rank = slabs.rank_of(row);
  ASSERT_GE(rank, 0);
  ASSERT_LT(rank, slabs.n_ranks);
  EXPECT_LE(slabs.first(rank), row) << slabs.n_rows << " rows, " << slabs.n_ranks << " ranks";
  EXPECT_LT(row, slabs.first(rank + 1)) << slabs.n_rows << " rows, " << slabs.n_ranks << " ranks";
}

TEST(Slabs, AreContiguousAndEven) {
  for (std::int64_t n_rows = 0; n_rows < 60; ++n_rows) {
    for (int n_ranks = 1; n_ranks < 25; ++n_ranks) {
      const Slabs slabs{n_rows, n_ranks};
      ASSERT_EQ(slabs.first(0), 0);
      ASSERT_EQ(slabs.first(n_ranks), n_rows);
      for (Rank rank = 0; rank < n_ranks; ++rank) {
        ASSERT_EQ(slabs.first(rank), n_rows * rank / n_ranks);
        const auto size = static_cast<std::int64_t>(slabs.size(rank));
        ASSERT_GE(size, n_rows / n_ranks);
        ASSERT_LE(size, (n_rows + n_ranks - 1) / n_ranks);
      }
      for (std::int64_t row = 0; row < n_rows; ++row) expect_inverse(slabs, row);
    }
  }
}

TEST(Slabs, RankOfInvertsFirstForRandomSizes) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 2000; ++repeat) {
    // Sizes of all orders of magnitude, and from fewer to many more ranks than rows.
    const auto n_rows = static_cast<std::int64_t>(1 + (random() >> (2 + random() % 62)));
    const auto n_ranks = static_cast<int>(1 + random() % (std::uint64_t{1} << (random() % 13)));
    const Slabs slabs{n_rows, n_ranks};
    for (int k = 0; k < 20; ++k)
      expect_inverse(slabs, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n_rows)));
    const auto rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(n_ranks));
    if (slabs.size(rank) > 0) {
      EXPECT_EQ(slabs.rank_of(slabs.first(rank)), rank);
      EXPECT_EQ(slabs.rank_of(slabs.first(rank + 1) - 1), rank);
      EXPECT_EQ(slabs.rank_of(GlobalId{slabs.first(rank)}), rank);
    }
  }
}

TEST(Slabs, HugeRowsOnManyRanksDoNotOverflow) {
  std::mt19937_64 random(test::seed() + 1);
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const std::int64_t n_rows : {huge, huge - 1, huge + 1, huge - 99'999, huge / 3}) {
    for (const int n_ranks : {100'000, 99'991, 3, 1}) {
      const Slabs slabs{n_rows, n_ranks};
      EXPECT_EQ(slabs.first(n_ranks), n_rows);
      for (int k = 0; k < 200; ++k) {
        const auto rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(n_ranks));
        EXPECT_LE(slabs.size(rank) - static_cast<std::size_t>(n_rows / n_ranks), 1U);
        EXPECT_EQ(slabs.rank_of(slabs.first(rank)), rank);
        EXPECT_EQ(slabs.rank_of(slabs.first(rank + 1) - 1), rank);
        expect_inverse(slabs, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n_rows)));
      }
      expect_inverse(slabs, 0);
      expect_inverse(slabs, n_rows - 1);
    }
  }
}

TEST(Slabs, FewerRowsThanRanksLeaveEmptyRanks) {
  const Slabs slabs{3, 100'000};
  for (std::int64_t row = 0; row < 3; ++row) expect_inverse(slabs, row);
  EXPECT_EQ(slabs.rank_of(0), 33'333);
  EXPECT_EQ(slabs.rank_of(1), 66'666);
  EXPECT_EQ(slabs.rank_of(2), 99'999);
}

TEST(Slabs, ZeroRowsAreLegal) {
  const Slabs slabs{0, 7};
  for (Rank rank = 0; rank < 7; ++rank) EXPECT_EQ(slabs.size(rank), 0U);
  EXPECT_EQ(slabs.first(7), 0);
}

}  // namespace
}  // namespace barrio
