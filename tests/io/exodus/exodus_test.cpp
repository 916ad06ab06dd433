// Exodus II files: a small file written here in every netCDF format, and real files of other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <stdexcept>

#include "barrio/base/error.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/exodus/exodus_sample.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::NetcdfFormat;
using test::WholeFile;
using test::world;
using Cells = std::vector<WholeFile::Cell>;
using Rows = std::set<std::pair<int, std::int64_t>>;

std::filesystem::path written(const test::NetcdfContents& contents, const std::string& name, NetcdfFormat format) {
  const auto path = test::scratch() / name;
  if (world().rank() == 0) test::write(contents, path, format);
  mpi::barrier(world());
  return path;
}

class Exodus : public testing::TestWithParam<NetcdfFormat> {};

TEST_P(Exodus, BlocksSetsAndSidesAreThere) {
  const std::string path = written(test::exodus_sample(), "all.e", GetParam()).string();
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() == 0) {
    EXPECT_NE(said.find("in a set more than once"), std::string::npos) << said;
  }
  const WholeFile whole(world(), tables);
  ASSERT_EQ(whole.coordinates.size(), 39U);
  EXPECT_EQ(std::vector(whole.coordinates.begin() + 15, whole.coordinates.begin() + 21),
            (std::vector<double>{2, 1, 0, 0, 0, 1}));
  EXPECT_EQ(std::vector(whole.coordinates.begin() + 36, whole.coordinates.end()), (std::vector<double>{1.5, 0.5, 2}));
  // Sides in the order of their first mention; a side that is listed twice, or is a shell, appears once.
  EXPECT_EQ(whole.cells, (Cells{{CellType::edge, {0, 3}},
                                {CellType::quad, {0, 3, 4, 1}},
                                {CellType::triangle, {7, 8, 12}},
                                {CellType::quad, {3, 0, 6, 9}},
                                {CellType::quad, {1, 4, 10, 7}},
                                {CellType::quad, {7, 10, 11, 8}},
                                {CellType::pyramid, {7, 8, 11, 10, 12}},
                                {CellType::hex, {0, 1, 4, 3, 6, 7, 10, 9}},
                                {CellType::hex, {1, 2, 5, 4, 7, 8, 11, 10}}}));
  EXPECT_EQ(whole.sets, (decltype(whole.sets){{SetKind::material, 10, "steel"},
                                              {SetKind::material, 20, "air"},
                                              {SetKind::material, 30, ""},
                                              {SetKind::material, 40, "skin"},
                                              {SetKind::dirichlet, 5, "fixed"},
                                              {SetKind::neumann, 100, "inlet"},
                                              {SetKind::neumann, 200, ""},
                                              {SetKind::neumann, 300, ""}}));
  // Rows of faces: the shell 0, the triangle 1, the quads 2 to 4; of volumes: the pyramid 0, the hexes 1 and 2.
  EXPECT_EQ(whole.members, (std::vector<Rows>{{{3, 1}},
                                              {{3, 2}},
                                              {{3, 0}},
                                              {{2, 0}},
                                              {{0, 0}, {0, 3}, {0, 6}, {0, 9}},
                                              {{2, 2}},
                                              {{2, 0}, {2, 3}, {2, 4}, {1, 0}},
                                              {{2, 1}, {2, 2}}}));
}

TEST_P(Exodus, ANameEndsAtItsFirstNulAndHasNoBlanksBehind) {
  test::NetcdfContents contents = test::exodus_sample();
  contents["eb_names"].values =
      test::padded({"steel", std::string("air  \0x", 7), std::string("\0x", 2), "  ", "skin    "}, 8);
  const mesh::MeshTables tables = read_tables(world(), written(contents, "names.e", GetParam()).string());
  ASSERT_GE(tables.sets.size(), 4U);
  EXPECT_EQ(tables.sets[1].name, "air");
  EXPECT_EQ(tables.sets[2].name, "");
  EXPECT_EQ(tables.sets[3].name, "skin");
}

