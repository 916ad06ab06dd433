#include "barrio/mobile/storage/extents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::mobile::detail {
namespace {

TEST(Extents, FreePlacesBecomeOne) {
  Extents extents;
  EXPECT_EQ(extents.take(10), 0U);
  EXPECT_EQ(extents.take(20), 10U);
  EXPECT_EQ(extents.take(30), 30U);
  EXPECT_EQ(extents.take(5), 60U);
  extents.free(0, 10);
  extents.free(30, 30);
  EXPECT_EQ(extents.free_bytes(), 40U);
  EXPECT_EQ(extents.take(9), 0U);  // the smallest that is large enough
  extents.free(0, 9);
  extents.free(10, 20);
  EXPECT_EQ(extents.take(60), 0U);  // all of them in one
  EXPECT_EQ(extents.free_bytes(), 0U);
  extents.free(60, 5);
  extents.free(0, 60);
  EXPECT_EQ(extents.end(), 0U);  // at the end of the file nothing is kept
}

TEST(Extents, PlacesNeverOverlap) {
  std::mt19937_64 random(barrio::test::seed());
  for (int round = 0; round < 20; ++round) {
    Extents extents;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    std::vector<char> is_used(1 << 16, 0);
    std::uint64_t most = 0;
    std::uint64_t n_used = 0;
    for (int step = 0; step < 400; ++step) {
      if (taken.empty() || random() % 5 < 3) {
        const std::uint64_t n = 1 + random() % 100;
        const std::uint64_t offset = extents.take(n);
        ASSERT_LE(offset + n, is_used.size());
        ASSERT_LE(offset + n, extents.end());
        for (std::uint64_t i = offset; i < offset + n; ++i) {
          ASSERT_EQ(is_used[i], 0);
          is_used[i] = 1;
        }
        taken.emplace_back(offset, n);
        n_used += n;
      } else {
        std::swap(taken[random() % taken.size()], taken.back());
        const auto [offset, n] = taken.back();
        taken.pop_back();
        for (std::uint64_t i = offset; i < offset + n; ++i) is_used[i] = 0;
        extents.free(offset, n);
        n_used -= n;
      }
      most = std::max(most, n_used);
      ASSERT_EQ(extents.end(), n_used + extents.free_bytes());
      ASSERT_LE(extents.end(), 3 * most + 100);
    }
  }
}

}  // namespace
}  // namespace barrio::mobile::detail
