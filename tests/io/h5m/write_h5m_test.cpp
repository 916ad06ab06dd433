#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::tagged_box;
using test::WholeFile;
using test::world;
namespace fs = std::filesystem;

/// Expect that the ends in the last row of the table of sets match the lengths of the lists they point into.
void expect_sound_sets(const fs::path& path) {
  const auto list = test::numbers(path, "/tstt/sets/list");
  if (list.empty()) return;  // a file without sets
  ASSERT_EQ(list.size() % 4, 0U);
  EXPECT_EQ(list[list.size() - 4], static_cast<double>(test::numbers(path, "/tstt/sets/contents").size()) - 1.0);
  for (const auto& [column, name] : {std::pair(3U, "/tstt/sets/children"), std::pair(2U, "/tstt/sets/parents")}) {
    const double last = list[list.size() - column];
    if (last < 0.0) continue;
    EXPECT_EQ(last, static_cast<double>(test::numbers(path, name).size()) - 1.0);
  }
}

/// Describe all data of sets except their members, as text.
std::vector<std::string> describe_sets(const mesh::MeshTables& tables) {
  std::vector<std::string> all;
  for (const mesh::SetInfo& set : tables.sets) {
    std::string text = fmt::format("{} {} '{}' {} {} {} children {} parents {} contains", static_cast<int>(set.kind),
                                   set.id, set.name, value(set.geometry_dim), set.is_ordered, set.tracks_members,
                                   fmt::join(set.children, ","), fmt::join(set.parents, ","));
    std::vector<std::pair<std::int64_t, std::int32_t>> contained;
    for (const mesh::SetInSet& inner : set.contained) contained.emplace_back(inner.position, inner.set);
    std::sort(contained.begin(), contained.end());
    for (const auto& [position, inner] : contained) text += fmt::format(" {}@{}", inner, position);
    for (const mesh::SetRole& role : set.more_roles)
      text += fmt::format(" also {} {}", static_cast<int>(role.kind), role.id);
    all.push_back(text);
  }
  return all;
}

/// Return the rows of ordered sets with their positions.
std::set<std::array<std::int64_t, 4>> ordered_members(const mesh::MeshTables& tables) {
  std::set<std::array<std::int64_t, 4>> all;
  for (const mesh::SetRows& rows : test::collect(world(), tables.members))
    for (std::int64_t i = 0; i < rows.count && rows.position >= 0; ++i)
      all.insert({rows.set, rows.position + i, value(rows.dim), rows.first + i});
  return all;
}

/// Gather every value of every tag of every rank: "tag block row" -> bytes.
std::map<std::string, std::vector<int>> describe_tags(const mesh::MeshTables& tables) {
  std::map<std::string, std::vector<int>> all;
  const auto numbers = [](std::span<const std::byte> bytes) {
    std::vector<int> out;
    for (const std::byte byte : bytes) out.push_back(std::to_integer<int>(byte));
    return out;
  };
  for (const mesh::TagTable& tag : tables.tags) {
    const mesh::TagInfo& info = tag.info;
    all[fmt::format("{} type {} x {} varies {} storage {}", info.name, name(info.type), info.n_components,
                    info.length_varies, static_cast<int>(info.storage))] = {};
    all[info.name + " default"] = numbers(info.default_value);
    all[info.name + " mesh"] = numbers(info.mesh_value);
    for (std::size_t i = 0; i < tag.on_sets.sets.size(); ++i)
      all[fmt::format("{} set {}", info.name, tag.on_sets.sets[i])] =
          numbers(tag.on_sets.items.value(i, info.value_bytes()));
    for (const mesh::TagColumn& column : tag.columns) {
      const Slabs& slabs = column.block < 0 ? tables.vertices : tables.blocks[column.block].rows;
      std::vector<std::int64_t> rows;
      std::vector<std::int32_t> sizes;
      std::vector<std::byte> bytes;
      const std::size_t n = column.is_dense ? slabs.size(world().rank()) : column.rows.size();
      for (std::size_t i = 0; i < n; ++i) {
        rows.push_back(slabs.first(world().rank()) + (column.is_dense ? static_cast<std::int64_t>(i) : column.rows[i]));
        const auto value = column.items.value(i, info.value_bytes());
        sizes.push_back(static_cast<std::int32_t>(value.size()));
        bytes.insert(bytes.end(), value.begin(), value.end());
      }
      rows = test::collect(world(), rows);
      sizes = test::collect(world(), sizes);
      bytes = test::collect(world(), bytes);
      std::span<const std::byte> rest = bytes;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        all[fmt::format("{} block {} row {}", info.name, column.block, rows[i])] =
            numbers(rest.first(static_cast<std::size_t>(sizes[i])));
        rest = rest.subspan(sizes[i]);
      }
    }
  }
  return all;
}

