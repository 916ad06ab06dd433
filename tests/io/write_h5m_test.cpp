#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::WholeFile;
using test::world;
namespace fs = std::filesystem;

/// Last row of the table of sets: one past the ends are the lengths of what it points into.
void expect_sound_sets(const fs::path& path) {
  const auto list = test::numbers(path, "/tstt/sets/list");
  ASSERT_GE(list.size(), 4U);
  ASSERT_EQ(list.size() % 4, 0U);
  EXPECT_EQ(list[list.size() - 4], static_cast<double>(test::numbers(path, "/tstt/sets/contents").size()) - 1.0);
  EXPECT_EQ(list[list.size() - 3], -1.0) << "no set has children";
  EXPECT_EQ(list[list.size() - 2], -1.0) << "no set has parents";
}

/// Write tables, read them back, and find every number again.
void expect_round_trip(const mesh::MeshTables& tables, const std::string& name) {
  SCOPED_TRACE(name);
  const fs::path path = test::scratch() / (name + ".h5m");
  write_h5m(world(), tables, path.string());
  const mesh::MeshTables again = read_tables(world(), path.string());
  const WholeFile before(world(), tables);
  const WholeFile after(world(), again);
  EXPECT_EQ(after.coordinates, before.coordinates);
  EXPECT_EQ(after.cells, before.cells);
  EXPECT_EQ(after.parts, before.parts);
  EXPECT_EQ(again.n_parts, tables.n_parts);
  EXPECT_EQ(std::set(after.sets.begin(), after.sets.end()), std::set(before.sets.begin(), before.sets.end()));
  // The file groups sets by kind, so compare them by name.
  const auto by_name = [](const WholeFile& whole) {
    std::multimap<std::tuple<mesh::SetKind, std::int32_t, std::string>, std::set<std::pair<int, std::int64_t>>> all;
    for (std::size_t s = 0; s < whole.sets.size(); ++s) all.emplace(whole.sets[s], whole.members[s]);
    return all;
  };
  EXPECT_EQ(by_name(after), by_name(before));
  if (world().rank() != 0) return;
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
  expect_sound_sets(path);
  const Json found = inspect(path.string());
  EXPECT_EQ(found["format"], "h5m");
  EXPECT_EQ(found["vertices"], tables.vertices.n_rows);
  EXPECT_EQ(found["sets"]["parts"], tables.n_parts);
}

TEST(WriteH5m, BoxesComeBack) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {4, 3, 5}, .tets = true});
  expect_round_trip(tables, "whole");
  mesh::partition_cells(world(), tables, 5);
  expect_round_trip(tables, "parts");
  expect_round_trip(mesh::reorder_by_part(world(), tables), "ordered");
}

TEST(WriteH5m, OneCellOnManyRanksComesBack) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {1, 1, 1}});
  mesh::partition_cells(world(), tables, 1);
  expect_round_trip(tables, "one");
}

TEST(WriteH5m, SetsThatLieAnyhowComeBack) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {4, 4, 4}});
  // Every third vertex, every second cell, one face, nothing at all; held by the last rank.
  const auto set = [&](const char* name, std::int32_t id) {
    tables.sets.push_back({.kind = mesh::SetKind::dirichlet, .id = id, .name = name});
    return static_cast<std::int32_t>(tables.sets.size() - 1);
  };
  const std::int32_t thirds = set("thirds", 7);
  const std::int32_t halves = set("halves", 8);
  const std::int32_t face = set("", 9);
  set("nothing", 10);
  if (world().rank() == world().size() - 1) {
    for (std::int64_t row = 0; row < 125; row += 3) tables.members.push_back({thirds, Dim::vertex, row, 1});
    for (std::int64_t row = 0; row < 64; row += 2) tables.members.push_back({halves, Dim::volume, row, 1});
    tables.members.push_back({halves, Dim::vertex, 100, 25});
    tables.members.push_back({face, Dim::face, 50, 1});
  }
  expect_round_trip(tables, "anyhow");
}

TEST(WriteH5m, WingComesBack) {
  mesh::MeshTables tables = read_tables(world(), test::data("wing/wing_coarse.msh").string());
  mesh::partition_cells(world(), tables, 8);
  expect_round_trip(mesh::reorder_by_part(world(), tables), "wing");
}

TEST(WriteH5m, PolygonsOfAnyLengthComeBack) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {3, 3, 2}});
  // The faces as polygons of 3 and 4 corners in turn.
  mesh::CellBlock& block = tables.blocks[1];
  mesh::CellBlock polygons;
  polygons.type = mesh::CellType::polygon;
  polygons.rows = block.rows;
  polygons.offsets.push_back(0);
  for (std::size_t i = 0; i < block.rows.size(world().rank()); ++i) {
    const auto nodes = block.cell(i);
    const bool is_odd = (block.rows.first(world().rank()) + static_cast<std::int64_t>(i)) % 2 == 1;
    polygons.nodes.insert(polygons.nodes.end(), nodes.begin(), nodes.end() - (is_odd ? 1 : 0));
    polygons.offsets.push_back(static_cast<std::int64_t>(polygons.nodes.size()));
  }
  block = polygons;
  expect_round_trip(tables, "polygons");
  mesh::partition_cells(world(), tables, 3);
  tables.blocks.erase(tables.blocks.begin());  // now they are the cells
  tables.sets.clear();
  tables.members.clear();
  mesh::partition_cells(world(), tables, 3);
  tables.sets.push_back({.kind = mesh::SetKind::material, .id = 1, .name = "skin"});
  if (world().rank() == 0) tables.members.push_back({0, Dim::face, 0, block.rows.n_rows});
  expect_round_trip(mesh::reorder_by_part(world(), tables), "surface");
}

TEST(WriteH5m, RealFilesComeBack) {
  for (const char* name : {"p8ex1.h5m", "64bricks_1khex.h5m", "mpas_p8.h5m", "32hex_ef.h5m"}) {
    const auto path = test::interop(std::string("h5m/") + name);
    if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << name;
    expect_round_trip(read_tables(world(), path->string()), std::string("again_") + name);
  }
}

TEST(WriteH5m, WhatSomeRanksWriteAllOthersRead) {
  const fs::path by_all = test::scratch() / "by_all.h5m";
  const fs::path by_one = test::scratch() / "by_one.h5m";
  const auto make = [](mpi::Context& context, const fs::path& path) {
    mesh::MeshTables tables = mesh::make_box(context, {.n = {5, 4, 3}, .tets = true});
    mesh::partition_cells(context, tables, 6);
    write_h5m(context, mesh::reorder_by_part(context, std::move(tables)), path.string());
  };
  make(world(), by_all);
  const mpi::Comm alone = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : 1, world().rank());
  mpi::Context some(alone.get());  // rank 0, and apart from it the others together
  if (world().rank() == 0) make(some, by_one);
  mpi::barrier(world());
  EXPECT_EQ(test::digest(by_all), test::digest(by_one)) << "the file depends on the number of ranks";

  const mesh::MeshTables all_by_all = read_tables(world(), by_all.string());
  const WholeFile expected(world(), all_by_all);
  EXPECT_EQ(WholeFile(world(), read_tables(world(), by_one.string())), expected);
  EXPECT_EQ(WholeFile(some, read_tables(some, by_all.string())), expected);
  EXPECT_EQ(WholeFile(some, read_tables(some, by_one.string())), expected);
}

}  // namespace
}  // namespace barrio::io
