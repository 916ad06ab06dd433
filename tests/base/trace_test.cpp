#include "barrio/base/trace.hpp"

#include <gtest/gtest.h>

#include <string>

namespace barrio {
namespace {

constexpr RegionName outer{"test.outer"};
constexpr RegionName inner{"test.inner"};

// A clock that advances only by hand, and counts its readings.
double clock_seconds = 0.0;
int clock_reads = 0;
double fake_clock() {
  ++clock_reads;
  return clock_seconds;
}

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    clock_seconds = 100.0;
    clock_reads = 0;
  }
};

void nest(Trace& trace) {
  const Region whole(trace, outer);
  clock_seconds += 1.0;
  for (int i = 0; i < 2; ++i) {
    const Region part(trace, inner);
    clock_seconds += 0.25;
  }
}

TEST_F(TraceTest, OffItKeepsNothingAndDoesNotLookAtTheClock) {
  Trace trace(Trace::Mode::off, &fake_clock);
  nest(trace);
  EXPECT_TRUE(trace.totals().empty());
  EXPECT_TRUE(trace.events().empty());
  EXPECT_EQ(clock_reads, 0);
}

TEST_F(TraceTest, TotalsAreInclusiveAndInTheOrderOfEntering) {
  Trace trace(Trace::Mode::totals, &fake_clock);
  nest(trace);
  nest(trace);
  const auto totals = trace.totals();
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].name, "test.outer");
  EXPECT_EQ(totals[0].count, 2U);
  EXPECT_DOUBLE_EQ(totals[0].seconds, 3.0);
  EXPECT_EQ(totals[1].name, "test.inner");
  EXPECT_EQ(totals[1].count, 4U);
  EXPECT_DOUBLE_EQ(totals[1].seconds, 1.0);
  EXPECT_TRUE(trace.events().empty());
  EXPECT_EQ(clock_reads, 2 * 6) << "two for each scope";
}

TEST_F(TraceTest, ARegionThatIsStillOpenIsNotInTheTotals) {
  Trace trace(Trace::Mode::totals, &fake_clock);
  const Region open(trace, outer);
  {
    const Region closed(trace, inner);
  }
  ASSERT_EQ(trace.totals().size(), 1U);
  EXPECT_EQ(trace.totals()[0].name, "test.inner");
}

TEST_F(TraceTest, EventsKeepEachScope) {
  Trace trace(Trace::Mode::events, &fake_clock);
  nest(trace);
  const auto& events = trace.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(trace.region_name(events[0].region), "test.inner");
  EXPECT_DOUBLE_EQ(events[0].begin_seconds, 101.0);
  EXPECT_DOUBLE_EQ(events[0].end_seconds, 101.25);
  EXPECT_DOUBLE_EQ(events[1].begin_seconds, 101.25);
  EXPECT_EQ(events[1].region, events[0].region);
  EXPECT_EQ(trace.region_name(events[2].region), "test.outer");
  EXPECT_DOUBLE_EQ(events[2].begin_seconds, 100.0);
  EXPECT_DOUBLE_EQ(events[2].end_seconds, 101.5);
  EXPECT_EQ(trace.totals().size(), 2U) << "totals are kept too";
}

TEST_F(TraceTest, WhatIsBesideTheThreadIsKeptForTheTimelineAlone) {
  for (const auto mode : {Trace::Mode::off, Trace::Mode::totals, Trace::Mode::events}) {
    Trace trace(mode, &fake_clock);
    trace.add_beside("disk", inner, 1.0, 2.5);
    trace.sample(outer, 42.0);
    EXPECT_TRUE(trace.totals().empty());
    EXPECT_TRUE(trace.events().empty());
    const std::size_t n_kept = mode == Trace::Mode::events ? 1 : 0;
    ASSERT_EQ(trace.events_beside().size(), n_kept);
    ASSERT_EQ(trace.samples().size(), n_kept);
    if (n_kept == 0) continue;
    EXPECT_STREQ(trace.events_beside()[0].track, "disk");
    EXPECT_DOUBLE_EQ(trace.events_beside()[0].end_seconds, 2.5);
    EXPECT_STREQ(trace.samples()[0].name, outer.text);
    EXPECT_DOUBLE_EQ(trace.samples()[0].value, 42.0);
  }
}

TEST_F(TraceTest, AScopeThatSawAChangeOfModeIsNotCounted) {
  Trace trace(Trace::Mode::off, &fake_clock);
  {
    const Region began_off(trace, outer);
    trace.set_mode(Trace::Mode::totals);
  }
  EXPECT_TRUE(trace.totals().empty());
  {
    const Region ends_off(trace, outer);
    trace.set_mode(Trace::Mode::off);
  }
  EXPECT_TRUE(trace.totals().empty());
}

TEST_F(TraceTest, EqualTextsAtTwoAddressesAreOneRegion) {
  Trace trace(Trace::Mode::totals, &fake_clock);
  const std::string one = "test.same";
  const std::string two = "test.same";
  ASSERT_NE(one.c_str(), two.c_str());
  trace.add({one.c_str()}, 1.0, 2.0);
  trace.add({two.c_str()}, 5.0, 5.5);
  ASSERT_EQ(trace.totals().size(), 1U);
  EXPECT_EQ(trace.totals()[0].count, 2U);
  EXPECT_DOUBLE_EQ(trace.totals()[0].seconds, 1.5);
}

TEST_F(TraceTest, AnExceptionEndsAScope) {
  Trace trace(Trace::Mode::totals, &fake_clock);
  try {
    const Region region(trace, outer);
    clock_seconds += 2.0;
    throw 1;
  } catch (int) {
  }
  ASSERT_EQ(trace.totals().size(), 1U);
  EXPECT_DOUBLE_EQ(trace.totals()[0].seconds, 2.0);
}

TEST(Trace, TheSteadyClockGoesForward) {
  const double before = Trace::steady_seconds();
  double after = before;
  for (int i = 0; i < 10'000'000 && after <= before; ++i) after = Trace::steady_seconds();
  EXPECT_GT(after, before);
}

}  // namespace
}  // namespace barrio