/// Gather all values of a tag on a block (-1: the vertices), in the order of ranks. Collective.
template <class Number>
std::vector<Number> values(const mesh::TagTable& tag, std::int32_t block) {
  std::vector<Number> mine;
  const auto column = std::ranges::find(tag.columns, block, &mesh::TagColumn::block);
  if (column != tag.columns.end()) {
    mine.resize(column->items.bytes.size() / sizeof(Number));
    if (!mine.empty()) std::memcpy(mine.data(), column->items.bytes.data(), column->items.bytes.size());
  }
  return test::collect(world(), mine);
}

const mesh::TagTable& tag_of(const mesh::MeshTables& tables, const std::string& name) {
  const auto found = std::ranges::find(tables.tags, name, [](const mesh::TagTable& tag) { return tag.info.name; });
  if (found == tables.tags.end()) throw std::runtime_error("no tag " + name);
  return *found;
}

TEST_P(Exodus, AttributesOfElementsBecomeTags) {
  test::NetcdfContents contents = test::exodus_sample();
  contents.variables.push_back({"attrib1", {1, 2}, std::vector<double>{1.5, 2.5}});
  contents.variables.push_back({"attrib_name1", {2, 8}, test::padded({"area", "spin"}, 8)});
  contents.variables.push_back({"attrib2", {1, 1}, std::vector<double>{9.5}});
  contents.variables.push_back({"attrib_name2", {1, 8}, test::padded({"area"}, 8)});
  contents.variables.push_back({"attrib5", {1, 3}, std::vector<double>{0.125, 0.25, 0.5}});
  contents.variables.push_back({"attrib4", {1}, std::vector<double>{64.0}});  // a list
  contents.variables.push_back({"attrib_name4", {1, 8}, test::padded({"depth"}, 8)});
  const std::string path = written(contents, "attributes.e", GetParam()).string();
  const mesh::MeshTables tables = read_tables(world(), path);
  constexpr std::int32_t hexes = 5;
  constexpr std::int32_t quads = 1;
  EXPECT_EQ(values<double>(tag_of(tables, "area"), hexes), (std::vector<double>{1.5, 9.5}));
  EXPECT_EQ(tag_of(tables, "area").columns.size(), 1U);
  EXPECT_TRUE(tag_of(tables, "area").columns[0].is_dense);
  EXPECT_EQ(values<double>(tag_of(tables, "spin"), hexes), std::vector<double>{2.5});
  EXPECT_FALSE(tag_of(tables, "spin").columns[0].is_dense);
  for (int a = 0; a < 3; ++a)
    EXPECT_EQ(values<double>(tag_of(tables, "attribute_" + std::to_string(a + 1)), quads),
              std::vector<double>{0.125 * (1 << a)});
  EXPECT_EQ(values<double>(tag_of(tables, "depth"), 4), std::vector<double>{64.0});
  if (world().rank() == 0) {
    EXPECT_NE(inspect(path)["tags"].dump().find("attribute_3"), std::string::npos);
  }
}

TEST_P(Exodus, AnyTimeStepIsRead) {
  const std::string path = written(test::exodus_sample(), "steps.e", GetParam()).string();
  for (const int step : {0, 1, 2}) {
    const mesh::MeshTables tables = read_tables(world(), path, {.step = step});
    EXPECT_EQ(values<double>(tag_of(tables, "temperature"), -1)[3], step == 1 ? -1.0 : 103.0) << step;
    EXPECT_EQ(values<double>(tag_of(tables, "density"), 5),
              step == 1 ? (std::vector<double>{-1, -1}) : (std::vector<double>{7.8, 1.2}));
    double energy = 0.0;
    std::memcpy(&energy, tag_of(tables, "energy").info.mesh_value.data(), sizeof energy);
    EXPECT_EQ(energy, step == 1 ? -1.0 : 42.0);
  }
  for (const int step : {-1, 3}) {
    try {
      (void)read_tables(world(), path, {.step = step});
      ADD_FAILURE() << step;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("does not exist: the file has steps 1 to 2"), std::string::npos);
    }
  }
}

