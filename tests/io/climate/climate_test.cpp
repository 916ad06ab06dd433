// Grids of longitudes and latitudes in netCDF: small files written here in every netCDF format, and a real one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/read_structured.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/climate/climate_sample.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::Decomposition;
using test::NetcdfFormat;
using test::WholeFile;
using test::world;
using Place = std::array<std::int64_t, 3>;

constexpr std::array all_decompositions{Decomposition::alljorkori, Decomposition::alljkbal, Decomposition::sqij,
                                        Decomposition::sqjk, Decomposition::sqijk};

std::string written(const test::NetcdfContents& contents, NetcdfFormat format) {
  static int n_written = 0;
  const auto path = test::scratch() / ("grid" + std::to_string(n_written++) + ".nc");
  if (world().rank() == 0) test::write(contents, path, format);
  mpi::barrier(world());
  return path.string();
}

/// Gather all values of a tag on the vertices. Collective.
template <class Number>
std::vector<Number> values(const mesh::MeshTables& tables, const std::string& name) {
  std::vector<Number> mine;
  for (const mesh::TagTable& tag : tables.tags) {
    if (tag.info.name != name) continue;
    EXPECT_EQ(tag.columns.size(), 1U);
    EXPECT_EQ(tag.columns[0].block, -1);
    EXPECT_TRUE(tag.columns[0].is_dense);
    EXPECT_EQ(tag.columns[0].items.bytes.size(), tables.vertices.size(world().rank()) * sizeof(Number));
    mine.resize(tag.columns[0].items.bytes.size() / sizeof(Number));
    if (!mine.empty()) std::memcpy(mine.data(), tag.columns[0].items.bytes.data(), mine.size() * sizeof(Number));
  }
  return test::collect(world(), mine);
}

class Climate : public testing::TestWithParam<NetcdfFormat> {};

TEST_P(Climate, PlacesBecomeVerticesAndHexesStayOpenWhereLongitudesGoRound) {
  const mesh::MeshTables tables = read_tables(world(), written(test::climate_sample(), GetParam()));
  const WholeFile whole(world(), tables);
  ASSERT_EQ(whole.coordinates.size(), 3U * 72);
  EXPECT_EQ(std::vector(whole.coordinates.begin() + 3 * 35, whole.coordinates.begin() + 3 * 37),
            (std::vector<double>{300, -20, 10, 0, 20, 10}));
  ASSERT_EQ(whole.cells.size(), 5U * 3 * 2);
  EXPECT_EQ(whole.cells[0], (WholeFile::Cell{CellType::hex, {0, 1, 7, 6, 24, 25, 31, 30}}));
  EXPECT_EQ(whole.cells[5], (WholeFile::Cell{CellType::hex, {6, 7, 13, 12, 30, 31, 37, 36}}));
  EXPECT_EQ(whole.cells[29], (WholeFile::Cell{CellType::hex, {40, 41, 47, 46, 64, 65, 71, 70}}));
  EXPECT_TRUE(whole.sets.empty());
  const mesh::Mesh mesh = read(world(), written(test::climate_sample(), GetParam()), {.ghost_layers = 1});
  mesh.validate();
}

TEST_P(Climate, FillValuesMayBeNaNOrInfinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double fill : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
    test::NetcdfContents contents = test::climate_grid({0, 10, 20}, {-10, 10});
    contents["T"].numbers.emplace_back("_FillValue", fill);
    std::get<std::vector<double>>(contents["T"].values)[4] = fill;
    const std::string path = written(contents, GetParam());
    const std::vector<double> found = values<double>(read_tables(world(), path), "T");
    ASSERT_EQ(found.size(), 6U) << fill;
    EXPECT_EQ(std::vector(found.begin(), found.begin() + 4), (std::vector<double>{0, 1, 2, 3})) << fill;
    EXPECT_TRUE(std::isnan(found[4])) << fill;
    EXPECT_EQ(found[5], 5.0) << fill;
  }
}

TEST_P(Climate, IntegersWithAFillValueBecomeRealsWithNaN) {
  for (const char* attribute : {"_FillValue", "missing_value"}) {
    test::NetcdfContents contents = test::climate_sample();
    contents["mask"].numbers = {{attribute, -1.0}};
    const std::string path = written(contents, GetParam());
    const std::vector<double> found = values<double>(read_tables(world(), path), "mask");
    ASSERT_EQ(found.size(), 72U);
    EXPECT_EQ(std::vector(found.begin(), found.begin() + 2), (std::vector<double>{-3, -2}));
    EXPECT_TRUE(std::isnan(found[2]));
    EXPECT_EQ(found[3], 0.0);
    if (world().rank() == 0) {
      const Json seen = inspect(path);
      for (const Json& tag : seen["tags"])
        if (tag["name"] == "mask") {
          EXPECT_EQ(tag["type"], "double");
        }
    }
  }
}

