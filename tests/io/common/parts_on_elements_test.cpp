// Partitions stored as values of a tag on elements, and tags that are not partitions.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::MeshTables;
using mesh::TagType;
using test::world;

/// Add an integer tag on the hexes of a box: `value_of(row)`, on every row or on those with a value.
template <class Number>
void add_tag(MeshTables& tables, const std::string& name, const std::function<std::optional<Number>(std::int64_t)>& of,
             bool is_dense = true) {
  mesh::TagTable tag{.info = {.name = name}};
  if (sizeof(Number) == 8) {
    tag.info.type = TagType::bytes;
    tag.info.n_components = 8;
  }
  tag.columns.push_back({.block = 0, .is_dense = is_dense});
  const Slabs& rows = tables.blocks[0].rows;
  for (std::int64_t row = rows.first(world().rank()); row < rows.first(world().rank() + 1); ++row) {
    const std::optional<Number> value = of(row);
    if (!value) continue;
    if (!is_dense) tag.columns[0].rows.push_back(static_cast<std::int32_t>(row - rows.first(world().rank())));
    tag.columns[0].items.add(std::as_bytes(std::span(&*value, 1)), false);
  }
  tables.tags.push_back(std::move(tag));
}

MeshTables box() {
  MeshTables tables = mesh::make_box(world(), {.n = {6, 5, 4}});
  tables.tags.clear();
  return tables;
}

std::string written(const MeshTables& tables, const H5mOptions& options = {}) {
  const auto path = (test::scratch() / "elements.h5m").string();
  write_h5m(world(), tables, path, options);
  return path;
}

void expect_parts(const MeshTables& tables, std::vector<std::int64_t> values) {
  ASSERT_EQ(tables.n_parts, std::ssize(values));
  const test::WholeFile whole(world(), tables);
  for (std::size_t row = 0; row < whole.parts.size(); ++row)
    ASSERT_EQ(whole.parts[row], static_cast<std::int32_t>(row % values.size())) << row;
  const Slabs slices{tables.n_parts, world().size()};
  EXPECT_EQ(tables.part_sets.values, std::vector<std::int64_t>(values.begin() + slices.first(world().rank()),
                                                               values.begin() + slices.first(world().rank() + 1)));
}

TEST(PartsOnElements, AreReadFromDenseAndSparseTags) {
  MeshTables tables = box();
  for (const bool is_dense : {true, false})
    add_tag<std::int32_t>(
        tables, is_dense ? "dense" : "sparse",
        [](std::int64_t row) { return static_cast<std::int32_t>(5 + 10 * (row % 3)); }, is_dense);
  const std::string path = written(tables);
  for (const std::string name : {"dense", "sparse"}) {
    const MeshTables found = read_tables(world(), path, {.partition_tag = name});
    expect_parts(found, {5, 15, 25});
    EXPECT_TRUE(std::ranges::none_of(found.tags, [&](const auto& tag) { return tag.info.name == name; }));
    // In a new file the parts are sets, under the same name.
    const auto copy = (test::scratch() / "copy.h5m").string();
    write_h5m(world(), found, copy, {.partition_tag = name});
    expect_parts(read_tables(world(), copy, {.partition_tag = name}), {5, 15, 25});
    const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1, .partition_tag = name});
    mesh.validate();
    EXPECT_EQ(mesh.n_parts(), 3);
  }
}

TEST(PartsOnElements, OfTheUsualNameAreFoundUnasked) {
  MeshTables tables = box();
  add_tag<std::int32_t>(tables, "PARALLEL_PARTITION",
                        [](std::int64_t row) { return static_cast<std::int32_t>(2 * (row % 4)); });
  expect_parts(read_tables(world(), written(tables)), {0, 2, 4, 6});
  tables = box();
  add_tag<std::int32_t>(tables, "PARALLEL_PARTITION", [](std::int64_t) { return -1; });
  EXPECT_EQ(read_tables(world(), written(tables)).n_parts, 0);
}

void expect_usage(const std::string& path, const std::string& name, const std::string& text) {
  try {
    read_tables(world(), path, {.partition_tag = name});
    ADD_FAILURE() << name;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(PartsOnElements, IdsAreNoPartition) {
  MeshTables tables = box();
  for (const char* name : {"UNIQUE_ID", "number"})
    add_tag<std::int32_t>(tables, name, [](std::int64_t row) { return static_cast<std::int32_t>(row); });
  add_tag<std::int32_t>(tables, "none", [](std::int64_t) { return -3; });
  const std::string path = written(tables);
  expect_usage(path, "UNIQUE_ID", "gives each entity a number of its own");
  expect_usage(path, "GLOBAL_ID", "gives each entity a number of its own");
  expect_usage(path, "number", "it has as many values as cells, 120");
  expect_usage(path, "none", "it gives no cell a part");
  expect_usage(path, "number9", "has no partition 'number9'");
}

TEST(PartsOnElements, ACellWithoutAPartIsNamed) {
  MeshTables tables = box();
  add_tag<std::int32_t>(
      tables, "part",
      [](std::int64_t row) { return row == 7 ? std::optional<std::int32_t>() : std::optional<std::int32_t>(row % 2); },
      false);
  const std::string path = written(tables);
  try {
    read_tables(world(), path, {.partition_tag = "part"});
    ADD_FAILURE();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("leaves out 1 element(s), the first is element 7"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace barrio::io