TEST_P(Exodus, WhatHasNoPlaceIsNamed) {
  test::NetcdfContents contents = test::exodus_sample();
  const auto add = [&](const std::string& name, std::vector<long> shape, auto numbers) {
    contents.variables.push_back({name, std::move(shape), std::move(numbers)});
  };
  add("dist_fact_ns1", {5}, std::vector<double>{1, 2, 3, 4, 5});
  add("dist_fact_ss1", {4}, std::vector<double>{1, 2, 3, 4});
  add("dist_fact_ss3", {8}, std::vector<double>(8, 1.0));
  add("name_sset_var", {2, 8}, test::padded({"flux", "load"}, 8));
  add("name_nset_var", {1, 8}, test::padded({"force"}, 8));
  add("nattrb", {13, 1}, std::vector<double>(13, 0.5));
  add("els_prop1", {1}, std::vector<int>{7});
  add("attrib2", {2, 1}, std::vector<double>{1, 2});
  const std::string path = written(contents, "left_out.e", GetParam()).string();
  testing::internal::CaptureStderr();
  (void)read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("left out: attributes of element block 20 'air', which have not a row for each element; "
                      "distribution factors on nodes of 1 set(s); distribution factors on sides of 2 set(s); "
                      "variables on node sets 'force'; variables on side sets 'flux', 'load'; attributes of nodes; "
                      "sets of elements"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("the last of 2 time steps is read; --step chooses another"), std::string::npos) << said;
  EXPECT_EQ(inspect(path)["unsupported"].size(), 7U);
  EXPECT_EQ(inspect(path)["time_steps"], 2);
  EXPECT_EQ(inspect(path)["times"], Json({0.0, 0.5}));
}

TEST_P(Exodus, MapsAndBlocksOfOneIdAreNamed) {
  test::NetcdfContents contents = test::exodus_sample();
  contents.variables.push_back({"elem_map1", {4}, std::vector<int>{4, 3, 2, 1}});
  contents.variables.push_back({"emap_names", {1, 8}, test::padded({"proc_id"}, 8)});
  contents.variables.push_back({"node_map1", {13}, std::vector<int>(13, 5)});
  std::vector<int> ids = std::get<std::vector<int>>(contents["eb_prop1"].values);
  ids[1] = ids[0];
  contents["eb_prop1"].values = ids;
  const std::string path = written(contents, "maps.e", GetParam()).string();
  testing::internal::CaptureStderr();
  (void)read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("map of elements 'proc_id'"), std::string::npos) << said;
  EXPECT_NE(said.find("map of nodes 'node_map1'"), std::string::npos) << said;
  EXPECT_NE(said.find("and an earlier one of this id"), std::string::npos) << said;
}

