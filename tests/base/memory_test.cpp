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

}  // namespace
}  // namespace barrio
