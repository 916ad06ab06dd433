// Tests of the test main itself: one rank sleeps, one rank fails. Launched by expect.py.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/mpi_test.hpp"

namespace barrio {
namespace {

bool is_last() { return test::world().rank() == test::world().size() - 1; }

TEST(OneRank, Sleeps) {
  if (is_last()) std::this_thread::sleep_for(std::chrono::seconds(120));
}

TEST(OneRank, Fails) {
  if (is_last()) ADD_FAILURE() << "the last rank is not content";
}

TEST(OneRank, Succeeds) {}

}  // namespace
}  // namespace barrio
