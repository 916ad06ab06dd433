#include "barrio/probe/experiments/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "barrio/probe/experiments/blocking.hpp"
#include "barrio/probe/experiments/overlap.hpp"
#include "barrio/probe/experiments/script.hpp"
#include "tests/probe/two_ranks.hpp"

namespace barrio::probe {
namespace {

using test::in_one_of_four;
using test::on_pair;

/// Measure how long a send waits for a receiver that calls MPI, but posts its receive only after 10 ms.
double wait_of_send(Pair& pair, std::size_t n_bytes) {
  Script script;
  const int message = script.add({.from = 0, .n_bytes = n_bytes});
  script.then(0, {Call::isend, message}).then(0, {Call::wait, message});
  for (int i = 0; i < 100; ++i)
    script.then(1, {.call = Call::iprobe}).then(1, {.call = Call::compute, .seconds = 1e-4});
  script.then(1, {Call::irecv, message}).then(1, {Call::wait, message});
  return run(pair, script).find(0, Call::wait).end;
}

TEST(Limits, AreWhatOneScriptAfterTheOtherShows) {
  on_pair([](Pair& pair) {
    EXPECT_TRUE(in_one_of_four(pair, [&] {
      const MessageLimits limits = find_limits(pair);
      if (!limits.are_found()) return false;  // the same on both sides
      EXPECT_EQ(pair.swap(static_cast<double>(*limits.eager_bytes)), static_cast<double>(*limits.eager_bytes));
      EXPECT_LE(*limits.arriving_bytes, largest_message);
      // Every MPI buffers a few bytes, but not megabytes.
      EXPECT_LT(*limits.eager_bytes, largest_message);
      if (*limits.eager_bytes < 64 || *limits.at_once < 1) return false;
      // A send that does not need the receiver at all does not need its receive.
      if (*limits.detached_bytes > *limits.eager_bytes) return false;
      constexpr double long_wait_seconds = 5e-3;
      return wait_of_send(pair, *limits.eager_bytes / 4) < long_wait_seconds &&
             wait_of_send(pair, 4 * *limits.eager_bytes) > long_wait_seconds;
    }));
  });
}

TEST(Limits, LargeMessagesTakeLonger) {
  on_pair([](Pair& pair) {
    EXPECT_TRUE(in_one_of_four(pair, [&] {
      const double small = ping_pong_seconds(pair, 8);
      const double large = ping_pong_seconds(pair, largest_message);
      EXPECT_GT(small, 0.0);
      return large > small;
    }));
  });
}

TEST(Blocking, LargeSynchronousSendsBlockAndPairsOfThemDeadlock) {
  on_pair([](Pair& pair) {
    const Json early = find_early_waits(pair);
    ASSERT_EQ(early.size(), all_send_modes.size());
    for (const Json& mode : early) {
      ASSERT_EQ(mode["sizes"].size(), Profile::n_sizes);
      for (const Json& row : mode["sizes"]) EXPECT_FALSE(row["is_damaged"].get<bool>());
    }
    EXPECT_TRUE(in_one_of_four(pair, [&] {
      const Json again = find_early_waits(pair);
      return again[2]["mode"] == "synchronous" && again[2]["sizes"].back()["wait_blocks"].get<bool>();
    }));
    const Json deadlocks = find_deadlocks(pair);
    EXPECT_TRUE(deadlocks.back()["would_deadlock"].get<bool>());
    EXPECT_FALSE(deadlocks.front()["would_deadlock"].get<bool>());
  });
}

TEST(Blocking, AMatchingWaitReleasesAndNothingDoesNot) {
  on_pair([](Pair& pair) {
    // Each row must be right in some attempt: with more ranks than cores, a rank is late in nearly every attempt.
    std::set<std::string> seen_right;
    EXPECT_TRUE(in_one_of_four(pair, [&] {
      MessageLimits limits;
      limits.eager_bytes = 65'536;
      for (const Json& row : find_releases(pair, limits)) {
        const auto call = row["call"].get<std::string>();
        const bool expected = call == "Wait (matching)" && row["stalls"].get<bool>();
        if (row["releases"].get<bool>() == expected) seen_right.insert(call + row["bytes"].dump());
      }
      const auto n_right_of = [&](std::string_view call) {
        return std::ranges::count_if(seen_right, [&](const std::string& name) { return name.starts_with(call); });
      };
      return n_right_of("Wait (matching)") == 2 && n_right_of("nothing") == 2;
    }));
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
