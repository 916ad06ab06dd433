#include "barrio/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

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
  // Mapped directly: malloc may keep freed memory, as the address sanitizer does.
  void* const block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, size);
  EXPECT_GE(resident_bytes(), before + size * 9 / 10);
  EXPECT_GE(peak_resident_bytes(), before + size * 9 / 10);
  ASSERT_EQ(::munmap(block, size), 0);
  EXPECT_GE(peak_resident_bytes(), before + size * 9 / 10);
  if (reset_peak_resident_bytes()) {
    EXPECT_LT(peak_resident_bytes(), before + size / 2);
  }
}

TEST(ReturnFreeMemory, GivesBackWhatLargeBlocksLeave) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "this allocator keeps its own memory";
#endif
  if (resident_bytes() == 0) GTEST_SKIP() << "this system has no /proc";
  constexpr std::size_t size = std::size_t{4} << 20U;
  constexpr std::size_t n = 16;
  {
    const std::vector<char> raises_the_limit_of_blocks_that_go_back(6 * size, 1);
  }
  std::vector<std::vector<char>> blocks;
  std::vector<std::vector<char>> between;  // keeps the end of the heap in use
  for (std::size_t i = 0; i < n; ++i) {
    blocks.emplace_back(size, 1);
    between.emplace_back(size / 16, 1);
  }
  const std::uint64_t with_blocks = resident_bytes();
  blocks.clear();
  const std::uint64_t before = resident_bytes();
  if (before + n * size / 4 < with_blocks) GTEST_SKIP() << "the blocks went back by themselves";
  return_free_memory();
  EXPECT_LT(resident_bytes() + n * size / 2, before);
}

}  // namespace
}  // namespace barrio
