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
  std::vector<char>().swap(block);  // back to the system: it was mapped by itself
  EXPECT_GE(peak_resident_bytes(), before + size * 9 / 10);
  if (reset_peak_resident_bytes()) {
    EXPECT_LT(peak_resident_bytes(), before + size / 2);
  }
}

}  // namespace
}  // namespace barrio
