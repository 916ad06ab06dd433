#include "barrio/base/growing_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace barrio {
namespace {

void fill(GrowingArray<std::int64_t>& items, std::size_t n) {
  while (items.size() < n) items.push_back(3 * items.size());
}

bool is_filled(const GrowingArray<std::int64_t>& items, std::size_t n) {
  if (items.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (items[i] != static_cast<std::int64_t>(3 * i)) return false;
  return true;
}

TEST(GrowingArray, KeepsItemsWhileItGrowsAndShrinks) {
  GrowingArray<std::int64_t> items;
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(items.memory_bytes(), 0U);
  for (const std::size_t n : {1U, 100U, 131071U, 131072U, 131073U, 2000000U}) {  // below and above a mebibyte
    fill(items, n);
    EXPECT_TRUE(is_filled(items, n)) << n;
    EXPECT_LE(items.memory_bytes(), 9 * n + 1100);
  }
  items.resize(200000);
  items.shrink_to_fit();
  EXPECT_EQ(items.memory_bytes(), 1600000U);
  EXPECT_TRUE(is_filled(items, 200000));
  items.resize(10);
  items.shrink_to_fit();
  EXPECT_EQ(items.memory_bytes(), 80U);
  EXPECT_TRUE(is_filled(items, 10));
  items.resize(0);
  items.shrink_to_fit();
  EXPECT_EQ(items.memory_bytes(), 0U);
  fill(items, 5);
  EXPECT_TRUE(is_filled(items, 5));
}

TEST(GrowingArray, TakesAnItemOfItsOwn) {
  GrowingArray<std::int64_t> items;
  fill(items, 64);
  for (int i = 0; i < 100; ++i) items.push_back(items[7]);
  EXPECT_EQ(items[163], 21);
}

TEST(GrowingArray, MovesWhatItHas) {
  GrowingArray<std::int64_t> a;
  fill(a, 300000);
  const std::int64_t* const place = a.data();
  GrowingArray<std::int64_t> b = std::move(a);
  EXPECT_EQ(b.data(), place);
  GrowingArray<std::int64_t> c;
  fill(c, 3);
  c = std::move(b);
  EXPECT_TRUE(is_filled(c, 300000));
}

TEST(GrowingArray, SaysWhereThereIsNoRoom) {
  GrowingArray<std::int64_t> items;
  fill(items, 3);
  EXPECT_THROW(items.reserve(SIZE_MAX / 4), std::bad_alloc);
  EXPECT_THROW(items.reserve(SIZE_MAX / 32), std::bad_alloc);
  EXPECT_TRUE(is_filled(items, 3));
}

}  // namespace
}  // namespace barrio
