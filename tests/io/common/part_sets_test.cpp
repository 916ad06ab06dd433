// Data on parts in a file, besides their cells: their values, and tags on their sets.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>

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

using mesh::MeshTables;
using mesh::TagType;
using test::world;

constexpr std::int64_t past_32_bits = std::int64_t{1} << 40;

/// Return the number of a part as 16 bytes of text.
std::vector<std::byte> text_of(std::int32_t part) {
  std::vector<std::byte> bytes(32, std::byte{0});
  bytes[0] = std::byte{'p'};
  bytes[1] = static_cast<std::byte>('0' + part);
  return bytes;
}

/// Make a box in four parts with given values: every part has a name, those with odd numbers a colour and a list.
MeshTables parts_with_tags(std::vector<std::int64_t> values) {
  MeshTables tables = mesh::make_box(world(), {.n = {6, 5, 4}});
  const auto n_parts = static_cast<int>(values.size());
  mesh::partition_cells(world(), tables, n_parts);
  tables.tags.push_back({.info = {.name = "NAME", .type = TagType::bytes, .n_components = 32}});
  tables.tags.push_back({.info = {.name = "colour", .type = TagType::int32, .storage = mesh::TagStorage::sparse}});
  tables.tags.push_back({.info = {.name = "list", .type = TagType::float64, .length_varies = true}});
  mesh::PartSets::Tag names{"NAME", {}};
  mesh::PartSets::Tag colours{"colour", {}};
  mesh::PartSets::Tag lists{"list", {}};
  const Slabs slices{n_parts, world().size()};
  for (std::int64_t p = slices.first(world().rank()); p < slices.first(world().rank() + 1); ++p) {
    const auto part = static_cast<std::int32_t>(p);
    tables.part_sets.values.push_back(values[p]);
    names.on_parts.sets.push_back(part);
    names.on_parts.items.add(text_of(part), false);
    if (part % 2 == 0) continue;
    const std::int32_t colour = 100 + part;
    colours.on_parts.sets.push_back(part);
    colours.on_parts.items.add(std::as_bytes(std::span(&colour, 1)), false);
    const std::vector<double> list(part, 0.5);
    lists.on_parts.sets.push_back(part);
    lists.on_parts.items.add(std::as_bytes(std::span(list)), true);
  }
  tables.part_sets.tags = {names, colours, lists};
  return tables;
}

/// Compare this rank's data on its parts; tags in any order.
void expect_same_part_sets(const mesh::PartSets& found, const mesh::PartSets& expected) {
  EXPECT_EQ(found.values, expected.values);
  ASSERT_EQ(found.tags.size(), expected.tags.size());
  for (const mesh::PartSets::Tag& tag : expected.tags) {
    const auto same = std::ranges::find(found.tags, tag.name, &mesh::PartSets::Tag::name);
    ASSERT_NE(same, found.tags.end()) << tag.name;
    EXPECT_EQ(same->on_parts.sets, tag.on_parts.sets) << tag.name;
    EXPECT_EQ(same->on_parts.items.bytes, tag.on_parts.items.bytes) << tag.name;
  }
}

class PartSets : public testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(PartSets, ComeBackFromTablesAndFromAMesh) {
  const MeshTables tables = parts_with_tags(GetParam());
  const auto path = (test::scratch() / "parts.h5m").string();
  write_h5m(world(), tables, path);
  const MeshTables again = read_tables(world(), path);
  EXPECT_EQ(again.n_parts, 4);
  expect_same_part_sets(again.part_sets, tables.part_sets);
  EXPECT_EQ(test::WholeFile(world(), again), test::WholeFile(world(), tables));

  const auto of_mesh = (test::scratch() / "of_mesh.h5m").string();
  io::write(io::read(world(), path, {.ghost_layers = 1}), of_mesh);
  expect_same_part_sets(read_tables(world(), of_mesh).part_sets, tables.part_sets);
}

TEST_P(PartSets, FilesDoNotDependOnTheRanks) {
  const auto path = (test::scratch() / "all.h5m").string();
  write_h5m(world(), parts_with_tags(GetParam()), path);
  const auto alone = (test::scratch() / "alone.h5m").string();
  const mpi::Comm self = mpi::Comm::split(world().comm(), world().rank(), 0);
  if (world().is_root()) {
    mpi::Context context(self.get());
    write_h5m(context, read_tables(context, path), alone);
    write_h5m(context, read_tables(context, alone), path + ".again");
    EXPECT_EQ(test::digest(alone), test::digest(path + ".again"));
  }
  mpi::barrier(world());
  write_h5m(world(), read_tables(world(), alone), path);
  if (world().is_root()) {
    EXPECT_EQ(test::digest(alone), test::digest(path));
  }
}

INSTANTIATE_TEST_SUITE_P(Values, PartSets,
                         testing::Values(std::vector<std::int64_t>{7, 17, 27, 37},
                                         std::vector<std::int64_t>{0, 1, 2, 9},
                                         std::vector<std::int64_t>{-4, 0, 3, past_32_bits}));

TEST(NewParts, HaveNoneOfTheFormerValuesAndTags) {
  const auto path = (test::scratch() / "parts.h5m").string();
  write_h5m(world(), parts_with_tags({7, 17, 27, 37}), path);
  MeshTables tables = read_tables(world(), path);
  mesh::partition_cells(world(), tables, 3);
  EXPECT_TRUE(tables.part_sets.values.empty());
  EXPECT_TRUE(tables.part_sets.tags.empty());
  write_h5m(world(), tables, path);
  EXPECT_TRUE(read_tables(world(), path).part_sets.tags.empty());

  write_h5m(world(), parts_with_tags({7, 17, 27, 37}), path);
  mesh::Mesh mesh = read(world(), path);
  mesh.migrate(std::vector<Rank>(mesh.n_owned(mesh.cell_dim()), world().rank()));
  EXPECT_TRUE(mesh.part_sets().values.empty());
  EXPECT_TRUE(mesh.part_sets().tags.empty());
}

}  // namespace
}  // namespace barrio::io
