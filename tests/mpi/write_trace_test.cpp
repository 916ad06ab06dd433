#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <thread>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/write_text.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

namespace fs = std::filesystem;

constexpr RegionName odd_name{"test \"quoted\" \\ name"};
constexpr RegionName step{"test.step"};

/// Make a new folder for each test, on all ranks.
fs::path fresh_folder(const std::string& name) {
  const fs::path folder = test::scratch() / name;
  if (test::world().is_root()) fs::create_directories(folder);
  barrier(test::world());
  return folder;
}

std::size_t n_files(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

/// Return the AgreedError of a trace that cannot be written. Every rank must get it.
AgreedError refused(Context& context, const fs::path& path) {
  try {
    write_trace(context, path);
  } catch (const AgreedError& error) {
    return error;
  }
  ADD_FAILURE() << "the trace was written to " << path;
  return {ErrorCode::ok, {.subject = "nothing", .cause = "is wrong"}};
}

TEST(WriteTrace, IsJsonWithOneTrackPerRank) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const int n = context.size();
  double begin = MPI_Wtime();
  broadcast(context, std::span(&begin, 1));
  // Rank r records r + 1 steps; a name that needs escapes on the last rank.
  for (int i = 0; i <= context.rank(); ++i) context.trace().add(step, begin + i, begin + i + 0.5);
  // An outer region begins before and ends after its inner ones.
  if (context.rank() == n - 1) context.trace().add(odd_name, begin - 2.0, begin + 100.0);

  const fs::path path = fresh_folder("trace") / "trace.json";
  write_trace(context, path);
  if (context.is_root()) {
    const Json events = read_json_file(path);
    std::map<int, std::string> tracks;
    std::map<int, int> steps;
    double earliest = 1e30;
    bool quoted = false;
    for (const Json& event : events) {
      const int track = event["tid"].get<int>();
      EXPECT_EQ(event["pid"], 0);
      if (event["ph"] == "M") {
        EXPECT_EQ(event["name"], "thread_name");
        EXPECT_TRUE(tracks.emplace(track, event["args"]["name"].get<std::string>()).second) << "named twice: " << track;
        continue;
      }
      EXPECT_EQ(event["ph"], "X");
      earliest = std::min(earliest, event["ts"].get<double>());
      if (event["name"] == step.text) {
        EXPECT_NEAR(event["ts"].get<double>(), 1e6 * (2 + steps[track]), 1.0) << "all tracks have one zero";
        ++steps[track];
        EXPECT_NEAR(event["dur"].get<double>(), 0.5e6, 1.0);
      } else {
        EXPECT_EQ(event["name"], odd_name.text);
        EXPECT_EQ(track, n - 1);
        EXPECT_NEAR(event["dur"].get<double>(), 102e6, 1.0);
        quoted = true;
      }
    }
    ASSERT_EQ(tracks.size(), static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r) {
      EXPECT_EQ(tracks[r], "rank " + std::to_string(r));
      EXPECT_EQ(steps[r], r + 1);
    }
    EXPECT_NEAR(earliest, 0.0, 1.0) << "times count from the first event of any rank, in microseconds";
    EXPECT_TRUE(quoted);
    EXPECT_EQ(n_files(path.parent_path()), 1U);
  }
  barrier(context);
}

TEST(WriteTrace, WorkBesideARankHasTracksAndNumbersHaveCurves) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const int n = context.size();
  double begin = MPI_Wtime();
  broadcast(context, std::span(&begin, 1));
  constexpr RegionName write{"test.write"};
  std::thread other([&] {
    context.trace().add_beside("disk", write, begin, begin + 1.0);
    context.trace().add_beside("other \"disk\"", write, begin + 1.0, begin + 3.0);
    context.trace().add_beside("disk", write, begin + 2.0, begin + 4.0);
  });
  other.join();
  context.trace().sample({"bytes"}, 7.0 + context.rank());
  EXPECT_TRUE(context.trace().totals().empty()) << "what is beside the thread is not its time";

  const fs::path path = fresh_folder("trace_beside") / "trace.json";
  write_trace(context, path);
  if (!context.is_root()) return;
  std::map<int, std::string> tracks;
  std::map<std::string, double> seconds;
  std::map<std::string, double> values;
  for (const Json& event : read_json_file(path)) {
    if (event["name"] == "thread_name") {
      EXPECT_TRUE(tracks.emplace(event["tid"].get<int>(), event["args"]["name"].get<std::string>()).second);
    }
    if (event["ph"] == "X") seconds[tracks.at(event["tid"].get<int>())] += event["dur"].get<double>() * 1e-6;
    if (event["ph"] == "C") values[event["name"].get<std::string>()] = event["args"]["value"].get<double>();
  }
  EXPECT_EQ(std::ssize(tracks), 3 * n);
  EXPECT_EQ(std::ssize(values), n);
  for (int r = 0; r < n; ++r) {
    const std::string rank = "rank " + std::to_string(r);
    EXPECT_NEAR(seconds.at(rank + ": disk"), 3.0, 1e-6);
    EXPECT_NEAR(seconds.at(rank + ": other \"disk\""), 2.0, 1e-6);
    EXPECT_DOUBLE_EQ(values.at(rank + ": bytes"), 7.0 + r);
  }
}

