#include "barrio/mpi/wait/give_way.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

/// This process and an endlessly computing one, both on one core.
class BusyCore {
 public:
  BusyCore() {
    ::sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &all_)) CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    child_ = ::fork();
    if (child_ == 0) compute();
  }
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;
  ~BusyCore() {
    if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
    ::sched_setaffinity(0, sizeof all_, &all_);
  }

 private:
  [[noreturn]] static void compute() {
    ::alarm(60);  // it ends even if the test is killed
    for (volatile bool is_ending = false; !is_ending;) {
    }
    ::_exit(0);
  }

  cpu_set_t all_{};
  pid_t child_ = -1;
};

template <class Call>
double seconds_of_100(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(GiveWay, BringsTheCoreBackBesideProcessesThatCompute) {
  if (test::world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  const BusyCore busy;
  double by_yield = 0.0;
  double by_giving_way = 0.0;
  for (int i = 0; i < 5; ++i) {
    by_yield += seconds_of_100([] { ::syscall(SYS_sched_yield); });  // not the preloaded function
    by_giving_way += seconds_of_100(barrio_give_way);
  }
  if (by_yield < 0.1) GTEST_SKIP() << "a yield comes back within 0.2 ms on this system";
  EXPECT_LT(by_giving_way, by_yield / 2);
}

}  // namespace
}  // namespace barrio::mpi