/// Write tables, read them back, and compare every number.
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
  EXPECT_EQ(describe_sets(again), describe_sets(tables));
  EXPECT_EQ(ordered_members(again), ordered_members(tables));
  auto tags = describe_tags(again);
  if (std::ranges::find(tables.tags, "GLOBAL_ID", [](const auto& tag) { return tag.info.name; }) == tables.tags.end())
    std::erase_if(tags, [](const auto& entry) { return entry.first.starts_with("GLOBAL_ID"); });  // the writer's own
  if (std::ranges::find(tables.tags, "NAME", [](const auto& tag) { return tag.info.name; }) == tables.tags.end())
    std::erase_if(tags, [](const auto& entry) { return entry.first.starts_with("NAME"); });
  EXPECT_EQ(tags, describe_tags(tables));
  if (world().rank() != 0) return;
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
  expect_sound_sets(path);
  const Json found = inspect(path.string());
  EXPECT_EQ(found["format"], "h5m");
  EXPECT_EQ(found["vertices"], tables.vertices.n_rows);
  EXPECT_EQ(found["sets"]["parts"], tables.n_parts);
}

TEST(WriteH5m, SetsWithoutAMeaningKeepTheirIds) {
  for (const bool has_numbers : {false, true}) {  // numbers of its own, as from Exodus
    mesh::MeshTables tables = mesh::make_box(world(), {.n = {3, 1, 1}});
    tables.sets = {{.kind = mesh::SetKind::other, .id = 5, .name = "five"},
                   {.kind = mesh::SetKind::material, .id = 6, .name = "six"},
                   {.kind = mesh::SetKind::other, .id = 0, .name = "none"}};
    tables.members.clear();
    if (world().rank() == 0)
      for (const int set : {0, 1, 2}) tables.members.push_back({set, mesh::Dim::volume, set, 1});
    if (has_numbers) {
      mesh::TagTable& tag = tables.tags.emplace_back(mesh::TagTable{.info = {.name = "GLOBAL_ID"}});
      tag.info.type = mesh::TagType::int32;
      tag.info.storage = mesh::TagStorage::dense;
      std::vector<std::int32_t> numbers(tables.vertices.size(world().rank()), 9);
      tag.columns.push_back({.block = -1});
      const auto bytes = std::as_bytes(std::span(numbers));
      tag.columns[0].items.bytes.assign(bytes.begin(), bytes.end());
    }
    const std::string path = (test::scratch() / "other_ids.h5m").string();
    write_h5m(world(), tables, path);
    std::vector<std::pair<std::int32_t, std::string>> found;
    for (const mesh::SetInfo& set : read_tables(world(), path).sets) found.emplace_back(set.id, set.name);
    EXPECT_EQ(found, (decltype(found){{5, "five"}, {6, "six"}, {0, "none"}}));
  }
}