TEST(WriteTrace, RanksWithoutEventsHaveAnEmptyTrack) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const double begin = MPI_Wtime() - 1.0;
  if (context.rank() == context.size() - 1) context.trace().add(step, begin, begin + 0.5);
  const fs::path path = fresh_folder("sparse") / "trace.json";
  write_trace(context, path);
  if (context.is_root()) {
    const Json events = read_json_file(path);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(context.size()) + 1);
    EXPECT_NEAR(events.back()["ts"].get<double>(), 0.0, 1e-3);
  }
  barrier(context);
}

TEST(WriteTrace, ReplacesALongerFile) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const fs::path path = fresh_folder("longer") / "trace.json";
  if (context.is_root()) {
    std::ofstream(path) << std::string(1'000'000, 'x');
    std::ofstream(path.string() + ".part") << std::string(1'000'000, 'y');  // of a job that was killed
  }
  barrier(context);
  write_trace(context, path);
  if (context.is_root()) {
    EXPECT_EQ(read_json_file(path).size(), static_cast<std::size_t>(context.size()));
    EXPECT_EQ(n_files(path.parent_path()), 1U);
  }
  barrier(context);
}

TEST(WriteTrace, AMissingFolderIsOneErrorOnAllRanks) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const fs::path path = fresh_folder("present") / "absent" / "trace.json";
  const AgreedError error = refused(context, path);
  EXPECT_EQ(error.code(), ErrorCode::failed);
  EXPECT_EQ(error.subject(), path);
  EXPECT_EQ(error.cause().find("cannot be written: "), 0U) << error.cause();
  EXPECT_EQ(error.remedy(), "choose another path, or free space and check permissions");
  EXPECT_EQ(error.first_rank(), 0);
  barrier(context);
  EXPECT_FALSE(fs::exists(path.parent_path()));
  EXPECT_EQ(n_files(path.parent_path().parent_path()), 0U);
  barrier(context);
}

TEST(WriteTrace, AFolderAsTargetStaysAndTheTemporaryGoes) {
  Context context(test::world().comm(), {.trace = Trace::Mode::events});
  const fs::path folder = fresh_folder("taken");
  const fs::path path = folder / "trace.json";
  if (context.is_root()) {
    fs::create_directories(path);
    std::ofstream(path / "inside") << "kept";
  }
  barrier(context);
  const AgreedError error = refused(context, path);
  EXPECT_EQ(error.code(), ErrorCode::failed);
  EXPECT_EQ(error.cause(), "cannot be written: it is a folder");
  barrier(context);
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_TRUE(fs::exists(path / "inside"));
  EXPECT_EQ(n_files(folder), 1U);
  barrier(context);
}

TEST(WriteText, JoinsThePiecesInRankOrder) {
  Context& context = test::world();
  const fs::path path = fresh_folder("text") / "pieces.txt";
  const auto piece_of = [](int rank) {  // every third rank has an empty piece
    return rank % 3 == 1 ? std::string()
                         : std::string(static_cast<std::size_t>(rank) * 1000 + 1, static_cast<char>('a' + rank));
  };
  write_text(context, path, piece_of(context.rank()));
  if (context.is_root()) {
    std::string wanted;
    for (int r = 0; r < context.size(); ++r) wanted += piece_of(r);
    std::ifstream file(path);
    EXPECT_TRUE(wanted == std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_EQ(n_files(path.parent_path()), 1U);
  }
  barrier(context);
}

TEST(WriteText, LeavesAPipeWhereItIs) {  // instead of /dev/null, which a fault here would delete for the machine
  Context& context = test::world();
  const fs::path path = fresh_folder("device") / "pipe";
  if (context.is_root()) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0) << path << ": " << std::strerror(errno);
  }
  barrier(context);
  EXPECT_EQ(refused(context, path).cause(), "cannot be written: it is a device or a pipe, not a file");
  barrier(context);
  EXPECT_TRUE(fs::is_fifo(path));
  barrier(context);
}

}  // namespace
}  // namespace barrio::mpi
