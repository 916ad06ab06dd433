#include "barrio/probe/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/platform.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::probe {
namespace {

using barrio::test::world;

TEST(Probe, RefusesOneRank) {
  if (world().size() > 1) return;
  EXPECT_THROW(run(world(), {.depth = Depth::check}), AgreedError);
}

TEST(Probe, ChecksInUnderASecond) {
  if (world().size() < 2) return;
  const double limit_seconds = world().size() > 2 ? 5.0 : 1.0;
  double least = 10 * limit_seconds;
  for (int i = 0; i < 10 && least > limit_seconds; ++i) {  // other processes may use the cores for a while
    const Findings found = run(world(), {.depth = Depth::check});
    least = mpi::max(world(), std::min(least, found.document["seconds"].get<double>()));
    EXPECT_FALSE(found.document["check"]["has_profile"].get<bool>());
    EXPECT_FALSE(found.document.contains("limits"));
  }
  EXPECT_LT(least, limit_seconds);
}

TEST(Probe, FindsAllOnAllRanksAndAProfile) {
  if (world().size() < 2) return;
  Findings found = run(world());
  for (int i = 0; i < 9 && found.document["is_disturbed"].get<bool>(); ++i) found = run(world());
  if (found.document["is_disturbed"].get<bool>()) GTEST_SKIP() << "other work disturbs every probe on this host";
  EXPECT_FALSE(found.document.contains("not_tried"));
  for (const char* part : {"platform", "idle_calls", "latencies", "limits", "overlap", "streams", "blocking_calls",
                           "early_waits", "releases", "deadlocks", "figures", "programs", "profile"})
    EXPECT_TRUE(found.document.contains(part)) << part;
  EXPECT_TRUE(found.profile.is_measured);
  const auto mine = static_cast<std::int64_t>(found.profile.eager_bytes);
  EXPECT_EQ(mpi::max(world(), mine), mpi::min(world(), mine));
  std::set<std::string> figures;
  for (const Json& figure : found.document["figures"]) {
    figures.insert(figure["figure"].get<std::string>());
    EXPECT_EQ(figure["ranks"].size(), 2U);
    EXPECT_FALSE(figure["is_damaged"].get<bool>());
    for (const Json& calls : figure["ranks"]) EXPECT_GE(calls.size(), 3U);
  }
  for (const char* figure : {"3.2", "3.3", "3.4", "3.5", "3.6", "3.11", "3.12", "3.13"})
    EXPECT_TRUE(figures.contains(figure)) << figure;
  const Json& waits = found.document["programs"]["delayed_waits"];
  // Side 1 waits for side 0, which arrives at T2; their starts differ by some microseconds.
  EXPECT_GE(waits["before_seconds"].get<double>(), 0.9 * waits["t2_seconds"].get<double>());
  EXPECT_GE(waits["after_seconds"].get<double>(), 0.9 * waits["t2_seconds"].get<double>());
  // The written profile can be read.
  const Profile again = mpi::profile_from_json(mpi::to_json(found.profile));
  EXPECT_EQ(again.packet_bytes, found.profile.packet_bytes);
  EXPECT_EQ(again.times[3].alone, found.profile.times[3].alone);
}

TEST(Probe, NamesWhatItLeavesOutWhenTheTimeIsOver) {
  if (world().size() < 2) return;
  const Findings found = run(world(), {.depth = Depth::all, .max_seconds = 0.0});
  EXPECT_EQ(found.document["latencies"].size(), 1U);
  std::set<std::string> names;
  for (const Json& one : found.document["not_tried"]) {
    names.insert(one["name"].get<std::string>());
    EXPECT_FALSE(one["reason"].get<std::string>().empty());
    EXPECT_FALSE(found.document.contains(one["name"].get<std::string>()));
  }
  for (const char* part : {"limits", "overlap", "streams", "blocking_calls", "early_waits", "releases", "deadlocks",
                           "figures", "programs"})
    EXPECT_TRUE(names.contains(part)) << part;
  EXPECT_FALSE(has_profile(found.document));
  EXPECT_FALSE(found.profile.is_measured);
}

}  // namespace
}  // namespace barrio::probe
