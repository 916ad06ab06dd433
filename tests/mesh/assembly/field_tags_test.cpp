#include <gtest/gtest.h>

#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_tables.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/mesh/same_tables.hpp"
#include "tests/support/mpi_test.hpp"

// Fields of a mesh become tags in its tables.

namespace barrio::mesh {
namespace {

using test::expect_same_tags;
using test::scattered;
using test::TagValues;
using test::values_of;
using test::world;

/// Return a value of a tag's row as a number. @param at  component
template <class T>
T number(const TagValues& values, std::int32_t block, std::int64_t row, std::size_t at = 0) {
  T out{};
  std::memcpy(&out, &values.at({block, row})[at * sizeof(T)], sizeof out);
  return out;
}

TEST(ToTables, FieldsBecomeTagsInPlaceOfTagsOfTheirName) {
  MeshTables tables = test::tagged_box(world());
  partition_cells(world(), tables, 3);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  for (const Dim dim : {Dim::vertex, Dim::volume}) {
    const auto ids = mesh.global_ids(dim);
    auto x = mesh.add_field<double>("x", dim, 2);
    auto half = mesh.add_field<float>(dim == Dim::vertex ? "half of vertex" : "half", dim);
    auto n = mesh.add_field<std::int64_t>(dim == Dim::vertex ? "n of vertex" : "n", dim);
    auto few = mesh.add_field<std::int32_t>(dim == Dim::vertex ? "few of vertex" : "few", dim);
    for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) {
      const LocalId id = local_id(i);
      x.values()[2 * i] = static_cast<double>(value(ids[i]));
      x.values()[2 * i + 1] = -1.0;
      half[id] = 0.5F * static_cast<float>(value(ids[i]));
      n[id] = (std::int64_t{1} << 53) - value(ids[i]);
      few[id] = static_cast<std::int32_t>(3 * value(ids[i]));
    }
  }
  mesh.migrate(scattered(mesh, 9));
  const MeshTables found = to_tables(mesh);
  validate(world(), found, "with fields");
  EXPECT_EQ(found.tags.size(), tables.tags.size() - 1 + 7);
  const auto values = [&](const std::string& name, TagType type) {
    const auto tag = std::ranges::find(found.tags, name, [](const TagTable& t) { return t.info.name; });
    EXPECT_EQ(tag->info.type, type);
    for (const TagColumn& column : tag->columns) EXPECT_TRUE(column.is_dense);
    return values_of(found, *tag);
  };
  const TagValues x = values("x", TagType::float64);
  const TagValues half = values("half", TagType::float64);
  const TagValues n = values("n", TagType::float64);
  const TagValues few = values("few", TagType::int32);
  EXPECT_EQ(x.size(), static_cast<std::size_t>(found.vertices.n_rows + found.blocks[0].rows.n_rows));
  EXPECT_EQ(few.size(), static_cast<std::size_t>(found.blocks[0].rows.n_rows));
  for (std::int64_t row = 0; row < found.vertices.n_rows; ++row)
    EXPECT_EQ(number<double>(x, -1, row), static_cast<double>(row));
  for (std::int64_t row = 0; row < found.blocks[0].rows.n_rows; ++row) {
    EXPECT_EQ(number<double>(x, 0, row), static_cast<double>(row));
    EXPECT_EQ(number<double>(x, 0, row, 1), -1.0);
    EXPECT_EQ(number<double>(half, 0, row), 0.5 * static_cast<double>(row));
    EXPECT_EQ(number<double>(n, 0, row), 9007199254740992.0 - static_cast<double>(row));
    EXPECT_EQ(number<std::int32_t>(few, 0, row), 3 * row);
  }
  expect_same_tags(to_tables(mesh, {.with_fields = false}), tables);
}

TEST(ToTables, FieldsThatAreNoTagsAreRefusedByAllRanks) {
  MeshTables tables = make_box(world(), {.n = {3, 3, 3}});
  partition_cells(world(), tables, world().size());
  const auto refusal = [](const Mesh& mesh) -> std::string {
    try {
      static_cast<void>(to_tables(mesh));
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "";
  };
  Mesh large(world(), tables);
  auto n = large.add_field<std::int64_t>("n", Dim::volume);
  for (std::size_t c = 0; c < large.n_owned(Dim::volume); ++c)
    if (value(large.cells().global_ids[c]) == 13) n.values()[c] = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(refusal(large),
            "field 'n': has the value 9007199254740993, which is not exact in float64; tags have no int64 (keep it in "
            "two fields of int32, or save without fields)");
  Mesh mixed(world(), tables);
  mixed.add_field<double>("x", Dim::vertex);
  mixed.add_field<double>("x", Dim::volume, 3);
  EXPECT_EQ(refusal(mixed),
            "field 'x': must have one type on all dimensions to be saved as a tag (give them different names, or "
            "save without fields)");
}

TEST(FieldTags, AFieldOfAnotherTypeOrNameIsRefused) {
  MeshTables tables = test::tagged_box(world());
  partition_cells(world(), tables, 3);
  Mesh mesh(world(), tables);
  mesh.add_field<double>("x", Dim::vertex);
  const auto refusal = [&](auto ask) -> std::string {
    try {
      ask();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([&] { (void)mesh.field<float>("x", Dim::vertex); }),
            "field 'x': has values of type double, and was asked for as float (ask for double)");
  EXPECT_EQ(refusal([&] { (void)mesh.field<double>("y", Dim::vertex); }),
            "field 'y': does not exist on dimension 0. Did you mean 'x'?");
}

}  // namespace
}  // namespace barrio::mesh
