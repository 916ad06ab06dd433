#include "barrio/files/writer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "barrio/base/error.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::files {
namespace {

using test::world;
namespace fs = std::filesystem;

/// Count the names of unfinished files in a folder.
int n_leftovers(const fs::path& folder) {
  int n = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    n += entry.path().string().find(".part") != std::string::npos ? 1 : 0;
  return n;
}

fs::path place(const std::string& name) {
  const fs::path folder = test::scratch() / "writer";
  if (world().rank() == 0) fs::create_directories(folder);
  mpi::barrier(world());
  return folder / name;
}

void put_old_file(const fs::path& path) {
  if (world().rank() == 0) std::ofstream(path) << "the old file";
  mpi::barrier(world());
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FileWriter, WritesRowsOfAllRanks) {
  const fs::path path = place("rows.h5");
  put_old_file(path);
  constexpr std::int64_t n = 29;
  const Slabs slabs{n, world().size()};
  const std::int64_t first = slabs.first(world().rank());
  std::vector<std::int64_t> mine(slabs.size(world().rank()));
  std::iota(mine.begin(), mine.end(), 10 * first);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = 10 * (first + static_cast<std::int64_t>(i));
  std::vector<double> pairs;
  for (const std::int64_t value : mine) pairs.insert(pairs.end(), {0.5 * static_cast<double>(value), -1.0});
  FileWriter writer(world(), path.string(), 4096);
  mpi::barrier(world());
  EXPECT_EQ(text_of(path), "the old file") << "the new file shows before it is complete";
  mpi::barrier(world());
  writer.make_group("/tables");
  writer.write_rows<std::int64_t>("/tables/integers", n, 0, first, mine);
  writer.write_rows<double>("/tables/pairs", n, 2, first, pairs);
  writer.write_rows<double>("/tables/nothing", 0, 0, 0, std::span<const double>());
  const std::vector<std::int32_t> small{3, 1, 2};
  writer.write_small<std::int32_t>("/deep/below/small", small);
  writer.write_attribute("/tables/integers", "start_id", std::int64_t{7});
  writer.write_attribute("/tables", "Type", std::string("A text"));
  const FileWriter::Rows rows = writer.make_growing("/growing", H5T_NATIVE_DOUBLE, 0, 8);
  for (std::int64_t step = 0; step < 3; ++step) {
    std::vector<double> values(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) values[i] = static_cast<double>(step * 1000 + mine[i]);
    writer.grow(rows, (step + 1) * n);
    writer.put_rows<double>(rows, step * n + first, values);
  }
  writer.close();
  if (world().rank() != 0) return;
  EXPECT_EQ(n_leftovers(path.parent_path()), 0);
  const Handle file = open_to_read(path.string());
  const auto integers = read_integers(file.get(), "/tables/integers");
  const auto reals = read_reals(file.get(), "/tables/pairs");
  const auto growing = read_reals(file.get(), "/growing");
  ASSERT_EQ(integers.size(), 29U);
  ASSERT_EQ(reals.size(), 58U);
  ASSERT_EQ(growing.size(), 87U);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(integers[i], 10 * static_cast<std::int64_t>(i));
    EXPECT_EQ(reals[2 * i], 5.0 * static_cast<double>(i));
    EXPECT_EQ(growing[58 + i], 2000.0 + 10.0 * static_cast<double>(i));
  }
  EXPECT_EQ(read_integers(file.get(), "/deep/below/small"), (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(read_attribute(file.get(), "/tables/integers", "start_id"), std::vector<std::int64_t>{7});
}

TEST(FileWriter, PutsRowsAsTheyCome) {
  const fs::path path = place("put.h5");
  constexpr std::int64_t n = 29;
  FileWriter writer(world(), path.string(), 4096);
  const FileWriter::Rows pairs = writer.make_rows<double>("/tables/pairs", n, 2);
  const FileWriter::Rows integers = writer.make_rows<std::int64_t>("/integers", n);
  const FileWriter::Rows nothing = writer.make_rows<std::int32_t>("/nothing", 0);
  // Three rows at a time, from the end. Ranks put pieces in turn, independent of the distribution.
  std::int64_t piece = 0;
  for (std::int64_t first = n - n % 3; first >= 0; first -= 3, ++piece) {
    if (piece % world().size() != world().rank()) continue;
    std::vector<double> x;
    std::vector<std::int64_t> i;
    for (std::int64_t row = first; row < std::min(first + 3, n); ++row) {
      x.insert(x.end(), {0.5 * static_cast<double>(row), -1.0});
      i.push_back(row * row);
    }
    writer.put_rows<double>(pairs, first, x);
    writer.put_rows<std::int64_t>(integers, first, i);
  }
  writer.put_rows<std::int32_t>(nothing, 0, std::span<const std::int32_t>());
  const std::vector<double> origin{0.5, -1.0, 1e300};
  writer.write_attribute("/tables", "Origin", std::span<const double>(origin));
  writer.close();
  if (world().rank() != 0) return;
  const Handle file = open_to_read(path.string());
  const auto x = read_reals(file.get(), "/tables/pairs");
  const auto i = read_integers(file.get(), "/integers");
  ASSERT_EQ(x.size(), 2U * n);
  ASSERT_EQ(i.size(), std::size_t{n});
  for (std::size_t row = 0; row < i.size(); ++row) {
    EXPECT_EQ(x[2 * row], 0.5 * static_cast<double>(row));
    EXPECT_EQ(i[row], static_cast<std::int64_t>(row * row));
  }
  const Handle attribute(H5Aopen_by_name(file.get(), "/tables", "Origin", H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
  std::vector<double> found(3);
  ASSERT_GE(H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, found.data()), 0);
  EXPECT_EQ(found, origin);
}

// Equal contents give equal bytes, at any time and on any number of ranks.
TEST(FileWriter, KeepsNoTimes) {
  std::vector<std::string> texts;
  for (const char* name : {"early.h5", "late.h5"}) {
    const fs::path path = place(name);
    FileWriter writer(world(), path.string(), 4096);
    writer.make_group("/group");
    writer.commit_type("/group/type", H5T_NATIVE_INT32);
    writer.write_small<double>("/below/deep/small", std::vector<double>{1.5, 2.5});
    const FileWriter::Rows rows = writer.make_growing("/growing", H5T_NATIVE_INT64, 0, 4);
    writer.grow(rows, 4);  // a whole chunk: bytes after the last row of a chunk are undefined
    if (world().is_root()) writer.put_rows<std::int64_t>(rows, 0, std::vector<std::int64_t>{1, 2, 3, 4});
    writer.close();
    texts.push_back(text_of(path));
    if (texts.size() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times are in seconds
    mpi::barrier(world());
  }
  EXPECT_TRUE(texts[0] == texts[1]);
}

TEST(FileWriter, RowsThatAreNotPutOnceEach) {
  const fs::path path = place("not_once.h5");
  constexpr std::int64_t n = 12;
  const Rank last = world().size() - 1;
  struct Run {
    std::int64_t first;
    std::int64_t count;
  };
  const auto cause = [&](const std::vector<Run>& of_root, const std::vector<Run>& of_last) {
    put_old_file(path);
    std::string said = "none";
    {
      FileWriter writer(world(), path.string(), 4096);
      const FileWriter::Rows rows = writer.make_rows<double>("/rows", n);
      const std::vector<double> zeros(2 * n);
      const auto put = [&](const std::vector<Run>& runs) {
        for (const Run& run : runs) writer.put_rows<double>(rows, run.first, std::span(zeros).first(run.count));
      };
      if (world().is_root()) put(of_root);
      if (world().rank() == last) put(of_last);
      try {
        writer.close();
      } catch (const AgreedError& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(error.subject().find("/rows"), std::string::npos) << error.subject();
        said = error.cause();
      }
    }
    mpi::barrier(world());
    if (said != "none") {
      EXPECT_EQ(text_of(path), "the old file");
      EXPECT_EQ(n_leftovers(path.parent_path()), 0);
    }
    mpi::barrier(world());
    return said;
  };
  EXPECT_EQ(cause({{0, 5}}, {{5, 7}}), "none");
  EXPECT_EQ(cause({{3, 2}, {0, 3}}, {{9, 3}, {5, 4}}), "none");
  EXPECT_EQ(cause({{0, 5}}, {{5, 6}}), "11 rows were put, but there are 12");
  EXPECT_EQ(cause({{0, 5}}, {{4, 8}}), "13 rows were put, but there are 12");
  EXPECT_EQ(cause({{0, 5}}, {{4, 7}}), "some rows were put twice and others never");
  EXPECT_EQ(cause({{0, 6}}, {{0, 6}}), "some rows were put twice and others never");
  EXPECT_EQ(cause({{0, 5}}, {{5, 8}}), "rows 5 to 12 are put, but there are 12");
  EXPECT_EQ(cause({}, {}), "0 rows were put, but there are 12");
}

TEST(FileWriter, NumbersThatAreNoRows) {
  const fs::path path = place("no_rows.h5");
  const bool is_last = world().rank() == world().size() - 1;
  const auto cause = [&](auto&& put) {
    FileWriter writer(world(), path.string(), 4096);
    const FileWriter::Rows rows = writer.make_rows<double>("/rows", 4, 2);
    if (is_last) put(writer, rows);
    try {
      writer.close();
    } catch (const AgreedError& error) {
      return error.cause();
    }
    return std::string("none");
  };
  const std::vector<double> five(5);
  const std::vector<float> eight(8);
  const std::vector<std::int64_t> integers(8);
  EXPECT_EQ(cause([&](auto& writer, auto& rows) { writer.template put_rows<double>(rows, 0, five); }),
            "5 numbers are put that are not rows of 2 of the dataset's type");
  for (const std::string& said :
       {cause([&](auto& writer, auto& rows) { writer.template put_rows<float>(rows, 0, eight); }),
        cause([&](auto& writer, auto& rows) { writer.template put_rows<std::int64_t>(rows, 0, integers); })})
    EXPECT_EQ(said, "8 numbers are put that are not rows of 2 of the dataset's type");
}

TEST(FileWriter, WithoutCloseTheOldFileStays) {
  const fs::path path = place("forgotten.h5");
  put_old_file(path);
  {
    FileWriter writer(world(), path.string(), 4096);
    writer.make_group("/something");
  }
  mpi::barrier(world());
  EXPECT_EQ(text_of(path), "the old file");
  EXPECT_EQ(n_leftovers(path.parent_path()), 0);
}

/// Return the message and code of a writer that cannot begin.
std::string refusal(const std::string& path, std::uint64_t bytes = 4096) {
  try {
    FileWriter writer(world(), path, bytes);
    return "none";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.subject(), path);
    EXPECT_FALSE(error.remedy().empty());
    return std::to_string(exit_code(error.code())) + ": " + error.cause();
  }
}

TEST(FileWriter, PlacesThatCannotBeWritten) {
  const fs::path path = place("file");
  put_old_file(path);
  const fs::path folder = path.parent_path();
  EXPECT_EQ(refusal(folder / "missing" / "x.h5"), "1: cannot be written: No such file or directory");
  EXPECT_EQ(refusal(path / "x.h5"), "1: cannot be written: Not a directory");
  EXPECT_EQ(refusal("/proc/x.h5"), "1: cannot be written: No such file or directory");
  EXPECT_EQ(refusal(folder), "1: cannot be written: it is a folder");
  const fs::path pipe = place("pipe");  // instead of /dev/null, which a fault here would delete for the whole machine
  if (world().rank() == 0) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  }
  mpi::barrier(world());
  EXPECT_EQ(refusal(pipe), "1: cannot be written: it is a device or a pipe, not a file");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(text_of(path), "the old file");
  mpi::barrier(world());
  EXPECT_EQ(n_leftovers(folder), 0);
}

TEST(FileWriter, ReplacesWhatAKilledJobHasLeft) {
  const fs::path path = place("left.h5");
  put_old_file(path.string() + ".part");
  FileWriter writer(world(), path.string(), 4096);
  const std::vector<double> mine(3, 0.5 + world().rank());
  writer.write_rows<double>("/x", 3 * world().size(), 0, 3 * world().rank(), mine);
  EXPECT_NE(refusal(path, 4096).find("another job is writing to"), std::string::npos);
  writer.close();
  const Handle file = open_to_read(path.string());
  EXPECT_EQ(read_reals(file.get(), "/x", {3 * world().rank(), 3}), mine);
  mpi::barrier(world());
  EXPECT_EQ(n_leftovers(path.parent_path()), 0);
}

// A file that outgrows its announced size reserves space again, before HDF5 writes.
TEST(FileWriter, SpaceIsAskedForAgain) {
  const fs::path path = place("grows.h5");
  put_old_file(path);
  try {
    FileWriter writer(world(), path.string(), 4096);
    const std::vector<double> nothing;
    writer.write_rows<double>("/huge", std::int64_t{1} << 58U, 0, 0, nothing);
    FAIL() << "there was room for 2^61 bytes";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(error.cause().find("for 2048.0 PiB"), std::string::npos) << error.what();
  }
  EXPECT_EQ(text_of(path), "the old file");
  mpi::barrier(world());
  EXPECT_EQ(n_leftovers(path.parent_path()), 0);
}

TEST(FileWriter, SpaceIsAskedForFirst) {
  const fs::path path = place("huge.h5");
  put_old_file(path);
  const std::string found = refusal(path, std::uint64_t{1} << 62U);
  EXPECT_TRUE(found.starts_with("1: cannot be written: ")) << found;
  EXPECT_NE(found.find("for 4096.0 PiB"), std::string::npos) << found;
  EXPECT_EQ(text_of(path), "the old file");
  mpi::barrier(world());
  EXPECT_EQ(n_leftovers(path.parent_path()), 0);
}

}  // namespace
}  // namespace barrio::files
