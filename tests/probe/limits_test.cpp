#include "barrio/probe/limits.hpp"

#include <gtest/gtest.h>

#include "barrio/probe/blocking.hpp"
#include "barrio/probe/overlap.hpp"
#include "barrio/probe/script.hpp"
#include "tests/probe/two_ranks.hpp"

namespace barrio::probe {
namespace {

using test::on_pair;

TEST(Limits, AreWhatOneScriptAfterTheOtherShows) {
  on_pair([](Pair& pair) {
    const MessageLimits limits = find_limits(pair);
    EXPECT_EQ(pair.swap(static_cast<double>(limits.eager_bytes)), static_cast<double>(limits.eager_bytes));
    EXPECT_LE(limits.eager_bytes, largest_message);
    EXPECT_LE(limits.arriving_bytes, largest_message);
    // Who does not need the receiver at all does not need its receive.
    EXPECT_LE(limits.detached_bytes, limits.eager_bytes);
    // Every MPI has a place for a few bytes, and none for megabytes.
    EXPECT_GE(limits.eager_bytes, 64U);
    EXPECT_LT(limits.eager_bytes, largest_message);
    EXPECT_GE(limits.at_once, 1U);
    // A message well above the limit waits for its receive; one well below does not.
    for (const bool is_above : {false, true}) {
      Script script;
      const std::size_t n_bytes = is_above ? 4 * limits.eager_bytes : limits.eager_bytes / 4;
      const int message = script.add({.from = 0, .n_bytes = n_bytes});
      script.then(0, {Call::isend, message}).then(0, {Call::wait, message});
      for (int i = 0; i < 100; ++i)
        script.then(1, {.call = Call::iprobe}).then(1, {.call = Call::compute, .seconds = 1e-4});
      script.then(1, {Call::irecv, message}).then(1, {Call::wait, message});
      const double wait = run(pair, script).find(0, Call::wait).end;
      EXPECT_EQ(wait > 5e-3, is_above) << n_bytes << " bytes: " << wait << " s";
    }
  });
}

TEST(Limits, LargeMessagesTakeLonger) {
  on_pair([](Pair& pair) {
    const double small = ping_pong_seconds(pair, 8);
    const double large = ping_pong_seconds(pair, largest_message);
    EXPECT_GT(small, 0.0);
    EXPECT_GT(large, small);
  });
}

TEST(Blocking, LargeSynchronousSendsBlockAndPairsOfThemDeadlock) {
  on_pair([](Pair& pair) {
    const Json early = find_early_waits(pair);
    ASSERT_EQ(early.size(), all_send_modes.size());
    for (const Json& mode : early) {
      ASSERT_EQ(mode["sizes"].size(), Profile::n_sizes);
      for (const Json& row : mode["sizes"]) EXPECT_FALSE(row["is_damaged"].get<bool>());
      if (mode["mode"] == "synchronous") {
        EXPECT_TRUE(mode["sizes"].back()["wait_blocks"].get<bool>());
      }
    }
    const Json deadlocks = find_deadlocks(pair);
    EXPECT_TRUE(deadlocks.back()["would_deadlock"].get<bool>());
    EXPECT_FALSE(deadlocks.front()["would_deadlock"].get<bool>());
  });
}

TEST(Blocking, AMatchingWaitReleasesAndNothingDoesNot) {
  on_pair([](Pair& pair) {
    const Json releases = find_releases(pair, {.eager_bytes = 65'536});
    for (const Json& row : releases) {
      if (row["call"] == "Wait (matching)") {
        EXPECT_TRUE(row["releases"].get<bool>());
      }
      if (row["call"] == "nothing") {
        EXPECT_FALSE(row["releases"].get<bool>()) << row.dump();
      }
    }
  });
}

TEST(Overlap, FillsAProfile) {
  on_pair([](Pair& pair) {
    Profile profile;
    const Json rows = find_overlap(pair, profile);
    ASSERT_EQ(rows.size(), Profile::n_sizes);
    for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
      EXPECT_GT(profile.times[i].alone, 0.0);
      EXPECT_GE(profile.times[i].untested, 0.0);
      EXPECT_EQ(rows[i]["tests"].size(), 4U);
      EXPECT_FALSE(rows[i]["is_damaged"].get<bool>());
    }
    EXPECT_GT(profile.times.back().alone, profile.times.front().alone);
    const Json streams = find_streams(pair, profile);
    EXPECT_GE(profile.packet_bytes, 8192U);
    EXPECT_LE(profile.packet_bytes, 256U << 10U);
    EXPECT_GE(profile.ring_depth, 2U);
    EXPECT_LE(profile.ring_depth, 8U);
    EXPECT_EQ(streams["packet_bytes"], profile.packet_bytes);
    profile.is_measured = true;
    EXPECT_EQ(check_profile(pair, profile)["rows"].size(), 3U);
    for (MessageTimes& times : profile.times) times.alone *= 1000;
    EXPECT_FALSE(check_profile(pair, profile)["holds"].get<bool>());
  });
}

}  // namespace
}  // namespace barrio::probe
