#include "barrio/mobile/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "tests/support/faulty_io.h"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile {
namespace {

/// A folder on a disk. The usual scratch folder may lie in memory.
std::string folder() {
  static const std::string made = [] {
    const auto path = std::filesystem::current_path() / fmt::format("store-{}", getpid());
    std::filesystem::create_directories(path);
    return path.string();
  }();
  return made;
}

class Stores : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (folder_kind(folder()) == FolderKind::memory) GTEST_SKIP() << folder() << " is in memory";
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  [[nodiscard]] static StoreOptions options(int n_threads = 2) {
    return {.folder = folder(), .is_direct = GetParam(), .n_threads = n_threads};
  }
};

Block block_of(std::size_t n, std::uint64_t seed) {
  Block block(n);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < n; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(block.data() + i, &word, std::min(sizeof(word), n - i));
  }
  return block;
}

bool is_equal(const Block& a, const Block& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Return the text of the error that a call throws, "" if it throws none.
template <class Call>
std::string fault_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_P(Stores, GiveBackWhatWasPut) {
  Store store(options());
  std::map<Store::Id, std::size_t> sizes;
  for (const std::size_t n : {0UL, 1UL, 4095UL, 4096UL, 4097UL, 100'000UL, (4UL << 20U) + 17, 13UL << 20U}) {
    const Store::Id id = store.put(block_of(n, n));
    sizes[id] = n;
  }
  for (const auto& [id, n] : sizes) EXPECT_TRUE(is_equal(store.get(id), block_of(n, n))) << n;  // some from memory
  store.wait();
  EXPECT_EQ(store.memory_bytes(), 0U);
  for (int again = 0; again < 2; ++again)
    for (const auto& [id, n] : sizes) EXPECT_TRUE(is_equal(store.get(id), block_of(n, n))) << n;
  for (const auto& [id, n] : sizes) store.prefetch(id);
  for (const auto& [id, n] : sizes) EXPECT_TRUE(is_equal(store.get(id), block_of(n, n))) << n;
  EXPECT_EQ(store.memory_bytes(), 0U);
  EXPECT_GE(store.statistics().bytes_read, 3 * (13UL << 20U));
  EXPECT_GT(store.statistics().seconds_busy, 0.0);
  EXPECT_EQ(store.n_objects(), sizes.size());
}

TEST_P(Stores, RandomObjectsComeAndGo) {
  std::mt19937_64 random(barrio::test::seed());
  Store store({.folder = folder(), .is_direct = GetParam(), .n_threads = 3, .max_waiting_bytes = 1U << 20U});
  std::vector<std::pair<Store::Id, std::size_t>> present;
  std::uint64_t n_bytes = 0;
  std::uint64_t most = 0;
  for (int step = 0; step < 600; ++step) {
    const auto choice = present.empty() ? 0 : random() % 8;
    if (choice < 3) {
      const std::size_t n = random() % (random() % 10 == 0 ? 6'000'000 : 60'000);
      const Store::Id id = store.put(block_of(n, present.size() + n));
      present.emplace_back(id, present.size() + n);
      n_bytes += Block::padded(n) + Block::alignment;
      most = std::max(most, n_bytes);
      store.drop(id);  // and once more, in the place that is free now
      present.back() = {store.put(block_of(n, n)), n};
    } else {
      const std::size_t i = random() % present.size();
      const auto [id, n] = present[i];
      if (choice < 5) {
        ASSERT_TRUE(is_equal(store.get(id), block_of(n, n))) << "step " << step;
      } else if (choice < 6) {
        store.prefetch(id);
      } else {
        store.drop(id);
        n_bytes -= Block::padded(n) + Block::alignment;
        std::swap(present[i], present.back());
        present.pop_back();
      }
    }
  }
  for (const auto& [id, n] : present) ASSERT_TRUE(is_equal(store.get(id), block_of(n, n)));
  EXPECT_LE(store.statistics().file_bytes, 2 * most + (1U << 20U));
}

/// Object that is packed by a thread of the store, and counts those that live.
struct Sheet {
  explicit Sheet(std::size_t n, std::uint64_t fill) : block(block_of(n, fill)) { n_alive += 1; }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  ~Sheet() { n_alive -= 1; }
  Block block;
  static inline std::atomic<int> n_alive = 0;
};

Store::Unpacked unpacked(std::size_t n, std::uint64_t fill) {
  return {std::make_shared<Sheet>(n, fill), n + 100, n, [](const void* object, std::byte* to) {
            const Block& block = static_cast<const Sheet*>(object)->block;
            std::memcpy(to, block.data(), block.size());
          }};
}

TEST_P(Stores, PackObjectsAndLetGoOfThem) {
  std::mt19937_64 random(barrio::test::seed());
  Store store({.folder = folder(), .is_direct = GetParam(), .max_waiting_bytes = 1U << 20U});
  std::map<Store::Id, std::size_t> present;
  int n_taken = 0;
  for (int step = 0; step < 400; ++step) {
    const std::size_t n = 8 + random() % (random() % 20 == 0 ? 9'000'000 : 60'000);
    const Store::Id id = store.put(unpacked(n, n));
    present[id] = n;
    const auto [some, its_n] = *std::next(present.begin(), static_cast<std::ptrdiff_t>(random() % present.size()));
    switch (random() % 4) {
      case 0: ASSERT_TRUE(is_equal(store.get(some), block_of(its_n, its_n))) << "step " << step; break;
      case 1:
        store.drop(some);
        present.erase(some);
        break;
      case 2:
        if (const std::shared_ptr<void> object = store.take_back(id)) {
          n_taken += 1;
          ASSERT_TRUE(is_equal(static_cast<const Sheet*>(object.get())->block, block_of(n, n)));
          EXPECT_FALSE(fault_of([&, gone = id] { store.drop(gone); }).empty());
          present.erase(id);
        }
        break;
      default: store.prefetch(some);
    }
  }
  store.wait();
  EXPECT_EQ(Sheet::n_alive, 0);
  EXPECT_GT(n_taken, 0);
  for (const auto& [id, n] : present) {
    ASSERT_EQ(store.take_back(id), nullptr);
    ASSERT_TRUE(is_equal(store.get(id), block_of(n, n)));
  }
  EXPECT_LE(store.memory_bytes(), 2 * (std::uint64_t{8} << 20U));  // of the threads, for the next object
}

TEST_P(Stores, AnObjectThatCannotBePackedIsToldAtTheNextCall) {
  Store store(options());
  const Store::Id early = store.put(block_of(5000, 5));
  const Store::Id id = store.put(Store::Unpacked{std::make_shared<Sheet>(10, 1), 10, 10, [](const void*, std::byte*) {
                                                   refuse(ErrorCode::usage, "a sheet", "is torn");
                                                 }});
  EXPECT_NE(fault_of([&] { store.wait(); }).find("is torn"), std::string::npos);
  EXPECT_NE(fault_of([&] { static_cast<void>(store.get(id)); }).find("is torn"), std::string::npos);
  EXPECT_NE(fault_of([&] { static_cast<void>(store.put(unpacked(10, 1))); }).find("is torn"), std::string::npos);
  EXPECT_TRUE(is_equal(store.get(early), block_of(5000, 5)));
}

TEST_P(Stores, LeaveNoFile) {
  Store store(options());
  const Store::Id id = store.put(block_of(10'000, 1));
  store.wait();
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
  EXPECT_TRUE(is_equal(store.get(id), block_of(10'000, 1)));
}

TEST_P(Stores, AFullDiskIsToldAtTheNextCall) {
  for (const auto& [error, text] : {std::pair{ENOSPC, "No space left"}, std::pair{EIO, "Input/output error"}}) {
    Store store(options(1));
    const Store::Id early = store.put(block_of(5000, 5));
    store.wait();
    FaultyIo plan{.calls = FAULTY_IO_WRITE,
                  .file = {},
                  .at = 2,
                  .end = LONG_MAX,
                  .error = error,
                  .act = nullptr,
                  .argument = nullptr};
    std::snprintf(plan.file, sizeof plan.file, "%s", folder().c_str());
    faulty_io_begin(&plan);
    const Store::Id first = store.put(block_of(100'000, 1));
    const Store::Id second = store.put(unpacked(200'000, 2));
    const std::string fault = fault_of([&] { store.wait(); });
    faulty_io_end();
    EXPECT_NE(fault.find(text), std::string::npos) << fault;
    EXPECT_NE(fault.find(folder()), std::string::npos) << fault;
    EXPECT_FALSE(fault_of([&] { static_cast<void>(store.put(block_of(10, 1))); }).empty());
    // nothing is lost that a caller can still have
    EXPECT_TRUE(is_equal(store.get(early), block_of(5000, 5)));
    EXPECT_TRUE(is_equal(store.get(first), block_of(100'000, 1)));
    EXPECT_TRUE(is_equal(store.get(second), block_of(200'000, 2)));
  }
}

TEST_P(Stores, AnObjectThatCannotBeReadIsRefused) {
  Store store(options(1));
  const Store::Id id = store.put(block_of(50'000, 3));
  store.wait();
  FaultyIo plan{
      .calls = FAULTY_IO_READ, .file = {}, .at = 1, .end = 2, .error = EIO, .act = nullptr, .argument = nullptr};
  std::snprintf(plan.file, sizeof plan.file, "%s", folder().c_str());
  faulty_io_begin(&plan);
  const std::string fault = fault_of([&] { static_cast<void>(store.get(id)); });
  faulty_io_end();
  EXPECT_NE(fault.find("cannot be read: Input/output error"), std::string::npos) << fault;
  EXPECT_TRUE(is_equal(store.get(id), block_of(50'000, 3)));  // it was the disk's passing fault
}

TEST_P(Stores, OtherBytesThanWereWrittenAreRefused) {
  Store store(options());
  const Store::Id first = store.put(block_of(50'000, 3));
  const Store::Id second = store.put(block_of(50'000, 4));
  store.wait();
  int n_changed = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored).string().find(folder()) == std::string::npos) continue;
    const int file = open(entry.path().c_str(), O_RDWR);
    if (file < 0) continue;
    n_changed += pwrite(file, "x", 1, 12'345) == 1 ? 1 : 0;
    fsync(file);
    close(file);
  }
  ASSERT_EQ(n_changed, 1);
  const std::string fault = fault_of([&] { static_cast<void>(store.get(first)); });
  EXPECT_NE(fault.find("has other bytes than were written"), std::string::npos) << fault;
  EXPECT_TRUE(is_equal(store.get(second), block_of(50'000, 4)));
}

TEST_P(Stores, WhatIsNotThereIsRefused) {
  Store store(options());
  const Store::Id id = store.put(block_of(10, 1));
  store.drop(id);
  for (const Store::Id gone : {id, Store::Id{77}}) {
    EXPECT_FALSE(fault_of([&] { static_cast<void>(store.get(gone)); }).empty());
    EXPECT_FALSE(fault_of([&] { store.prefetch(gone); }).empty());
    EXPECT_FALSE(fault_of([&] { store.drop(gone); }).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Either, Stores, testing::Bool(),
                         [](const auto& one) { return one.param ? "direct" : "through_the_cache"; });

TEST(Store, FoldersThatSaveNothingAreRefused) {
  EXPECT_NE(fault_of([] { Store({.folder = "/no/such/folder"}); }).find("does not exist"), std::string::npos);
  if (std::filesystem::is_directory("/dev/shm") && folder_kind("/dev/shm") == FolderKind::memory) {
    EXPECT_NE(fault_of([] { Store({.folder = "/dev/shm"}); }).find("is in memory"), std::string::npos);
  }
  EXPECT_FALSE(fault_of([] { Store({.folder = "/proc"}); }).empty());
}

}  // namespace
}  // namespace barrio::mobile