TEST(ClimateFill, ValuesThatWereNeverWrittenAreTheFillValue) {
  test::NetcdfContents contents = test::climate_grid({0, 10, 20}, {-10, 10});
  contents["T"].is_written = false;
  const std::string path = written(contents, NetcdfFormat::hdf5);
  EXPECT_EQ(values<double>(read_tables(world(), path), "T"), std::vector<double>(6, 0.0));
}

TEST_P(Climate, ScalesArriveOnAllRanksWithEveryBit) {
  test::NetcdfContents contents = test::climate_grid({0, 10, 20}, {-10, 10});
  contents["T"].numbers.emplace_back("scale_factor", 0.1 + 1e-17);
  contents["T"].numbers.emplace_back("add_offset", std::numeric_limits<double>::denorm_min());
  const std::vector<double> found = values<double>(read_tables(world(), written(contents, GetParam())), "T");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(found[3], 3 * (0.1 + 1e-17) + std::numeric_limits<double>::denorm_min());
}

TEST_P(Climate, PackedCoordinatesAreUnpacked) {
  test::NetcdfContents contents = test::climate_grid({0, 10, 20}, {-10, 10});
  contents["lon"].values = std::vector<int>{-100, 0, 100};
  contents["lon"].numbers = {{"scale_factor", 0.025}, {"add_offset", 215.0}};
  contents["lat"].numbers = {{"scale_factor", 0.5}};
  const std::string path = written(contents, GetParam());
  const WholeFile whole(world(), read_tables(world(), path));
  EXPECT_EQ(whole.coordinates, (std::vector<double>{212.5, -5, 0, 215, -5, 0, 217.5, -5, 0,  //
                                                    212.5, 5, 0, 215, 5, 0, 217.5, 5, 0}));
  const StructuredGrid grid = read_structured(world(), path, {.fields = {}});
  if (!grid.mesh.own_vertices().empty()) {
    const Place at = grid.mesh.own_vertices().at(0);
    EXPECT_EQ(grid.mesh.coordinates(at)[0], 212.5 + 2.5 * static_cast<double>(at[0]));
  }
}

TEST(ClimateInterop, XarrayMarksMissingValuesByNaN) {
  const auto path = test::interop("foreign/lsm_4x5.nc");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no foreign/lsm_4x5.nc";
  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.n_global(mesh::Dim::vertex), 45 * 72);
  EXPECT_EQ(mesh.n_global(mesh::Dim::face), 44 * 71);
}

TEST_P(Climate, VariablesOfTheLastTimeStepBecomeTags) {
  const std::string path = written(test::climate_sample(), GetParam());
  const mesh::MeshTables tables = read_tables(world(), path);
  std::map<std::string, mesh::TagType> types;
  for (const mesh::TagTable& tag : tables.tags) types[tag.info.name] = tag.info.type;
  EXPECT_EQ(types, (std::map<std::string, mesh::TagType>{{"T", mesh::TagType::float64},
                                                         {"PS", mesh::TagType::float64},
                                                         {"mask", mesh::TagType::int32},
                                                         {"packed", mesh::TagType::float64}}));
  const auto temperature = values<double>(tables, "T");
  const auto pressure = values<double>(tables, "PS");
  const auto mask = values<std::int32_t>(tables, "mask");
  const auto packed = values<double>(tables, "packed");
  for (const std::size_t n : {temperature.size(), pressure.size(), mask.size(), packed.size()}) ASSERT_EQ(n, 72U);
  for (long v = 0; v < 72; ++v) {
    const auto at = static_cast<std::size_t>(v);
    EXPECT_EQ(temperature[at], test::climate_temperature(v % 6, v / 6 % 4, v / 24));
    EXPECT_EQ(pressure[at], 500.0 + static_cast<double>(v % 24));
    EXPECT_EQ(mask[at], v % 24 - 3);
    if (v % 24 == 7) {
      EXPECT_TRUE(std::isnan(packed[at]));  // 4 means missing
    } else {
      EXPECT_EQ(packed[at], 100.0 + 0.5 * static_cast<double>(v % 24 - 3));
    }
  }
  EXPECT_EQ(read_tables(world(), path, {.without_tags = {"T", "mask"}}).tags.size(), 2U);
  EXPECT_TRUE(read_tables(world(), path, {.without_tags = {"*"}}).tags.empty());
}