TEST(WriteH5m, NumbersOfAProgramStayWhereTheyAreNotRows) {
  // of vertices: rows from 1, all zero, backwards, or from 100
  struct Case {
    const char* name;
    std::int32_t first, step;
    bool stays;
  };
  for (const Case& one : {Case{"rows", 1, 1, false}, Case{"zero", 0, 0, false}, Case{"backwards", 1000, -1, true},
                          Case{"from100", 100, 1, true}}) {
    SCOPED_TRACE(one.name);
    mesh::MeshTables tables = mesh::make_box(world(), {.n = {3, 2, 1}});
    mesh::TagTable& tag = tables.tags.emplace_back(mesh::TagTable{.info = {.name = "GLOBAL_ID"}});
    tag.info.type = mesh::TagType::int32;
    tag.info.storage = mesh::TagStorage::dense;
    std::vector<std::int32_t> numbers;
    for (std::int64_t row = tables.vertices.first(world().rank()); row < tables.vertices.first(world().rank() + 1);
         ++row)
      numbers.push_back(one.first + one.step * static_cast<std::int32_t>(row));
    tag.columns.push_back({.block = -1});
    const auto bytes = std::as_bytes(std::span(numbers));
    tag.columns[0].items.bytes.assign(bytes.begin(), bytes.end());
    const std::string path = (test::scratch() / "numbers.h5m").string();
    write_h5m(world(), tables, path);
    const mesh::Mesh mesh = read(world(), path);
    const auto is_it = [](const mesh::TagInfo& info) { return info.name == "GLOBAL_ID"; };
    EXPECT_EQ(std::ranges::any_of(mesh.tags(), [&](const auto& found) { return is_it(found.info); }), one.stays);
    const mesh::MeshTables without = read_tables(world(), path, {.without_tags = {"GLOBAL_ID"}});
    EXPECT_TRUE(std::ranges::none_of(without.tags, [&](const auto& found) { return is_it(found.info); }));
    // the writer's own rows never become a tag of a mesh
    tables.tags.clear();
    write_h5m(world(), tables, path);
    const mesh::Mesh plain = read(world(), path);
    EXPECT_TRUE(std::ranges::none_of(plain.tags(), [&](const auto& found) { return is_it(found.info); }));
    mpi::barrier(world());
  }
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
  // Every third vertex, every second cell, one face, and an empty set; on the last rank.
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

TEST(WriteH5m, TagsOfAllKindsAndSetsInSetsComeBack) {
  mesh::MeshTables tables = tagged_box(world());
  validate(world(), tables, "tagged box");
  expect_round_trip(tables, "tagged");
  mesh::partition_cells(world(), tables, 5);
  expect_round_trip(tables, "tagged_parts");
  expect_round_trip(mesh::reorder_by_part(world(), tables), "tagged_ordered");
}

/// Expect the tags of the tables in the distributed mesh, also on copies and ghosts.
void expect_tags_in_mesh(const mesh::MeshTables& tables) {
  const auto expected = describe_tags(tables);
  const mesh::Mesh mesh(world(), tables, {.ghost_layers = 1});
  ASSERT_EQ(mesh.tags().size(), tables.tags.size());
  for (const mesh::MeshTag& tag : mesh.tags()) {
    for (int d = 0; d < 4; ++d) {
      if (d > 0 && mesh.n_global(Dim{d}) == 0) continue;
      const auto& ids = d == 0 ? mesh.vertices().global_ids : mesh.entities(Dim{d}).global_ids;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        // In a box each dimension is one block: cells, faces, edges.
        const auto found =
            expected.find(fmt::format("{} block {} row {}", tag.info.name, d == 0 ? -1 : 3 - d, value(ids[i])));
        std::vector<int> bytes;
        for (const std::byte byte : tag.value(Dim{d}, local_id(i))) bytes.push_back(std::to_integer<int>(byte));
        ASSERT_EQ(bytes, found == expected.end() ? expected.at(tag.info.name + " default") : found->second)
            << tag.info.name << " " << d << " " << value(ids[i]);
      }
    }
  }
  EXPECT_EQ(mesh.tag("few").on_sets.sets, (std::vector<std::int32_t>{1, 4}));
  EXPECT_THROW(static_cast<void>(mesh.tag("fewer")), Error);
  // A set has the members of the sets that it contains: volume 1 through the list.
  const mesh::MeshSet& outer = mesh.set(mesh::SetKind::neumann, "outer");
  for (const LocalId cell : mesh.set(mesh::SetKind::material, "volume 1").entities[3])
    EXPECT_TRUE(outer.entities[3].contains(cell));
}

TEST(WriteH5m, TagsGoWithEntitiesIntoTheMeshAndIntoNewOrder) {
  mesh::MeshTables tables = tagged_box(world());
  mesh::partition_cells(world(), tables, 5);
  expect_tags_in_mesh(tables);
  // The tag of a vertex is its row; after reordering it is the old row, which has the same coordinates.
  const WholeFile before(world(), tables);
  tables = mesh::reorder_by_part(world(), tables);
  expect_tags_in_mesh(tables);
  const mesh::Mesh mesh(world(), tables, {.ghost_layers = 1});
  const std::string name = mesh.tags()[0].info.name;
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
    double old_row = 0.0;
    std::memcpy(&old_row, mesh.tag(name).value(Dim::vertex, local_id(v)).data(), sizeof old_row);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(mesh.vertices().coordinates[3 * v + k], before.coordinates[3 * static_cast<std::size_t>(old_row) + k]);
  }
}

