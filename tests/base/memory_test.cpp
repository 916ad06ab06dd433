#include "barrio/base/memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"

namespace barrio {
namespace {

static_assert(!std::is_copy_constructible_v<MemoryBudget::Lease>);

TEST(MemoryBudget, ALeaseIsGivenBackByItsDestructor) {
  MemoryBudget budget(1000);
  EXPECT_EQ(budget.limit_bytes(), 1000U);
  {
    const auto first = budget.lease(300, "nodes");
    const auto second = budget.lease(400, "cells");
    EXPECT_EQ(first.bytes(), 300U);
    EXPECT_EQ(budget.used_bytes(), 700U);
  }
  EXPECT_EQ(budget.used_bytes(), 0U);
  EXPECT_EQ(budget.peak_bytes(), 700U);
}

TEST(MemoryBudget, MayBeUsedUpToItsLimit) {
  MemoryBudget budget(1000);
  const auto all = budget.lease(1000, "everything");
  const auto nothing = budget.lease(0, "an empty part");
  EXPECT_EQ(budget.used_bytes(), 1000U);
  EXPECT_THROW((void)budget.lease(1, "one byte"), Error);
}

TEST(MemoryBudget, SaysWhatHadNoRoom) {
  MemoryBudget budget(4096);
  const auto held = budget.lease(1024, "nodes");
  const Status status = capture([&] { (void)budget.lease(1536 * 1024, "ghost cells"); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::failed);
  EXPECT_STREQ(status->what(),
               "memory for ghost cells: 1.5 MiB wanted, 1.0 KiB of 4.0 KiB in use "
               "(raise the memory limit or use more ranks)");
  EXPECT_EQ(budget.used_bytes(), 1024U) << "a refused lease takes nothing";
  EXPECT_EQ(budget.peak_bytes(), 1024U);
}

TEST(MemoryBudget, DoesNotWrapAtSizesNearTheLargestNumber) {
  MemoryBudget budget(1000);
  const auto held = budget.lease(10, "a little");
  EXPECT_THROW((void)budget.lease(UINT64_MAX - 5, "too much"), Error);
  EXPECT_EQ(budget.used_bytes(), 10U);
}

TEST(MemoryBudget, ALeaseGrowsAndShrinks) {
  MemoryBudget budget(1000);
  auto lease = budget.lease(100, "cells");
  lease.resize(900, "cells");
  EXPECT_EQ(budget.used_bytes(), 900U);
  EXPECT_THROW(lease.resize(1001, "cells"), Error);
  EXPECT_EQ(lease.bytes(), 900U) << "unchanged after a refusal";
  EXPECT_EQ(budget.used_bytes(), 900U);
  lease.resize(50, "cells");
  EXPECT_EQ(lease.bytes(), 50U);
  EXPECT_EQ(budget.used_bytes(), 50U);
  EXPECT_EQ(budget.peak_bytes(), 900U);
}

TEST(MemoryBudget, AMovedLeaseIsCountedOnce) {
  MemoryBudget budget(1000);
  auto first = budget.lease(100, "a");
  auto second = std::move(first);
  EXPECT_EQ(second.bytes(), 100U);
  EXPECT_EQ(first.bytes(), 0U);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(budget.used_bytes(), 100U);
  auto third = budget.lease(200, "b");
  third = std::move(second);
  EXPECT_EQ(budget.used_bytes(), 100U) << "what was assigned over is given back";
  auto& same = third;
  third = std::move(same);
  EXPECT_EQ(third.bytes(), 100U);
  third = {};
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(MemoryBudget, HoldsItsLimitAmongThreads) {
  MemoryBudget budget(1000);
  std::atomic<std::int64_t> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        std::optional<MemoryBudget::Lease> lease;
        if (capture([&] { lease.emplace(budget.lease(400, "work")); })) ++refused;
        if (i % 16 == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0U);
  EXPECT_LE(budget.peak_bytes(), 800U);
  EXPECT_GE(budget.peak_bytes(), 400U);
}

TEST(MemoryBytes, CountsCapacity) {
  std::vector<double> items;
  EXPECT_EQ(memory_bytes(items), 0U);
  items.reserve(10);
  EXPECT_EQ(memory_bytes(items), 80U);
}

TEST(ResidentBytes, SeesMemoryThatIsTouched) {
  const std::uint64_t before = resident_bytes();
  if (before == 0) GTEST_SKIP() << "this system has no /proc";
  constexpr std::size_t size = std::size_t{64} << 20U;
  std::vector<char> block(size);
  std::memset(block.data(), 1, size);
  EXPECT_GE(resident_bytes(), before + size * 9 / 10);
  EXPECT_EQ(block[size / 2], 1);
  EXPECT_GE(peak_resident_bytes(), before + size * 9 / 10);
}

}  // namespace
}  // namespace barrio
