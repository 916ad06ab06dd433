#include "barrio/mpi/report.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

constexpr RegionName on_all{"test.all"};
constexpr RegionName on_last{"test.last"};
constexpr RegionName on_odd{"test.odd"};

/// Record times: rank r spends r + 1 seconds in `all` in two entries, odd ranks 4 s in `odd`, and the last rank 8 s in
/// `last`, which it enters first.
void spend(Context& context) {
  const int rank = context.rank();
  if (rank == context.size() - 1) context.trace().add(on_last, 0.0, 8.0);
  context.trace().add(on_all, 1.0, 1.25);
  context.trace().add(on_all, 2.0, 2.75 + rank);
  if (rank % 2 == 1) context.trace().add(on_odd, 10.0, 14.0);
}

TEST(Summarise, GivesMinMeanAndMaxOverAllRanks) {
  Context context(test::world().comm());
  const int n = context.size();
  spend(context);
  const std::vector<RegionSummary> summary = summarise(context);
  if (!context.is_root()) {
    EXPECT_TRUE(summary.empty());
    return;
  }
  const auto find = [&](RegionName name) -> RegionSummary {
    for (const RegionSummary& region : summary)
      if (region.name == name.text) return region;
    return {};
  };
  ASSERT_EQ(summary.size(), n == 1 ? 2U : 3U);

  const RegionSummary all = find(on_all);
  EXPECT_EQ(all.count, 2U * static_cast<std::uint64_t>(n));
  EXPECT_EQ(all.n_ranks, n);
  EXPECT_DOUBLE_EQ(all.min_seconds, 1.0);
  EXPECT_DOUBLE_EQ(all.mean_seconds, 0.5 * (n + 1));
  EXPECT_DOUBLE_EQ(all.max_seconds, n);

  const RegionSummary last = find(on_last);
  EXPECT_EQ(last.count, 1U);
  EXPECT_EQ(last.n_ranks, 1);
  EXPECT_DOUBLE_EQ(last.min_seconds, n == 1 ? 8.0 : 0.0) << "a rank that did not enter spent no time";
  EXPECT_DOUBLE_EQ(last.mean_seconds, 8.0 / n);
  EXPECT_DOUBLE_EQ(last.max_seconds, 8.0);

  const RegionSummary odd = find(on_odd);
  EXPECT_EQ(odd.n_ranks, n / 2);
  EXPECT_DOUBLE_EQ(odd.min_seconds, 0.0);
  EXPECT_DOUBLE_EQ(odd.mean_seconds, 4.0 * (n / 2) / n);
  EXPECT_DOUBLE_EQ(odd.max_seconds, n == 1 ? 0.0 : 4.0);

  // The time of each rank, 0 for ranks that did not enter.
  ASSERT_EQ(all.of_rank.size(), static_cast<std::size_t>(n));
  std::vector<double> wanted_of_last(n, 0.0);
  wanted_of_last.back() = 8.0;
  EXPECT_EQ(last.of_rank, wanted_of_last);
  for (int r = 0; r < n; ++r) EXPECT_DOUBLE_EQ(all.of_rank[static_cast<std::size_t>(r)], r + 1.0);

  // Regions of rank 0 come first, in its order.
  EXPECT_EQ(summary.front().name, n == 1 ? on_last.text : on_all.text);
}

TEST(Summarise, IsEmptyWhereNothingWasTraced) {
  Context context(test::world().comm(), {.trace = Trace::Mode::off});
  {
    const Region region(context.trace(), on_all);
  }
  EXPECT_TRUE(summarise(context).empty());
}

TEST(Summary, IsWrittenAsTableAndJson) {
  const std::vector<RegionSummary> summary{{.name = "mesh.resolve",
                                            .count = 8,
                                            .n_ranks = 4,
                                            .min_seconds = 0.5,
                                            .mean_seconds = 1,
                                            .max_seconds = 2,
                                            .of_rank = {0.5, 2}}};
  EXPECT_EQ(format_summary(summary),
            "region             min s     mean s      max s   entries\n"
            "mesh.resolve      0.5000     1.0000     2.0000         8\n");
  EXPECT_EQ(
      to_json(summary).dump(),
      R"([{"name":"mesh.resolve","entries":8,"ranks":4,"min_seconds":0.5,"mean_seconds":1.0,"max_seconds":2.0,"seconds_of_rank":[0.5,2.0]}])");
  EXPECT_EQ(to_json({}).dump(), "[]");
}

TEST(Document, TellsHowToRepeatTheRun) {
  Context& context = test::world();
  const Json made = document(context, "barrio.test", 2, 99);
  std::vector<std::string> keys;
  for (const auto& item : made.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"schema", "schema_version", "barrio", "commit", "compiler", "build", "host",
                                            "time", "mpi", "ranks", "nodes", "cores_of_rank_0", "seed"}));
  EXPECT_EQ(made["schema"], "barrio.test");
  EXPECT_EQ(made["schema_version"], 2);
  EXPECT_EQ(made["ranks"], context.size());
  EXPECT_EQ(made["nodes"], find_node(context).n_nodes);
  EXPECT_GE(made["cores_of_rank_0"].get<int>(), 1);
  EXPECT_EQ(made["seed"], 99);
  EXPECT_EQ(made["mpi"], mpi_library());
  // The same on all ranks, including the time of day.
  std::string of_root = made.dump();
  broadcast(context, of_root);
  EXPECT_EQ(made.dump(), of_root);
}

TEST(MpiLibrary, IsOneLineThatNamesTheFlavourWeWereBuiltFor) {
  const std::string line = mpi_library();
  EXPECT_EQ(line.find_first_of("\n\t"), std::string::npos) << line;
  const std::string flavour = BARRIO_MPI_FLAVOUR;
  if (flavour == "openmpi") {
    EXPECT_NE(line.find("Open MPI"), std::string::npos) << line;
  }
  if (flavour == "mpich") {
    EXPECT_NE(line.find("MPICH"), std::string::npos) << line;
  }
  EXPECT_FALSE(line.empty());
}

}  // namespace
}  // namespace barrio::mpi
