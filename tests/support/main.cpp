// Run GoogleTest on every rank of one MPI launch. All ranks meet at the end of each test, so a failure on any rank
// fails the test on rank 0. A watchdog ends a launch that hangs, and prints the state of each rank.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <thread>

#include "barrio/base/abort.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {
namespace {

std::unique_ptr<mpi::Context> the_world;
std::uint64_t the_seed = 0;
std::filesystem::path the_scratch;

// State that the watchdog reports.
std::atomic<const char*> doing{"starting"};
std::atomic<const char*> test_suite{""};
std::atomic<const char*> test_name{"(before the first test)"};
std::atomic<std::int64_t> changed_at_seconds{0};
std::atomic<bool> finished{false};

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void set_doing(const char* what) {
  doing = what;
  changed_at_seconds = seconds_now();
}

void watch(std::int64_t limit_seconds, Rank rank, int size) {
  while (!finished) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (seconds_now() - changed_at_seconds < limit_seconds) continue;
    const std::string line = fmt::format("[rank {}/{}] HANGS: {} {}.{} for {} s\n", rank, size, doing.load(),
                                         test_suite.load(), test_name.load(), limit_seconds);
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
    std::this_thread::sleep_for(std::chrono::seconds(1));  // let the other ranks print
    std::_Exit(124);
  }
}

class MeetAfterEachTest : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    test_suite = info.test_suite_name();
    test_name = info.name();
    set_doing("is inside");
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed() && the_world->rank() != 0) {
      fmt::print(stderr, "[rank {}/{}] {}:{}: {}\n", the_world->rank(), the_world->size(),
                 result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(), result.message());
    }
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    set_doing("is done and waits for other ranks after");
    const int failures = mpi::sum(*the_world, info.result()->Failed() ? 1 : 0);
    if (failures > 0 && !info.result()->Failed()) ADD_FAILURE() << failures << " other rank(s) failed this test";
  }
};

}  // namespace

mpi::Context& world() { return *the_world; }
std::uint64_t seed() { return the_seed; }
std::filesystem::path scratch() { return the_scratch; }

std::vector<std::uint64_t> of_one_rank(const std::function<std::vector<std::uint64_t>(mpi::Context& alone)>& compute) {
  std::vector<std::uint64_t> computed;
  if (the_world->is_root()) {
    mpi::Context alone(MPI_COMM_SELF);
    computed = compute(alone);
  }
  mpi::broadcast(*the_world, computed);
  return computed;
}

std::optional<std::filesystem::path> interop(const std::string& name) {
  const char* folder = std::getenv("BARRIO_INTEROP");
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  if (!std::filesystem::exists(path)) return {};
  return path;
}

std::filesystem::path data(const std::string& name) { return std::filesystem::path(data_folder) / name; }

namespace {
int run_all(int argc, char** argv) {
  int provided = 0;
  const char* threads = std::getenv("BARRIO_TEST_THREADS");
  const bool is_multiple = threads != nullptr && std::string_view(threads) == "multiple";
  MPI_Init_thread(&argc, &argv, is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  testing::InitGoogleTest(&argc, argv);
  the_world = std::make_unique<mpi::Context>(
      MPI_COMM_WORLD, mpi::ContextOptions{.trace = Trace::Mode::events, .agree_limit_seconds = 20.0});
  const Rank rank = the_world->rank();
  const auto end_job = [](int code) noexcept {
    ::usleep(200'000);  // MPICH's launcher drops output printed just before an abort
    MPI_Abort(MPI_COMM_WORLD, code);
  };
  set_abort_hook({.end_job = end_job, .rank = rank, .size = the_world->size()});

  const char* chosen = std::getenv("BARRIO_SEED");
  the_seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
  mpi::broadcast(*the_world, std::span(&the_seed, 1));
  // A new folder each time: a killed run may have left one with the same process number.
  std::string folder = (std::filesystem::temp_directory_path() / "barrio-test-XXXXXX").string();
  if (rank == 0 && ::mkdtemp(folder.data()) == nullptr) fmt::print(stderr, "{}: {}\n", folder, std::strerror(errno));
  mpi::broadcast(*the_world, folder);
  the_scratch = folder;
  std::filesystem::create_directories(the_scratch);  // for ranks on hosts with another disk
  if (rank == 0) fmt::print("BARRIO_SEED={} repeats this run\n", the_seed);

  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new MeetAfterEachTest);

  const char* limit = std::getenv("BARRIO_TEST_LIMIT");
  set_doing("is before");
  std::thread watchdog(watch, limit != nullptr ? std::atol(limit) : 60, rank, the_world->size());
  int failed = RUN_ALL_TESTS();
  set_doing("is after");
  failed = mpi::max(*the_world, failed);
  finished = true;
  watchdog.join();
  if (rank == 0) std::filesystem::remove_all(the_scratch);
  the_world.reset();
  MPI_Finalize();
  return failed;
}
}  // namespace
}  // namespace barrio::test

int main(int argc, char** argv) { return barrio::test::run_all(argc, argv); }
