// Damaged and wrong netCDF files: one clear message, the same on every rank.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

#include "barrio/files/netcdf.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/exodus/exodus_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::expect_refusal;
using test::NetcdfContents;
using test::NetcdfFormat;
using test::verdict;
using test::world;
namespace fs = std::filesystem;
using Integers = std::vector<int>;
using Reals = std::vector<double>;

class BadExodus : public testing::TestWithParam<NetcdfFormat> {
 protected:
  static fs::path written(const NetcdfContents& contents) { return test::write_anew(contents, GetParam(), ".e"); }
  static void expect(const std::string& cause, const std::function<void(NetcdfContents&)>& spoil) {
    test::expect_spoilt(test::exodus_sample(), GetParam(), ".e", cause, spoil);
  }
  template <class Values>
  static Values& values(NetcdfContents& contents, const std::string& name) {
    return std::get<Values>(contents[name].values);
  }
};

TEST_P(BadExodus, TheFileItselfIsSound) { EXPECT_EQ(verdict(written(test::exodus_sample())), "sound"); }

TEST_P(BadExodus, NumbersMakeNoSense) {
  expect("element 1 of element block 20 'air' has node 14, but the nodes are 1 to 13",
         [](auto& file) { values<Integers>(file, "connect2")[3] = 14; });
  expect("element 1 of element block 10 'steel' has node 0, but the nodes are 1 to 13",
         [](auto& file) { values<Integers>(file, "connect1")[0] = 0; });
  expect("a coordinate of vertex 12 is not a finite number",
         [](auto& file) { values<Reals>(file, "coordz")[12] = std::numeric_limits<double>::quiet_NaN(); });
  expect("node set 5 'fixed' has node 14, but the nodes are 1 to 13",
         [](auto& file) { values<Integers>(file, "node_ns1")[4] = 14; });
  expect("node set 5 'fixed' has node -2, but the nodes are 1 to 13",
         [](auto& file) { values<Integers>(file, "node_ns1")[0] = -2; });
  expect("side set 100 'inlet' has element 0, but the elements are 1 to 4",
         [](auto& file) { values<Integers>(file, "elem_ss1")[0] = 0; });
  expect("side set 200 has element 5, but the elements are 1 to 4",
         [](auto& file) { values<Integers>(file, "elem_ss2")[6] = 5; });
  expect("side set 200 has side 9 of element 2, which is in element block 20 'air' and has sides 1 to 6",
         [](auto& file) { values<Integers>(file, "side_ss2")[3] = 9; });
  expect("side set 300 has side 0 of element 1", [](auto& file) { values<Integers>(file, "side_ss3")[0] = 0; });
}

TEST_P(BadExodus, TablesAreMissingOrOfTheWrongKind) {
  expect("has no element blocks", [](auto& file) { file.remove("eb_prop1"); });
  expect("has no coordinates", [](auto& file) { file.remove("coordx"); });
  expect("element block 20 'air' has no elements: variable 'connect2' is missing",
         [](auto& file) { file.remove("connect2"); });
  expect("side set 200 must have as many sides as elements", [](auto& file) {
    values<Integers>(file, "side_ss2").pop_back();
    file["side_ss2"].shape[0] = 6;
  });
  expect("variable 'coordz' must have as many numbers as coordx", [](auto& file) {
    values<Reals>(file, "coordz").pop_back();
    file["coordz"].shape[0] = 12;
  });
  expect("variable 'elem_num_map' must have as many numbers as there are elements", [](auto& file) {
    values<Integers>(file, "elem_num_map").pop_back();
    file["elem_num_map"].shape[0] = 3;
  });
  expect("variable 'vals_nod_var1' must have as many numbers as there are nodes", [](auto& file) {
    values<Reals>(file, "vals_nod_var1").resize(12);
    file["vals_nod_var1"].shape[1] = 6;
  });
  expect("variable 'vals_elem_var1eb2' must have as many numbers as there are elements in element block 20 'air'",
         [](auto& file) {
           values<Reals>(file, "vals_elem_var1eb2").resize(4);
           file["vals_elem_var1eb2"].shape[1] = 2;
         });
  expect("variable 'connect1'", [](auto& file) { file["connect1"].values = Reals(8, 1.0); });
  expect("variable 'coordy'", [](auto& file) { file["coordy"].values = Integers(13, 1); });
  expect("variable 'eb_names' does not hold text", [](auto& file) { file["eb_names"].values = Reals(40, 1.0); });
  expect("element block 10 'steel' is not a table of elements", [](auto& file) { file["connect1"].shape = {8}; });
}