TEST_P(Climate, AnyTimeStepIsRead) {
  const std::string path = written(test::climate_sample(), GetParam());
  for (const int step : {0, 1, 2}) {
    const mesh::MeshTables tables = read_tables(world(), path, {.step = step});
    EXPECT_EQ(values<double>(tables, "T")[5], step == 1 ? -1.0 : test::climate_temperature(5, 0, 0));
    EXPECT_EQ(values<double>(tables, "PS")[0], step == 1 ? -1.0 : 500.0);
    EXPECT_EQ(values<std::int32_t>(tables, "mask")[0], -3) << "has no steps";
    const StructuredGrid grid = read_structured(world(), path, {.fields = {"T"}, .step = step});
    const std::vector<double>& mine = grid.fields[0].values;
    EXPECT_EQ(std::ranges::all_of(mine, [](double x) { return x == -1.0; }), step == 1 || mine.empty());
  }
}

TEST_P(Climate, InspectingFindsTheSame) {
  const std::string path = written(test::climate_sample(), GetParam());
  if (world().rank() != 0) return;  // local
  const Json found = inspect(path);
  EXPECT_TRUE(found["format"].get<std::string>().starts_with("grid of longitudes and latitudes, netCDF"));
  EXPECT_EQ(found["vertices"], 72);
  EXPECT_EQ(found["entities"], (Json{{"hexes", 30}}));
  EXPECT_EQ(found["grid"],
            (Json{{"longitudes", 6}, {"latitudes", 4}, {"levels", 3}, {"time_steps", 2}, {"is_periodic", true}}));
  EXPECT_EQ(found["times"], Json({0.0, 30.0}));
  EXPECT_EQ(found["tags"].size(), 4U);
  EXPECT_EQ(found["unsupported"], (Json{"variable 'turned' is left out: it does not run along (level, latitude, "
                                        "longitude) in that order"}));
  EXPECT_EQ(found["box"], (Json{{"low", {0.0, -60.0, 1.0}}, {"high", {300.0, 60.0, 100.0}}}));
  EXPECT_EQ(found["quality"]["inverted"], 0);
}

TEST_P(Climate, AxesMayDescendAndCellsAreTheRightWayRound) {
  for (const bool has_levels : {false, true}) {
    const std::string path = written(
        test::climate_grid({0, 1, 2, 3}, {2, 1, 0}, has_levels ? std::vector<double>{5, 6, 7} : std::vector<double>{}),
        GetParam());
    const WholeFile whole(world(), read_tables(world(), path));
    EXPECT_EQ(whole.coordinates[1], 2.0);  // the order of the file
    if (has_levels) {
      EXPECT_EQ(whole.cells[0], (WholeFile::Cell{CellType::hex, {12, 13, 17, 16, 0, 1, 5, 4}}));
    } else {
      EXPECT_EQ(whole.cells[0], (WholeFile::Cell{CellType::quad, {4, 5, 1, 0}}));
    }
    if (world().rank() == 0) {
      EXPECT_EQ(inspect(path)["quality"]["inverted"], 0);
    }
    // The same holds for the structured mesh, converted to tables.
    const StructuredGrid grid = read_structured(world(), path);
    const WholeFile turned(world(), grid.mesh.to_tables());
    for (const auto& [type, nodes] : turned.cells) {
      if (type != CellType::hex) continue;
      std::array<std::array<double, 3>, 3> edge{};  // from the first corner, along its three edges
      for (std::size_t e = 0; e < 3; ++e)
        for (std::size_t k = 0; k < 3; ++k)
          edge[e][k] = turned.coordinates[static_cast<std::size_t>(3 * nodes[std::array{1U, 3U, 4U}[e]]) + k] -
                       turned.coordinates[static_cast<std::size_t>(3 * nodes[0]) + k];
      const auto& [a, b, c] = edge;
      EXPECT_GT(
          a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]),
          0.0);
    }
  }
}

