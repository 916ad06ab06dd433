// Damaged and wrong grids of longitudes and latitudes: one clear message, the same on every rank.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/io/read_structured.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/climate/climate_sample.hpp"
#include "tests/io/damage.hpp"
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

class BadClimate : public testing::TestWithParam<NetcdfFormat> {
 protected:
  static fs::path written(const NetcdfContents& contents) { return test::write_anew(contents, GetParam(), ".nc"); }
  static void expect(const std::string& cause, const std::function<void(NetcdfContents&)>& spoil) {
    test::expect_spoilt(test::climate_sample(), GetParam(), ".nc", cause, spoil);
  }
  static Reals& reals(NetcdfContents& contents, const std::string& name) {
    return std::get<Reals>(contents[name].values);
  }
};

TEST_P(BadClimate, TheFileItselfIsSound) { EXPECT_EQ(verdict(written(test::climate_sample())), "sound"); }

TEST_P(BadClimate, AxesAreMissingOrNoAxes) {
  expect("variable 'lat' is missing", [](auto& file) { file.remove("lat"); });
  expect("variable 'lon' is missing", [](auto& file) { file.remove("lon"); });
  expect("variable 'lat' runs along the dimension 'row' of length 5, not along one of its own name", [](auto& file) {
    file["lat"].shape = {5};
    file["lat"].dimensions = {"row"};
    file["lat"].values = Reals{1, 2, 3, 4, 5};
  });
  expect("variable 'lat' has 2 dimensions, but latitudes of a grid have one", [](auto& file) {
    file["lat"].shape = {4, 6};
    file["lat"].dimensions = {"y", "x"};
    file["lat"].values = Reals(24, 1.0);
  });
  expect("variable 'lat' does not hold numbers", [](auto& file) { file["lat"].values = std::string("abcd"); });
}

TEST_P(BadClimate, NumbersOfAnAxisMakeNoSense) {
  expect("variable 'lat' has a value that is not a finite number at index 2",
         [](auto& file) { reals(file, "lat")[2] = std::numeric_limits<double>::quiet_NaN(); });
  expect("variable 'lon' has a value that is not a finite number at index 3",
         [](NetcdfContents& contents) { contents["lon"].numbers = {{"_FillValue", 180.0}}; });
  expect("variable 'lon' has a value that is not a finite number at index 5",
         [](auto& file) { reals(file, "lon")[5] = std::numeric_limits<double>::infinity(); });
  expect("variable 'lat' has the value -60 after -60 at index 1, but must ascend or descend throughout",
         [](auto& file) { reals(file, "lat")[1] = -60; });
  expect("variable 'lon' has the value -60 after 240 at index 5, but must ascend or descend throughout",
         [](auto& file) { reals(file, "lon")[5] = -60; });
  expect("variable 'lev' has the value 5 after 10 at index 2, but", [](auto& file) { reals(file, "lev")[2] = 5; });
}

TEST_P(BadClimate, AGridNeedsTwoPlaces) {
  const fs::path path = written(test::climate_grid({1, 2, 3}, {4}));
  expect_refusal(verdict(path), "3", "variable 'lat' has 1 values, but must have at least two");
}

TEST_P(BadClimate, FieldsOfAnotherKindAreLeftOut) {
  NetcdfContents file = test::climate_sample();
  file.variables.push_back({"member", {2, 4, 6}, Reals(48, 1.0), {}, false, {"run", "lat", "lon"}, {}});
  file.variables.push_back({"letters", {4, 6}, std::string(24, 'x'), {}, false, {"lat", "lon"}, {}});
  EXPECT_EQ(read_structured(world(), written(file).string()).fields.size(), 4U);
}

TEST_P(BadClimate, AFieldThatIsNotThereIsMissedByName) {
  const std::string path = written(test::climate_sample()).string();
  std::string found;
  try {
    static_cast<void>(read_structured(world(), path, {.fields = {"T", "pocked"}}));
  } catch (const AgreedError& error) {
    found = std::to_string(exit_code(error.code())) + ": " + error.cause() + "; " + error.remedy();
  }
  expect_refusal(found, "2", "has no field 'pocked' over latitudes and longitudes. Did you mean 'packed'?");
  expect_refusal(found, "2",
                 GetParam() == NetcdfFormat::hdf5 ? "it has PS, T, mask, packed" : "it has T, PS, mask, packed");
}

INSTANTIATE_TEST_SUITE_P(Formats, BadClimate,
                         testing::Values(NetcdfFormat::cdf1, NetcdfFormat::cdf2, NetcdfFormat::cdf5,
                                         NetcdfFormat::hdf5));

TEST(BadGrid, TwoNamesOfOneAxis) {
  const fs::path path = test::write_anew(test::climate_sample(), NetcdfFormat::hdf5, ".nc");
  if (world().is_root()) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Ldelete(file, "lat", H5P_DEFAULT), 0);
    ASSERT_GE(H5Lcreate_hard(file, "lon", file, "lat", H5P_DEFAULT, H5P_DEFAULT), 0);
    ASSERT_GE(H5Fclose(file), 0);
  }
  mpi::barrier(world());
  expect_refusal(verdict(path), "3", "variable 'lat' would be both latitudes and longitudes");
}

TEST(BadGrid, CutAnywhereItIsRefused) {
  const fs::path good = test::scratch() / "good.nc";
  for (const NetcdfFormat format : {NetcdfFormat::cdf1, NetcdfFormat::cdf2, NetcdfFormat::cdf5}) {
    if (world().rank() == 0) test::write(test::climate_sample(), good, format);
    mpi::barrier(world());
    const auto n_bytes = fs::file_size(good);
    for (const std::uintmax_t n : {std::uintmax_t{9}, n_bytes / 8, n_bytes - 1200, n_bytes - 300, n_bytes - 9}) {
      SCOPED_TRACE(n);
      const std::string found = test::verdict_after(good, "cut.nc", [&](const fs::path& p) { test::cut(p, n); });
      expect_refusal(found, "3", n < n_bytes / 2 ? "ends within its header" : "extends to byte");
      mpi::barrier(world());
    }
  }
}

/// A netCDF-4 field may be shorter than its axis.
TEST(BadGrid, LengthsDoNotMatch) {
  NetcdfContents file = test::climate_sample();
  file["mask"].shape = {3, 6};
  std::get<Integers>(file["mask"].values).resize(18);
  const fs::path path = test::scratch() / "short.nc";
  if (world().rank() == 0) test::write(file, path, NetcdfFormat::hdf5);
  mpi::barrier(world());
  expect_refusal(verdict(path), "3", path.string() + ": variable 'mask' has length 3 along 'lat', which has 4 values");
}

TEST(BadGrid, OtherFilesAreNoGrids) {
  std::string found;
  try {
    static_cast<void>(read_structured(world(), test::data("wing/wing_coarse.msh").string()));
  } catch (const AgreedError& error) {
    found = std::to_string(exit_code(error.code())) + ": " + error.cause();
  }
  expect_refusal(found, "3", "is not a grid of longitudes and latitudes on netCDF");
}

}  // namespace
}  // namespace barrio::io