TEST_P(BadExodus, ElementsThatAreNotSupportedAreNamed) {
  const auto call = [](NetcdfContents& file, const std::string& type) {
    file["connect4"].attributes = {{"elem_type", type}};
  };
  expect("element block 30 has elements of type 'NSIDED' with 5 nodes, which are not supported",
         [&](auto& file) { call(file, "NSIDED"); });
  expect("element block 30 has elements of type 'nsided', polygons or polyhedra", [&](auto& file) {
    call(file, "nsided");
    file["connect4"].shape = {5};
  });
  expect("element block 30 has elements of type 'TETRA' with 5 nodes", [&](auto& file) { call(file, "TETRA"); });
}

INSTANTIATE_TEST_SUITE_P(Formats, BadExodus,
                         testing::Values(NetcdfFormat::cdf1, NetcdfFormat::cdf5, NetcdfFormat::hdf5));

TEST(BadNetcdf, CutAnywhereItIsRefusedAndNeverCrashes) {
  const fs::path good = test::scratch() / "good.e";
  for (const NetcdfFormat format : {NetcdfFormat::cdf1, NetcdfFormat::cdf5}) {
    if (world().rank() == 0) test::write(test::exodus_sample(), good, format);
    mpi::barrier(world());
    const auto n_bytes = fs::file_size(good);
    for (const std::uintmax_t n : {std::uintmax_t{7}, n_bytes / 8, n_bytes / 3, n_bytes - 600, n_bytes - 9}) {
      SCOPED_TRACE(n);
      const std::string found = test::verdict_after(good, "cut.e", [&](const fs::path& p) { test::cut(p, n); });
      expect_refusal(found, "3", n < n_bytes / 2 ? "ends within its header" : "extends to byte");
      mpi::barrier(world());
    }
  }
}

/// Each byte of a header in turn becomes 0xff: a senseless count, type or offset.
TEST(BadNetcdf, NoByteOfAHeaderCanCrashAReader) {
  const fs::path good = test::scratch() / "sound.e";
  const fs::path bad = test::scratch() / "byte.e";
  if (world().rank() != 0) return;  // local
  for (const NetcdfFormat format : {NetcdfFormat::cdf1, NetcdfFormat::cdf5}) {
    test::write(test::exodus_sample(), good, format);
    std::ifstream in(good, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    int n_refused = 0;
    for (std::size_t at = 4; at < text.size() / 2; at += 9) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(0xff);
      std::ofstream(bad, std::ios::binary) << damaged;
      try {
        static_cast<void>(inspect(bad.string()));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
        n_refused += 1;
      }
    }
    EXPECT_GT(n_refused, 20);
  }
}

/// Files of a few hundred bytes that announce more data than fits into any memory.
TEST(BadNetcdf, CountsOfAHeaderAreCheckedBeforeTheyAreBelieved) {
  static int n_written = 0;
  const auto expect = [](const std::string& cause, const std::function<void(NetcdfContents&)>& spoil) {
    SCOPED_TRACE(cause);
    NetcdfContents contents = test::exodus_sample();
    spoil(contents);
    const fs::path path = test::scratch() / ("counts" + std::to_string(n_written++) + ".e");
    if (world().rank() == 0) test::write(contents, path, NetcdfFormat::cdf1);
    mpi::barrier(world());
    expect_refusal(verdict(path), "3", cause);
    mpi::barrier(world());
  };
  expect("variable 'coordx' extends to byte", [](auto& file) {
    for (const char* name : {"coordx", "coordy", "coordz"}) file[name].shape = {0x7fffffff};
  });
  expect("has a variable 'deep' with 1025 dimensions", [](auto& file) {
    file.variables.push_back({"deep", std::vector<long>(1025, 1), Integers{1}, {}, false, {}});
  });
  expect("has a name of 70002 bytes in its header",
         [](auto& file) { file.variables.push_back({std::string(70000, 'x'), {1}, Integers{1}, {}, false, {}}); });
  expect("has records of more bytes than a file can have", [](auto& file) {
    for (const char* name : {"one", "other"})
      file.variables.push_back({name, {2, 0x7fffffff, 0x7fffffff}, std::string("ab"), {}, true, {}});
  });
}