TEST_P(Exodus, VariablesNumbersAndPropertiesBecomeTags) {
  const std::string path = written(test::exodus_sample(), "tags.e", GetParam()).string();
  const mesh::MeshTables tables = read_tables(world(), path);
  std::map<std::string, const mesh::TagTable*> tags;
  for (const mesh::TagTable& tag : tables.tags) tags[tag.info.name] = &tag;
  ASSERT_EQ(tags.size(), 6U);
  constexpr std::int32_t hexes = 5;
  std::vector<double> temperature;
  for (int i = 0; i < 13; ++i) temperature.push_back(100.0 + i);
  EXPECT_EQ(values<double>(*tags.at("temperature"), -1), temperature);
  ASSERT_EQ(tags.at("density")->columns.size(), 1U);
  EXPECT_TRUE(tags.at("density")->columns[0].is_dense);
  EXPECT_EQ(values<double>(*tags.at("density"), hexes), (std::vector<double>{7.8, 1.2}));
  ASSERT_EQ(tags.at("strain")->columns.size(), 1U);
  EXPECT_FALSE(tags.at("strain")->columns[0].is_dense);
  EXPECT_EQ(values<double>(*tags.at("strain"), hexes), std::vector<double>{0.25});
  for (const std::int32_t row : tags.at("strain")->columns[0].rows)
    EXPECT_EQ(tables.blocks[hexes].rows.first(world().rank()) + row, 1);
  double energy = 0.0;
  ASSERT_EQ(tags.at("energy")->info.mesh_value.size(), sizeof energy);
  std::memcpy(&energy, tags.at("energy")->info.mesh_value.data(), sizeof energy);
  EXPECT_EQ(energy, 42.0);
  EXPECT_EQ(values<std::int32_t>(*tags.at("GLOBAL_ID"), hexes), (std::vector<std::int32_t>{11, 12}));
  EXPECT_EQ(values<std::int32_t>(*tags.at("GLOBAL_ID"), 4), std::vector<std::int32_t>{13});
  EXPECT_EQ(values<std::int32_t>(*tags.at("GLOBAL_ID"), 1), std::vector<std::int32_t>{14});
  const mesh::TagOnSets& colour = tags.at("COLOUR")->on_sets;
  EXPECT_EQ(colour.sets, (std::vector<std::int32_t>{0, 1, 2, 3}));
  const std::array<std::int32_t, 4> colours{1, 2, 4, 5};  // the third belongs to the empty block
  EXPECT_TRUE(std::ranges::equal(colour.items.bytes, std::as_bytes(std::span(colours))));

  EXPECT_EQ(read_tables(world(), path, {.without_tags = {"GLOBAL_ID", "strain"}}).tags.size(), 4U);
  EXPECT_TRUE(read_tables(world(), path, {.without_tags = {"*"}}).tags.empty());
  // The numbers of elements are not their places, so a mesh keeps them too.
  const mesh::Mesh mesh = read(world(), path);
  std::vector<std::int32_t> numbers;
  for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c)
    std::memcpy(&numbers.emplace_back(), mesh.tag("GLOBAL_ID").value(mesh::Dim::volume, local_id(c)).data(), 4);
  numbers = test::collect(world(), numbers);
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{11, 12, 13}));
}

TEST_P(Exodus, InspectingFindsTheSame) {
  const auto path = written(test::exodus_sample(), "inspected.e", GetParam());
  if (world().rank() != 0) return;  // local
  const Json found = inspect(path.string());
  EXPECT_TRUE(found["format"].get<std::string>().starts_with("Exodus II, netCDF")) << found["format"];
  EXPECT_EQ(found["vertices"], 13);
  EXPECT_EQ(found["entities"], (Json{{"quads", 1}, {"pyramids", 1}, {"hexes", 2}}));
  EXPECT_EQ(found["sides_in_sets"], 10);
  EXPECT_EQ(found["sets"], (Json{{"total", 8}, {"parts", 0}, {"material", 4}, {"dirichlet", 1}, {"neumann", 3}}));
  EXPECT_EQ(found["named_sets"][3], (Json{{"kind", "material"}, {"id", 40}, {"name", "skin"}}));
  EXPECT_EQ(found["tags"].size(), 4U);
  EXPECT_EQ(found["box"], (Json{{"low", {0.0, 0.0, 0.0}}, {"high", {2.0, 1.0, 2.0}}}));
  EXPECT_EQ(found["quality"]["inverted"], 0);
}

