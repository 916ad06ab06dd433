#include "barrio/base/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace barrio {
namespace {

struct Item {
  std::uint64_t key;
  std::size_t place;
  bool operator==(const Item&) const = default;
};

TEST(RadixSort, IsStableForKeysOfAllKinds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  // bits that all keys share, few different keys, small numbers, and any
  for (const std::uint64_t mask :
       {std::uint64_t{0}, std::uint64_t{3} << 62U, std::uint64_t{0xff00ff}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    for (const std::size_t n : {0, 1, 2, 100, 5000}) {
      std::vector<Item> items;
      for (std::size_t i = 0; i < n; ++i) items.push_back({(random() & mask) | (~mask & 0x0123456789abcdefU), i});
      std::vector<Item> wanted = items;
      std::ranges::stable_sort(wanted, {}, &Item::key);
      std::vector<Item> by_function = items;
      radix_sort(items, &Item::key);
      radix_sort(by_function, [](const Item& item) { return item.key; });
      EXPECT_EQ(items, wanted) << n << ' ' << mask;
      EXPECT_EQ(by_function, wanted) << n << ' ' << mask;
    }
  }
}

}  // namespace
}  // namespace barrio