/// One rank requests rows that do not exist: all ranks get the error, and can continue together.
TEST(BadNetcdf, RowsThatOneRankLacksAreRefusedOnAll) {
  const fs::path path = test::scratch() / "rows.e";
  if (world().rank() == 0) test::write(test::exodus_sample(), path, NetcdfFormat::hdf5);
  mpi::barrier(world());
  const files::NetcdfFile file(world(), path.string());
  const bool is_last = world().rank() == world().size() - 1;
  std::string found;
  try {
    static_cast<void>(file.integers("elem_num_map", {is_last ? 3 : 0, 2}));
  } catch (const Error& error) {
    found = std::to_string(exit_code(error.code())) + ": " + error.what();
  }
  expect_refusal(found, "3", "has 4 rows, but rows 3 to 5 were requested");
  EXPECT_EQ(file.integers("elem_num_map", {1, 2}), (std::vector<std::int64_t>{12, 13}));
}

/// Ranges along the dimensions after that of the rows.
TEST(BadNetcdf, BoxesAreReadAndThoseThatReachOutAreRefused) {
  for (const NetcdfFormat format : {NetcdfFormat::cdf2, NetcdfFormat::hdf5}) {
    const fs::path path = test::scratch() / ("box" + std::to_string(static_cast<int>(format)) + ".nc");
    if (world().rank() == 0) {
      NetcdfContents file;
      Integers places(2 * 3 * 4 * 5);
      std::iota(places.begin(), places.end(), 0);
      file.variables = {{"one", {2, 3, 4, 5}, places, {}, true}, {"other", {2, 3}, Reals(6, 0.5), {}, true}};
      test::write(file, path, format);
    }
    mpi::barrier(world());
    const files::NetcdfFile file(world(), path.string());
    const std::array<std::int64_t, 1> last{1};
    const std::array<files::Run, 2> runs{{{1, 2}, {3, 2}}};
    EXPECT_EQ(file.integers("one", {1, 2, last, runs}),
              (std::vector<std::int64_t>{88, 89, 93, 94, 108, 109, 113, 114}));
    const std::array<files::Run, 2> last_lines{{{1, 1}, {3, 1}}};  // of each record
    EXPECT_EQ(file.integers("one", {0, 2, {}, last_lines}),
              (std::vector<std::int64_t>{35, 36, 37, 38, 39, 95, 96, 97, 98, 99}));
    for (const auto& [bad, cause] :
         {std::pair{std::array<files::Run, 2>{{{1, 2}, {3, 3}}}, "has 5 places along dimension 3, but places 3 to 6"},
          {{{{-1, 2}, {3, 2}}}, "has 4 places along dimension 2, but places -1 to 1 were requested"}}) {
      std::string found;
      try {
        static_cast<void>(file.integers("one", {1, 2, last, bad}));
      } catch (const Error& error) {
        found = std::to_string(exit_code(error.code())) + ": " + error.what();
      }
      expect_refusal(found, "3", cause);
    }
  }
}

TEST(BadNetcdf, OtherContentsAreRefused) {
  const fs::path path = test::scratch() / "other.nc";
  if (world().rank() == 0) {
    NetcdfContents file;
    file.variables = {{"height", {3}, Reals{1, 2, 3}}};
    test::write(file, path, NetcdfFormat::cdf2);
  }
  mpi::barrier(world());
  expect_refusal(verdict(path), "3",
                 "is a netCDF file, but holds neither an Exodus II mesh nor a grid of longitudes and latitudes");
}

}  // namespace
}  // namespace barrio::io