TEST_P(Exodus, OlderLayoutsReadTheSame) {
  test::NetcdfContents old = test::exodus_sample();
  const WholeFile expected(world(), read_tables(world(), written(old, "new.e", GetParam()).string()));
  std::vector<double> all;
  for (const char* name : {"coordx", "coordy", "coordz"}) {
    const auto x = std::get<std::vector<double>>(old[name].values);
    all.insert(all.end(), x.begin(), x.end());
    old.remove(name);
  }
  old.variables.push_back({"coord", {3, 13}, all});
  auto together = old["vals_nod_var1"];
  old.remove("vals_nod_var1");
  together.name = "vals_nod_var";
  together.shape = {2, 1, 13};
  old.variables.push_back(together);
  const mesh::MeshTables tables = read_tables(world(), written(old, "old.e", GetParam()).string());
  EXPECT_EQ(WholeFile(world(), tables), expected);
  const auto tag = std::ranges::find(tables.tags, "temperature", [](const mesh::TagTable& t) { return t.info.name; });
  ASSERT_NE(tag, tables.tags.end());
  EXPECT_EQ(values<double>(*tag, -1).at(12), 112.0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Exodus,
                         testing::Values(NetcdfFormat::cdf1, NetcdfFormat::cdf2, NetcdfFormat::cdf5,
                                         NetcdfFormat::hdf5));

// The parametric positions of the nodes, in the order of the Exodus II manual.
const std::vector<std::array<int, 3>> hex27_places{
    {0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}, {1, 0, 0},
    {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 2},
    {1, 2, 2}, {0, 1, 2}, {1, 1, 1}, {1, 1, 0}, {1, 1, 2}, {0, 1, 1}, {2, 1, 1}, {1, 0, 1}, {1, 2, 1}};

test::NetcdfContents one_hex(int n_nodes) {
  test::NetcdfContents file;
  std::array<std::vector<double>, 3> x;
  std::vector<int> nodes;
  for (int i = 0; i < n_nodes; ++i) {
    nodes.push_back(i + 1);
    for (std::size_t k = 0; k < 3; ++k) x[k].push_back(hex27_places[i][k]);
  }
  file.variables = {{"coordx", {n_nodes}, x[0]},
                    {"coordy", {n_nodes}, x[1]},
                    {"coordz", {n_nodes}, x[2]},
                    {"eb_prop1", {1}, std::vector<int>{1}},
                    {"connect1", {1, n_nodes}, nodes, {{"elem_type", "HEX" + std::to_string(n_nodes)}}},
                    {"ss_prop1", {1}, std::vector<int>{1}},
                    {"elem_ss1", {6}, std::vector<int>(6, 1)},
                    {"side_ss1", {6}, std::vector<int>{1, 2, 3, 4, 5, 6}}};
  return file;
}

TEST(ExodusFill, WhatWasNeverWrittenHasItsFillValue) {
  test::NetcdfContents contents = test::exodus_sample();
  contents["eb_names"].is_written = false;
  const WholeFile whole(world(), read_tables(world(), written(contents, "fill.e", NetcdfFormat::hdf5).string()));
  ASSERT_EQ(whole.cells.size(), 9U);
  ASSERT_GE(whole.sets.size(), 4U);
  for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(std::get<2>(whole.sets[s]), "") << s;
  EXPECT_EQ(std::get<2>(whole.sets[4]), "fixed");
}

TEST(ExodusOrder, NodesAmidEdgesAndFacesKeepTheirPlaces) {
  for (const int n_nodes : {8, 20, 27}) {
    SCOPED_TRACE(n_nodes);
    const WholeFile whole(world(),
                          read_tables(world(), written(one_hex(n_nodes), "hex.e", NetcdfFormat::cdf1).string()));
    const auto sum = [&](const std::vector<std::int64_t>& nodes, std::size_t n) {
      std::array<double, 3> total{};
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < 3; ++k) total[k] += whole.coordinates[static_cast<std::size_t>(3 * nodes[i]) + k];
      return total;
    };
    const auto at = [&](std::int64_t node) { return sum({node}, 1); };
    const auto mean = [&](const std::vector<std::int64_t>& nodes) {
      auto x = sum(nodes, nodes.size());
      for (double& v : x) v /= static_cast<double>(nodes.size());
      return x;
    };
    ASSERT_EQ(whole.cells.size(), 7U);
    const auto hex = whole.cells[6].second;
    const auto& topology = mesh::topology(CellType::hex);
    for (std::size_t e = 0; e < 12 && n_nodes > 8; ++e)
      EXPECT_EQ(at(hex[8 + e]),
                mean({hex[static_cast<std::size_t>(topology.edges[2 * e])], hex[topology.edges[2 * e + 1]]}));
    for (std::size_t s = 0; s < 6; ++s) {
      const auto side = whole.cells[s].second;
      ASSERT_EQ(side.size(), n_nodes == 8 ? 4U : (n_nodes == 20 ? 8U : 9U));
      std::set<std::int64_t> corners;
      for (std::size_t c = 0; c < 4; ++c) corners.insert(hex[topology.sides[5 * s + c]]);
      EXPECT_EQ(std::set(side.begin(), side.begin() + 4), corners);
      for (std::size_t c = 0; c < 4 && side.size() > 4; ++c)
        EXPECT_EQ(at(side[4 + c]), mean({side[c], side[(c + 1) % 4]}));
      if (side.size() < 9) continue;
      EXPECT_EQ(at(side[8]), mean({side[0], side[1], side[2], side[3]}));
      EXPECT_EQ(hex[20 + s], side[8]);
    }
    if (n_nodes == 27) {
      EXPECT_EQ(at(hex[26]), (std::array<double, 3>{1, 1, 1}));
    }
  }
}