TEST_P(Climate, ABoxOfEachRankHoldsWhatTheSerialReadHas) {
  const std::string path = written(test::climate_sample(), GetParam());
  for (const Decomposition decomposition : all_decompositions) {
    SCOPED_TRACE(mesh::name(decomposition));
    const StructuredGrid grid = read_structured(world(), path, {.decomposition = decomposition, .ghost_layers = 1});
    grid.mesh.validate();
    EXPECT_TRUE(grid.mesh.options().is_periodic[0]);
    EXPECT_EQ(mpi::sum(world(), grid.mesh.own_cells().size()), 6 * 3 * 2);  // and the closing column
    ASSERT_EQ(grid.fields.size(), 4U);
    const mesh::IndexBox box = grid.mesh.own_vertices();
    for (const StructuredField& field : grid.fields) {
      SCOPED_TRACE(field.name);
      ASSERT_EQ(static_cast<std::int64_t>(field.values.size()), box.size());
      for (std::int64_t v = 0; v < box.size(); ++v) {
        const double found = field.values[v];
        const Place at = box.at(v);
        const long i = at[0] % 6;
        const long in_level = 6 * at[1] + i;
        if (field.name == "T") {
          EXPECT_EQ(found, test::climate_temperature(i, at[1], at[2]));
        } else if (field.name == "PS") {
          EXPECT_EQ(found, 500.0 + static_cast<double>(in_level));
        } else if (field.name == "mask") {
          EXPECT_EQ(found, static_cast<double>(in_level - 3));
        } else if (in_level == 7) {
          EXPECT_TRUE(std::isnan(found));
        } else {
          EXPECT_EQ(found, 100.0 + 0.5 * static_cast<double>(in_level - 3));
        }
        const std::array<double, 3> expected{60.0 * static_cast<double>(at[0]),
                                             -60.0 + 40.0 * static_cast<double>(at[1]), std::pow(10.0, at[2])};
        EXPECT_EQ(grid.mesh.coordinates(at), expected);
      }
    }
  }
  EXPECT_EQ(read_structured(world(), path, {.fields = {"PS"}}).fields.size(), 1U);
  EXPECT_TRUE(read_structured(world(), path, {.fields = {}}).fields.empty());
}

TEST_P(Climate, AFlatGridBecomesQuadsOrOneLayerOfCells) {
  const std::string path = written(test::climate_grid({10, 20, 40}, {0, 5, 10, 15}), GetParam());
  const mesh::MeshTables tables = read_tables(world(), path);
  const WholeFile whole(world(), tables);
  ASSERT_EQ(whole.cells.size(), 6U);
  EXPECT_EQ(whole.cells[5], (WholeFile::Cell{CellType::quad, {7, 8, 11, 10}}));
  EXPECT_EQ(std::vector(whole.coordinates.end() - 3, whole.coordinates.end()), (std::vector<double>{40, 15, 0}));
  for (const Decomposition decomposition : all_decompositions) {
    const StructuredGrid grid = read_structured(world(), path, {.decomposition = decomposition});
    EXPECT_FALSE(grid.mesh.options().is_periodic[0]);
    EXPECT_EQ(mpi::sum(world(), grid.mesh.own_cells().size()), 6);
    const mesh::IndexBox box = grid.mesh.own_vertices();
    const std::vector<double> x = grid.mesh.make_coordinates();
    for (std::int64_t v = 0; v < box.size(); ++v) {
      const auto row = static_cast<std::size_t>(3 * box.at(v)[1] + box.at(v)[0]);
      EXPECT_EQ(grid.fields.at(0).values[static_cast<std::size_t>(v)], static_cast<double>(row));
      for (std::size_t k = 0; k < 2; ++k)
        EXPECT_EQ(x[static_cast<std::size_t>(3 * v) + k], whole.coordinates[3 * row + k]);
      EXPECT_EQ(x[static_cast<std::size_t>(3 * v) + 2], static_cast<double>(box.at(v)[2]));
    }
  }
}

/// Return the bytes that this process has read from any source, or nothing if the system does not tell.
std::optional<std::uint64_t> bytes_read() {
  std::ifstream facts("/proc/self/io");
  std::string word;
  std::uint64_t n = 0;
  if (facts >> word >> n && word == "rchar:") return n;
  return {};
}

