#include "barrio/base/memory_account.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "barrio/base/growing_array.hpp"

namespace barrio {
namespace {

TEST(MemoryAccount, CountsBytesByOwner) {
  MemoryAccount account(1000);
  MemoryAccount::Owner& tiles = account.add_owner("tiles");
  MemoryAccount::Owner& blocks = account.add_owner("blocks", MemoryAccount::Counting::beside);
  tiles.add(700);
  blocks.add(5000);
  tiles.subtract(300);
  EXPECT_EQ(account.bytes(), 400U);
  EXPECT_EQ(account.max_bytes(), 700U);
  EXPECT_EQ(tiles.bytes(), 400U);
  EXPECT_EQ(blocks.max_bytes(), 5000U);
  const Json json = account.to_json();
  EXPECT_EQ(json["limit"], 1000);
  EXPECT_EQ(json["max_bytes"], 700);
  EXPECT_EQ(json["owners"]["tiles"], 700);
  EXPECT_EQ(json["owners"]["blocks"], 5000);
  EXPECT_FALSE(MemoryAccount().to_json().contains("limit"));
}

TEST(MemoryAccount, ReservesByMakingRoom) {
  MemoryAccount account(1000);
  MemoryAccount::Owner& tiles = account.add_owner("tiles");
  tiles.add(900);
  EXPECT_TRUE(account.reserve(100));
  EXPECT_FALSE(account.reserve(101)) << "nobody can free any";
  std::vector<std::uint64_t> lacking;
  account.set_make_room([&](std::uint64_t n_bytes) {
    lacking.push_back(n_bytes);
    if (tiles.bytes() < 200) return false;
    tiles.subtract(200);
    return true;
  });
  EXPECT_TRUE(account.reserve(350));
  EXPECT_EQ(lacking, (std::vector<std::uint64_t>{250, 50}));
  EXPECT_EQ(tiles.bytes(), 500U);
  EXPECT_FALSE(account.reserve(2000)) << "more than the limit";
  EXPECT_EQ(tiles.bytes(), 100U) << "all that can be freed is freed";
  tiles.add(1900);  // the limit is not a wall
  lacking.clear();
  EXPECT_TRUE(account.reserve(0));
  EXPECT_EQ(lacking.front(), 1000U);
  EXPECT_EQ(tiles.bytes(), 1000U);
  EXPECT_TRUE(MemoryAccount().reserve(UINT64_MAX / 2)) << "without a limit";
}

TEST(MemoryAccount, ArraysReserveWhatTheyGrowBy) {
  MemoryAccount account(10'000);
  MemoryAccount::Owner& cached = account.add_owner("cached");
  MemoryAccount::Owner& growth = account.add_owner("growth");
  cached.add(9'000);
  account.set_make_room([&](std::uint64_t /*n_bytes*/) {
    GrowingArray<char> written;  // that makes room has arrays of its own
    written.reserve(5'000);
    if (cached.bytes() == 0) return false;
    cached.subtract(3'000);
    return true;
  });
  GrowingArray<std::int64_t> items;
  {
    const MemoryGrowth scope(account, growth);
    items.reserve(500);
    EXPECT_EQ(scope.bytes(), 4'000U);
    EXPECT_EQ(growth.bytes(), 4'000U);
    EXPECT_EQ(cached.bytes(), 6'000U);
    items.reserve(400);
    EXPECT_EQ(scope.bytes(), 4'000U) << "it did not grow";
    {
      GrowingArray<std::int64_t> copy;
      copy.reserve(100);
      EXPECT_EQ(scope.bytes(), 4'800U);
      copy.resize(30);
      copy.shrink_to_fit();
      EXPECT_EQ(scope.bytes(), 4'240U);
    }
    EXPECT_EQ(scope.bytes(), 4'000U) << "the copy is gone";
    {
      MemoryAccount other;
      MemoryAccount::Owner& inner = other.add_owner("inner");
      const MemoryGrowth nested(other, inner);
      items.reserve(1'000);
      EXPECT_EQ(inner.bytes(), 4'000U);
    }
    EXPECT_EQ(growth.bytes(), 4'000U) << "the innermost scope counts";
    std::thread([] {
      GrowingArray<char> elsewhere;
      elsewhere.reserve(100);
    }).join();
    EXPECT_EQ(scope.bytes(), 4'000U) << "another thread has no account";
    items.reserve(5'000);
    EXPECT_EQ(cached.bytes(), 0U);
    EXPECT_EQ(items.memory_bytes(), 40'000U) << "what is in use may exceed the limit";
  }
  EXPECT_EQ(growth.bytes(), 0U);
  items.reserve(6'000);
  EXPECT_EQ(account.bytes(), 0U);
}

TEST(MemoryAccount, AnArrayThatGetsNoRoomIsUnchanged) {
  MemoryAccount account(100);
  MemoryAccount::Owner& growth = account.add_owner("growth");
  account.set_make_room([](std::uint64_t /*n_bytes*/) -> bool { throw std::runtime_error("the disk is full"); });
  GrowingArray<int> items;
  items.push_back(7);
  const MemoryGrowth scope(account, growth);
  EXPECT_THROW(items.reserve(1'000), std::runtime_error);
  EXPECT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0], 7);
  EXPECT_LT(items.memory_bytes(), 1'000U);
  EXPECT_EQ(growth.bytes(), 0U);
  EXPECT_THROW(items.reserve(1'000), std::runtime_error) << "the scope is still there";
}

}  // namespace
}  // namespace barrio