class ExodusFlat : public testing::TestWithParam<const char*> {};

TEST_P(ExodusFlat, SidesAreEdges) {
  // Two triangles and a quad in the plane. The first two sides of shells are their faces.
  const bool is_shell = std::string(GetParam()) != "TRI3";
  const int shift = is_shell ? 2 : 0;
  test::NetcdfContents file;
  file.variables = {{"coordx", {6}, std::vector<double>{0, 1, 0, 1, 2, 2}},
                    {"coordy", {6}, std::vector<double>{0, 0, 1, 1, 0, 1}},
                    {"eb_prop1", {2}, std::vector<int>{1, 2}},
                    {"connect1", {2, 3}, std::vector<int>{1, 2, 3, 2, 4, 3}, {{"elem_type", GetParam()}}},
                    {"connect2", {1, 4}, std::vector<int>{2, 5, 6, 4}, {{"elem_type", "QUAD"}}},
                    {"ss_prop1", {1}, std::vector<int>{7}},
                    {"elem_ss1", {4}, std::vector<int>{1, 2, 3, 3}},
                    {"side_ss1", {4}, std::vector<int>{2 + shift, 3 + shift, 4, 1}}};
  const WholeFile whole(world(), read_tables(world(), written(file, "flat.e", NetcdfFormat::cdf2).string()));
  EXPECT_EQ(whole.coordinates[3 * 5 + 2], 0.0);
  EXPECT_EQ(whole.cells, (Cells{{CellType::edge, {1, 2}},
                                {CellType::edge, {3, 1}},
                                {CellType::edge, {1, 4}},
                                {CellType::triangle, {0, 1, 2}},
                                {CellType::triangle, {1, 3, 2}},
                                {CellType::quad, {1, 4, 5, 3}}}));
  EXPECT_EQ(whole.members, (std::vector<Rows>{{{2, 0}, {2, 1}}, {{2, 2}}, {{1, 0}, {1, 1}, {1, 2}}}));
}
INSTANTIATE_TEST_SUITE_P(Types, ExodusFlat, testing::Values("TRI3", "TRISHELL3", "TriShell"));

#define BARRIO_EXODUS_FILE(path, name)                             \
  const auto path = test::interop(std::string("other/") + (name)); \
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << (name)

TEST(ExodusOrder, SidesOfBarsAreTheirEndsWhereBarsAreTheCells) {
  test::NetcdfContents file;
  file.variables = {{"coordx", {3}, std::vector<double>{0, 0.3, 1}},
                    {"eb_prop1", {1}, std::vector<int>{1}},
                    {"connect1", {2, 2}, std::vector<int>{1, 2, 2, 3}, {{"elem_type", "BAR2"}}},
                    {"ss_prop1", {2}, std::vector<int>{101, 102}},
                    {"elem_ss1", {1}, std::vector<int>{1}},
                    {"side_ss1", {1}, std::vector<int>{1}},
                    {"elem_ss2", {2}, std::vector<int>{2, 1}},
                    {"side_ss2", {2}, std::vector<int>{2, 2}}};
  const std::string path = written(file, "bars.e", NetcdfFormat::cdf2).string();
  const WholeFile whole(world(), read_tables(world(), path));
  EXPECT_EQ(whole.cells, (Cells{{CellType::edge, {0, 1}}, {CellType::edge, {1, 2}}}));
  EXPECT_EQ(whole.members, (std::vector<Rows>{{{1, 0}, {1, 1}}, {{0, 0}}, {{0, 1}, {0, 2}}}));
  const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1});
  mesh.validate();
}