TEST_P(Climate, ARankReadsItsShareAlone) {
  std::vector<double> longitudes(128);
  for (std::size_t i = 0; i < longitudes.size(); ++i) longitudes[i] = 360.0 / 128.0 * static_cast<double>(i);
  std::vector<double> latitudes(64);
  for (std::size_t i = 0; i < latitudes.size(); ++i) latitudes[i] = static_cast<double>(i);
  std::vector<double> levels(32);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<double>(i);
  const std::string path = written(test::climate_grid(longitudes, latitudes, levels), GetParam());
  const auto expect = [&](std::uint64_t share_bytes, auto&& read) {
    const mpi::Counters before = world().counters();
    const auto n_before = bytes_read();
    read();
    const std::uint64_t n_collective = world().counters().collective_bytes_read - before.collective_bytes_read;
    if (GetParam() == NetcdfFormat::hdf5) {
      EXPECT_LE(n_collective, share_bytes);
      EXPECT_EQ(world().counters().independent_reads, before.independent_reads);
    } else if (n_before) {
      constexpr std::uint64_t header_and_messages = 64U << 10U;
      EXPECT_LE(*bytes_read() - *n_before, share_bytes + header_and_messages);
    }
  };
  const std::uint64_t n_lines = 2 * 128;  // a slab needs only a part of each
  expect(8 * ((128U * 64 * 32) / static_cast<std::uint64_t>(world().size()) + 1 + n_lines),
         [&] { static_cast<void>(read_tables(world(), path)); });
  for (const Decomposition decomposition : all_decompositions) {
    const StructuredGrid grid = read_structured(world(), path, {.decomposition = decomposition, .fields = {}});
    expect(8 * static_cast<std::uint64_t>(grid.mesh.own_vertices().size()),
           [&] { static_cast<void>(read_structured(world(), path, {.decomposition = decomposition})); });
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Climate,
                         testing::Values(NetcdfFormat::cdf1, NetcdfFormat::cdf2, NetcdfFormat::cdf5,
                                         NetcdfFormat::hdf5));

TEST(ClimateAxes, GoRoundWhereTheFirstFollowsTheLast) {
  const auto is_periodic = [](const std::vector<double>& longitudes) {
    const std::string path = written(test::climate_grid(longitudes, {0, 1}, {0, 1}), NetcdfFormat::cdf1);
    return read_structured(world(), path, {.decomposition = Decomposition::sqij, .fields = {}})
        .mesh.options()
        .is_periodic[0];
  };
  EXPECT_TRUE(is_periodic({0, 90, 180, 270}));
  EXPECT_TRUE(is_periodic({-180, -60, 60}));
  EXPECT_TRUE(is_periodic({270, 180, 90, 0}));
  EXPECT_TRUE(is_periodic({0, 89.9999, 180.0001, 270}));
  EXPECT_TRUE(is_periodic({0, 30, 90, 180, 270, 330}));  // uneven
  EXPECT_FALSE(is_periodic({0, 90, 180, 270, 360}));     // has both ends
  EXPECT_FALSE(is_periodic({0, 10, 20}));
  EXPECT_FALSE(is_periodic({0, 180}));
}

/// Names and units identify an axis, also among staggered ones.
TEST(ClimateAxes, AreFoundByUnitsAndByUse) {
  test::NetcdfContents file = test::climate_sample();
  for (test::NetcdfContents::Variable& variable : file.variables) {
    if (variable.name == "lat") {
      variable.name = "y";
      variable.attributes = {{"units", "degree_N"}};
    }
    for (std::string& dimension : variable.dimensions) dimension = dimension == "lat" ? "y" : dimension;
  }
  file.variables.insert(
      file.variables.begin(),
      {"slat", {3}, std::vector<double>{-40, 0, 40}, {{"units", "degrees_north"}}, false, {"slat"}, {}});
  file.variables.push_back({"US", {3, 6}, std::vector<double>(18, 1.0), {}, false, {"slat", "lon"}, {}});
  const mesh::MeshTables tables = read_tables(world(), written(file, NetcdfFormat::hdf5));
  EXPECT_EQ(tables.vertices.n_rows, 72);
  EXPECT_EQ(tables.tags.size(), 4U);
}

TEST(ClimateInterop, AFileOfCam) {
  const auto path = test::interop("other/eul3x48x96.t0.nc");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no eul3x48x96.t0.nc";
  const mesh::MeshTables tables = read_tables(world(), path->string());
  EXPECT_EQ(tables.vertices.n_rows, 3 * 48 * 96);
  EXPECT_EQ(tables.blocks.at(0).rows.n_rows, 2 * 47 * 95);
  for (const Decomposition decomposition : all_decompositions) {
    SCOPED_TRACE(mesh::name(decomposition));
    const StructuredGrid grid = read_structured(world(), path->string(), {.decomposition = decomposition});
    ASSERT_EQ(grid.fields.size(), 3U);
    EXPECT_EQ(mpi::sum(world(), grid.mesh.own_cells().size()), 2 * 47 * 96);
    for (const StructuredField& field : grid.fields) {
      const std::vector<double> all = values<double>(tables, field.name);
      for (std::size_t v = 0; v < field.values.size(); ++v) {
        const GlobalId row = grid.mesh.vertex_id(grid.mesh.own_vertices().at(v));
        ASSERT_EQ(field.values[v], all[static_cast<std::size_t>(value(row))]);
      }
    }
  }
}

}  // namespace
}  // namespace barrio::io
