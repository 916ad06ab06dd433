// Random rounds: every message arrives once, unchanged, in its round.
#include "tests/exchange/rounds/property.hpp"

#include <gtest/gtest.h>

namespace barrio::exchange {
namespace {

using namespace test;

TEST(RandomRounds, SmallMessages) {
  for (int which = 0; which < 8; ++which)
    if (!expect_rounds_right(which, {.n_rounds = 4, .n_messages = 300, .n_bytes = 200'000, .largest = 5'000})) break;
}

TEST(RandomRounds, MessagesOfUpTo16Megabytes) {
  for (int which = 8; which < 12; ++which)
    if (!expect_rounds_right(which, {.n_rounds = 2, .n_messages = 60, .n_bytes = 20'000'000, .largest = 1U << 24U}))
      break;
}

}  // namespace
}  // namespace barrio::exchange