TEST(ExodusInterop, AMeshOfBarsWithNamesNeverWritten) {
  const auto path = test::interop("foreign/1d-2elems.e");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no foreign/1d-2elems.e";
  const WholeFile whole(world(), read_tables(world(), path->string()));
  EXPECT_EQ(whole.cells.size(), 2U);
  EXPECT_EQ(whole.sets,
            (decltype(whole.sets){
                {SetKind::material, 1, ""}, {SetKind::neumann, 101, "left"}, {SetKind::neumann, 102, "right"}}));
  EXPECT_EQ(whole.members, (std::vector<Rows>{{{1, 0}, {1, 1}}, {{0, 0}}, {{0, 2}}}));
}

TEST(ExodusInterop, AHexWithASideSetOnEachSide) {
  BARRIO_EXODUS_FILE(path, "hex_2x2x2_ss.exo");
  const WholeFile whole(world(), read_tables(world(), path->string()));
  // Node i + 2 j + 4 k is at (i, j, k). The first set names the sides 5, 6, 1, 2, 3, 4.
  EXPECT_EQ(whole.cells, (Cells{{CellType::quad, {0, 2, 3, 1}},
                                {CellType::quad, {4, 5, 7, 6}},
                                {CellType::quad, {0, 1, 5, 4}},
                                {CellType::quad, {1, 3, 7, 5}},
                                {CellType::quad, {3, 2, 6, 7}},
                                {CellType::quad, {2, 0, 4, 6}},
                                {CellType::hex, {0, 1, 3, 2, 4, 5, 7, 6}}}));
  const auto of = [&](SetKind kind, std::int32_t id) {
    const auto set = std::ranges::find(whole.sets, std::tuple(kind, id, std::string()));
    return whole.members[set - whole.sets.begin()];
  };
  EXPECT_EQ(of(SetKind::neumann, 1), (Rows{{2, 0}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 5}}));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(of(SetKind::neumann, 101 + i), (Rows{{2, i}}));
  EXPECT_EQ(of(SetKind::dirichlet, 106), (Rows{{0, 0}, {0, 2}, {0, 4}, {0, 6}}));
}

TEST(ExodusInterop, CountsOfFilesOfOtherPrograms) {
  struct Sample {
    const char* file;
    std::int64_t n_vertices, n_hexes, n_quads, n_fixed;
  };
  for (const Sample& sample :
       {Sample{"1khex.g", 1331, 1000, 100, 121}, Sample{"8hex.g", 27, 8, 0, 0}, Sample{"mbtest2.g", 64, 27, 9, 16}}) {
    SCOPED_TRACE(sample.file);
    BARRIO_EXODUS_FILE(path, sample.file);
    const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
    mesh.validate();
    std::array<std::int64_t, 4> n{};
    for (std::size_t d = 0; d < 4; ++d) n[d] = static_cast<std::int64_t>(mesh.n_owned(mesh::Dim{static_cast<int>(d)}));
    mpi::all_reduce(world(), std::span<std::int64_t>(n), MPI_SUM);
    EXPECT_EQ(n, (std::array<std::int64_t, 4>{sample.n_vertices, 0, sample.n_quads, sample.n_hexes}));
    for (const mesh::MeshSet& set : mesh.sets()) {
      const auto n_members = test::count_owned(mesh, set);
      EXPECT_EQ(n_members[0], set.info.kind == SetKind::dirichlet ? sample.n_fixed : 0);
      EXPECT_EQ(n_members[2], set.info.kind == SetKind::neumann ? sample.n_quads : 0);
      EXPECT_EQ(n_members[3], set.info.kind == SetKind::material ? sample.n_hexes : 0);
    }
  }
}

}  // namespace
}  // namespace barrio::io
