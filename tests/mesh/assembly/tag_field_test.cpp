#include "barrio/mesh/tag_field.hpp"

#include <gtest/gtest.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_tables.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

Mesh tagged_mesh() {
  MeshTables tables = test::tagged_box(world());
  TagTable& large =
      tables.tags.emplace_back(TagTable{.info = {.name = "large", .type = TagType::float64, .n_components = 64}});
  large.columns.push_back({.block = -1});
  large.columns[0].items.bytes.assign(512 * tables.vertices.size(world().rank()), std::byte{0});
  TagTable& gaps = tables.tags.emplace_back(TagTable{.info = {.name = "gaps", .storage = TagStorage::sparse}});
  gaps.columns.push_back({.block = 0, .is_dense = false});
  const Slabs& slabs = tables.blocks[0].rows;
  for (std::int64_t row = slabs.first(world().rank()); row < slabs.first(world().rank() + 1); ++row) {
    if (row % 3 != 0) continue;
    gaps.columns[0].rows.push_back(static_cast<std::int32_t>(row - slabs.first(world().rank())));
    const auto number = static_cast<std::int32_t>(row);
    gaps.columns[0].items.add(std::as_bytes(std::span(&number, 1)), false);
  }
  partition_cells(world(), tables, 5);
  return {world(), tables, {.ghost_layers = 1}};
}

TEST(TagAsField, FieldsComeBackFromCheckpoints) {
  Mesh mesh = tagged_mesh();
  for (const Dim dim : {Dim::vertex, Dim::volume}) {
    const std::string at = dim == Dim::vertex ? "" : " of cells";
    auto real = mesh.add_field<double>("real" + at, dim, 2);
    auto half = mesh.add_field<float>("half" + at, dim);
    auto count = mesh.add_field<std::int64_t>("count" + at, dim);
    auto small = mesh.add_field<std::int32_t>("small" + at, dim);
    for (std::size_t i = 0; i < mesh.n_local(dim); ++i) {
      const std::int64_t id = value(mesh.global_ids(dim)[i]);
      real.values()[2 * i] = 0.1 * static_cast<double>(id);
      real.values()[2 * i + 1] = -1.0;
      half.values()[i] = 0.1F * static_cast<float>(id);
      count.values()[i] = (std::int64_t{1} << 53) - id;
      small.values()[i] = static_cast<std::int32_t>(-id);
    }
  }
  Mesh again(world(), to_tables(mesh), {.ghost_layers = 2});
  for (const Dim dim : {Dim::vertex, Dim::volume}) {
    const std::string at = dim == Dim::vertex ? "" : " of cells";
    const auto real = tag_as_field<double>(again, "real" + at, dim, {.n_components = 2});
    const auto half = tag_as_field<float>(again, "half" + at, dim);
    const auto count = tag_as_field<std::int64_t>(again, "count" + at, dim);
    const auto small = tag_as_field<std::int32_t>(again, "small" + at, dim);
    ASSERT_EQ(real.values().size(), 2 * again.n_local(dim));
    for (std::size_t i = 0; i < again.n_local(dim); ++i) {
      const std::int64_t id = value(again.global_ids(dim)[i]);
      ASSERT_EQ(real.values()[2 * i], 0.1 * static_cast<double>(id));
      ASSERT_EQ(real.values()[2 * i + 1], -1.0);
      ASSERT_EQ(half.values()[i], 0.1F * static_cast<float>(id));
      ASSERT_EQ(count.values()[i], (std::int64_t{1} << 53) - id);
      ASSERT_EQ(small.values()[i], -id);
    }
  }
}

TEST(TagAsField, GapsGetTheDefaultOrTheFill) {
  Mesh mesh = tagged_mesh();
  const auto few = tag_as_field<std::int32_t>(mesh, "few", Dim::volume);
  const auto gaps = tag_as_field<double>(mesh, "gaps", Dim::volume, {.fill = -5.0});
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    const std::int64_t row = value(mesh.cells().global_ids[c]);
    EXPECT_EQ(few.values()[c], row % 5 == 2 ? row : 0x07070707);
    EXPECT_EQ(gaps.values()[c], row % 3 == 0 ? static_cast<double>(row) : -5.0);
  }
}

TEST(TagAsField, RefusalsSayWhatTheTagIs) {
  Mesh mesh = tagged_mesh();
  const auto refused = [&]<class T>(T, const std::string& name, Dim dim, const TagFieldOptions& options = {}) {
    const std::size_t n_fields = mesh.fields().size();
    try {
      static_cast<void>(tag_as_field<T>(mesh, name, dim, options));
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(mesh.fields().size(), n_fields);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(double{}, "large", Dim::vertex),
            "tag 'large': has 64 component(s) of float64, not 1 (ask for n_components = 64)");
  EXPECT_EQ(refused(double{}, "few", Dim::vertex),
            "tag 'few': has no values on vertices (it has some on volumes, sets)");
  EXPECT_EQ(refused(double{}, "gaps", Dim::volume),
            "tag 'gaps': has values on 12 of 36 volumes and no default (give a value for the others with fill)");
  EXPECT_EQ(refused(std::int32_t{}, "gaps", Dim::volume, {.fill = 0.5}),
            "tag 'gaps': has the value 0.5, which int32 cannot hold exactly (ask for a field of double)");
  EXPECT_EQ(refused(std::int32_t{}, "large", Dim::vertex, {.n_components = 64}),
            "tag 'large': has type float64, not int32 (ask for a field of double)");
  EXPECT_EQ(refused(double{}, "lists", Dim::vertex),
            "tag 'lists': has values of varying length (read them one by one with MeshTag::value)");
  EXPECT_EQ(refused(double{}, "flags", Dim::volume, {.n_components = 3}),
            "tag 'flags': holds values of the type bits, which are not numbers (read them one by one with "
            "MeshTag::value)");
  EXPECT_NE(refused(double{}, "large1", Dim::vertex).find("Did you mean 'large'?"), std::string::npos);
  mesh.add_field<double>("few", Dim::volume);
  EXPECT_NE(refused(double{}, "few", Dim::volume).find("already exists"), std::string::npos);
}

TEST(TagAsField, TagsAreLookedFor) {
  const Mesh mesh = tagged_mesh();
  EXPECT_TRUE(mesh.has_tag("few"));
  EXPECT_FALSE(mesh.has_tag("fe"));
}

}  // namespace
}  // namespace barrio::mesh
