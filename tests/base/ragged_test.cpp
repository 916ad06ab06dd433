#include "barrio/base/ragged.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace barrio {
namespace {

std::vector<int> row_of(const Ragged<int, std::uint32_t>& rows, std::size_t i) {
  const auto row = rows[i];
  return {row.begin(), row.end()};
}

TEST(Ragged, HoldsRowsThatAreAdded) {
  Ragged<int, std::uint32_t> rows;
  EXPECT_EQ(rows.size(), 0U);
  rows.add(std::vector{3, 1});
  rows.add(std::vector<int>{});
  rows.add(std::vector{7});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(row_of(rows, 0), (std::vector{3, 1}));
  EXPECT_TRUE(rows[1].empty());
  rows[2][0] = 8;
  EXPECT_EQ(rows.items(), (std::vector{3, 1, 8}));
}

TEST(Ragged, GroupsAsAMapDoes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const std::size_t n_rows : {1U, 2U, 17U}) {
    std::vector<std::pair<std::size_t, int>> items(random() % 60);
    for (auto& [row, item] : items) row = random() % n_rows, item = static_cast<int>(random() % 1000);
    const auto rows = Ragged<int, std::uint32_t>::grouped(n_rows, [&](auto&& put) {
      for (const auto& [row, item] : items) put(row, item);
    });
    std::map<std::size_t, std::vector<int>> wanted;
    for (const auto& [row, item] : items) wanted[row].push_back(item);
    ASSERT_EQ(rows.size(), n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) EXPECT_EQ(row_of(rows, i), wanted[i]);
  }
}

TEST(Ragged, OfNoRowsHasNone) {
  const auto rows = Ragged<int>::grouped(0, [](auto&&) {});
  EXPECT_EQ(rows.size(), 0U);
  EXPECT_TRUE(rows.items().empty());
}

}  // namespace
}  // namespace barrio