TEST(WriteH5m, OrderedSetsCloseUpWhereAFileNamedWhatItDoesNotHave) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {2, 2, 2}});
  tables.sets = {{.name = "first", .is_ordered = true, .contained = {{1, 6}}}, {.name = "second", .is_ordered = true}};
  tables.members.clear();
  if (world().rank() == 0) {
    tables.members.push_back({0, Dim::vertex, 7, 1, 1});
    tables.members.push_back({1, Dim::vertex, 4, 3, 10});
  }
  if (world().rank() == world().size() - 1) tables.members.push_back({0, Dim::vertex, 2, 2, 3});
  const fs::path path = test::scratch() / "holes.h5m";
  write_h5m(world(), tables, path.string());
  const mesh::MeshTables again = read_tables(world(), path.string());
  EXPECT_EQ(ordered_members(again),
            (std::set<std::array<std::int64_t, 4>>{
                {0, 0, 0, 7}, {0, 1, 0, 2}, {0, 2, 0, 3}, {1, 0, 0, 4}, {1, 1, 0, 5}, {1, 2, 0, 6}}));
  ASSERT_EQ(again.sets[0].contained.size(), 1U);
  EXPECT_EQ(again.sets[0].contained[0].position, 3);
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
    polygons.offsets.push_back(polygons.nodes.size());
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

/// Return the faces of each polyhedron, without the order of their corners.
std::vector<std::multiset<std::set<std::int64_t>>> faces_of_cells(const mesh::MeshTables& tables) {
  std::vector<std::multiset<std::set<std::int64_t>>> all;
  for (const auto& [type, nodes] : WholeFile(world(), tables).cells) {
    if (type != mesh::CellType::polyhedron) continue;
    auto& faces = all.emplace_back();
    for (const auto& face : test::faces_of_loops(nodes)) faces.emplace(face.begin(), face.end());
  }
  return all;
}

TEST(WriteH5m, PolyhedraComeBackWithTheirFaces) {
  mesh::MeshTables tables = test::honeycomb(world(), 3, 3, 2);
  mesh::partition_cells(world(), tables, 4);
  const fs::path path = test::scratch() / "honeycomb.h5m";
  write_h5m(world(), tables, path.string());
  EXPECT_EQ(tables.blocks.size(), 1U) << "what is written stays as it is";
  const mesh::MeshTables again = read_tables(world(), path.string());
  EXPECT_EQ(faces_of_cells(again), faces_of_cells(tables));
  EXPECT_EQ(test::collect(world(), again.parts), test::collect(world(), tables.parts));
  EXPECT_EQ(again.n_global(Dim::face), 3 * 9 + (3 * 3 * 3 + 2 * (3 + 3) - 1) * 2) << "hexagons in three layers, walls";
  expect_round_trip(again, "honeycomb_again");
  const mesh::Mesh mesh(world(), again, {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.n_global(Dim::face), again.n_global(Dim::face)) << "each listed face is one of a cell";
}

TEST(WriteH5m, PolyhedraMakeTheSameFileOnAnyRankCount) {
  const fs::path by_all = test::scratch() / "cells_by_all.h5m";
  const fs::path by_one = test::scratch() / "cells_by_one.h5m";
  write_h5m(world(), test::honeycomb(world(), 4, 2, 2), by_all.string());
  const mpi::Comm split = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : MPI_UNDEFINED, 0);
  if (world().rank() != 0) return;
  mpi::Context alone(split.get());
  write_h5m(alone, test::honeycomb(alone, 4, 2, 2), by_one.string());
  EXPECT_EQ(test::digest(by_all), test::digest(by_one));
}

TEST(WriteH5m, RealFilesComeBack) {
  for (const char* name :
       {"64bricks_1khex.h5m", "64bricks_12ktet.h5m", "p8ex1.h5m", "oneside.h5m", "ln4.h5m", "32hex_ef.h5m",
        "16_unmerged_hex.h5m", "onepart.h5m", "twoPolyh.h5m", "mpas_p8.h5m", "Homme_2pt.h5m", "field1.h5m",
        "portable_x86_64.h5m", "test_geom.h5m", "hex_2048.h5m", "quads.h5m", "3k-tri-cube.h5m"}) {
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
