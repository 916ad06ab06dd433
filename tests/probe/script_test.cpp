#include "barrio/probe/experiments/script.hpp"

#include <gtest/gtest.h>

#include "barrio/base/error.hpp"
#include "tests/probe/two_ranks.hpp"

namespace barrio::probe {
namespace {

using test::in_one_of_four;
using test::on_pair;

constexpr std::size_t large = std::size_t{4} << 20U;  // above any eager limit
constexpr Step short_step{.call = Call::compute, .seconds = 2e-3};
// The two sides leave their meeting some microseconds apart, or more if one is interrupted.
constexpr double nearly_a_step = 0.8 * short_step.seconds;

TEST(Pair, NeedsTwoRanks) {
  if (barrio::test::world().size() > 1) return;
  try {
    Pair pair(barrio::test::world());
    FAIL() << "one rank is no pair";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.cause().find("two ranks"), std::string::npos);
  }
}

TEST(Pair, HasTwoSidesAndLeavesTheOthersOut) {
  if (barrio::test::world().size() < 2) return;
  Pair pair(barrio::test::world());
  EXPECT_EQ(pair.takes_part(), barrio::test::world().rank() < 2);
  if (!pair.takes_part()) return;
  EXPECT_EQ(pair.side(), barrio::test::world().rank());
  EXPECT_EQ(pair.swap(10.0 + pair.side()), 10.0 + pair.other());
  EXPECT_EQ(pair.max(pair.side()), 1.0);
}

TEST(Script, BothSidesSeeWhatBothDid) {
  on_pair([](Pair& pair) {
    Script script;
    const int message = script.add({.from = 0, .n_bytes = 100});
    script.then(0, short_step).then(0, {Call::isend, message}).then(0, {Call::wait, message});
    script.then(1, {Call::irecv, message}).then(1, {Call::wait, message});
    Timeline timeline;
    // The receiver posts its receive at once, unless it loses its core, and waits for a sender that computes first.
    EXPECT_TRUE(in_one_of_four(pair, [&] {
      timeline = run(pair, script);
      return timeline.find(1, Call::irecv).end < nearly_a_step;
    }));
    EXPECT_FALSE(timeline.is_stalled);
    EXPECT_FALSE(timeline.is_damaged);
    ASSERT_EQ(timeline.calls[0].size(), 3U);
    ASSERT_EQ(timeline.calls[1].size(), 2U);
    EXPECT_GE(timeline.find(0, Call::compute).seconds(), short_step.seconds);
    EXPECT_GE(timeline.find(1, Call::wait).end, nearly_a_step);
    double end = 0.0;
    for (const TimedCall& call : timeline.calls[0]) {
      EXPECT_LE(end, call.begin);
      EXPECT_LE(call.begin, call.end);
      end = call.end;
    }
    // The same on both sides.
    EXPECT_EQ(pair.swap(timeline.end()), timeline.end());
  });
}

TEST(Script, SynchronousSendsWaitForTheirReceivers) {
  on_pair([](Pair& pair) {
    Script script;
    const int message = script.add({.from = 0, .n_bytes = 8, .mode = SendMode::synchronous});
    script.then(0, {Call::isend, message}).then(0, {Call::wait, message});
    script.then(1, short_step).then(1, {Call::irecv, message}).then(1, {Call::wait, message});
    const Timeline timeline = run(pair, script);
    EXPECT_GE(timeline.find(0, Call::wait).end, nearly_a_step);
  });
}

TEST(Script, BufferedAndReadySendsArrive) {
  on_pair([](Pair& pair) {
    for (const SendMode mode : all_send_modes) {
      Script script;
      const int message = script.add({.from = 1, .n_bytes = 50'000, .mode = mode});
      script.then(0, {Call::irecv, message}).then(0, {Call::wait, message});
      script.then(1, {.call = Call::compute, .seconds = 1e-3})
          .then(1, {Call::isend, message})
          .then(1, {Call::wait, message});
      const Timeline timeline = run(pair, script);
      EXPECT_FALSE(timeline.is_damaged) << name_of(mode);
      EXPECT_FALSE(timeline.is_stalled) << name_of(mode);
    }
  });
}

TEST(Script, APairThatWouldWaitForEverIsGivenUpAndGoesOn) {
  on_pair([](Pair& pair) {
    for (const std::size_t n_bytes : {std::size_t{8}, large}) {
      Script script;
      const int there = script.add({.from = 0, .n_bytes = n_bytes});
      const int back = script.add({.from = 1, .n_bytes = n_bytes});
      script.then(0, {Call::isend, there}).then(0, {Call::wait, there}).then(0, {Call::irecv, back});
      script.then(1, {Call::isend, back}).then(1, {Call::wait, back}).then(1, {Call::irecv, there});
      script.both({Call::wait_all});
      const Timeline timeline = run(pair, script, {.n_trials = 2, .stall_seconds = 0.05});
      EXPECT_EQ(timeline.is_stalled, n_bytes == large);
      EXPECT_FALSE(timeline.is_damaged) << "messages arrive after all";
    }
  });
}

TEST(Script, MessagesWithoutAReceiveAreTakenInAfterwards) {
  on_pair([](Pair& pair) {
    Script script;
    const int message = script.add({.from = 0, .n_bytes = 64});
    script.then(0, {Call::isend, message}).then(1, {.call = Call::iprobe});
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(run(pair, script).is_damaged);
  });
}

TEST(Timeline, FindsCallsByKindAndAddsThemUp) {
  Timeline timeline;
  timeline.calls[0] = {{Call::wait, 0, 0.0, 1.0}, {Call::compute, -1, 1.0, 3.0}, {Call::wait, 1, 3.0, 3.5}};
  EXPECT_EQ(timeline.find(0, Call::wait, 1).begin, 3.0);
  EXPECT_EQ(timeline.find(1, Call::wait).seconds(), 0.0);
  EXPECT_DOUBLE_EQ(timeline.total(0, Call::wait), 1.5);
  EXPECT_EQ(timeline.end(), 3.5);
  EXPECT_EQ(timeline.end_of(1), 0.0);
}

}  // namespace
}  // namespace barrio::probe
