#include "tests/mesh/same_tables.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

using mesh::MeshTables;
using mesh::SetInfo;
using mesh::TagColumn;
using mesh::TagInfo;
using mesh::TagTable;

TagValues values_of(const MeshTables& tables, const TagTable& tag) {
  TagValues all;
  for (const TagColumn& column : tag.columns) {
    const Slabs& slabs = column.block < 0 ? tables.vertices : tables.blocks[column.block].rows;
    const std::size_t n = column.is_dense ? slabs.size(world().rank()) : column.rows.size();
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> sizes;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = column.items.value(i, tag.info.value_bytes());
      rows.push_back(slabs.first(world().rank()) + (column.is_dense ? static_cast<std::int64_t>(i) : column.rows[i]));
      sizes.push_back(std::ssize(value));
      bytes.insert(bytes.end(), value.begin(), value.end());
    }
    rows = collect(world(), rows);
    sizes = collect(world(), sizes);
    bytes = collect(world(), bytes);
    auto at = bytes.begin();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(all.try_emplace({column.block, rows[i]}, at, at + sizes[i]).second) << "a row comes twice";
      at += sizes[i];
    }
  }
  return all;
}

void expect_same_tags(const MeshTables& found, const MeshTables& expected) {
  ASSERT_EQ(found.tags.size(), expected.tags.size());
  for (std::size_t t = 0; t < expected.tags.size(); ++t) {
    const TagTable& a = found.tags[t];
    const TagTable& b = expected.tags[t];
    SCOPED_TRACE(b.info.name);
    const auto describe = [](const TagInfo& i) {
      return std::tuple(i.name, i.type, i.n_components, i.length_varies, i.storage, i.default_value, i.mesh_value);
    };
    EXPECT_EQ(describe(a.info), describe(b.info));
    EXPECT_EQ(a.on_sets.sets, b.on_sets.sets);
    EXPECT_EQ(a.on_sets.items.bytes, b.on_sets.items.bytes);
    EXPECT_EQ(a.on_sets.items.offsets, b.on_sets.items.offsets);
    EXPECT_EQ(values_of(found, a), values_of(expected, b));
    ASSERT_EQ(a.columns.size(), b.columns.size());
    for (std::size_t c = 0; c < b.columns.size(); ++c) EXPECT_EQ(a.columns[c].is_dense, b.columns[c].is_dense);
  }
}

void expect_same_tables(const MeshTables& found, const MeshTables& expected, bool with_parts) {
  mesh::validate(world(), found, "the tables of a mesh");
  WholeFile a(world(), found);
  WholeFile b(world(), expected);
  if (with_parts) {
    EXPECT_EQ(found.n_parts, expected.n_parts);
    EXPECT_EQ(a.parts, b.parts);
  }
  EXPECT_EQ(a.coordinates, b.coordinates);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.sets, b.sets);
  EXPECT_EQ(a.members, b.members);
  ASSERT_EQ(found.blocks.size(), expected.blocks.size());
  for (std::size_t k = 0; k < expected.blocks.size(); ++k) {
    EXPECT_EQ(found.blocks[k].type, expected.blocks[k].type);
    EXPECT_EQ(found.blocks[k].rows.n_rows, expected.blocks[k].rows.n_rows);
    EXPECT_EQ(found.blocks[k].nodes_per_cell, expected.blocks[k].nodes_per_cell);
    EXPECT_EQ(found.blocks[k].offsets, expected.blocks[k].offsets);
  }
  for (std::size_t s = 0; s < expected.sets.size(); ++s) {
    const SetInfo& x = found.sets[s];
    const SetInfo& y = expected.sets[s];
    EXPECT_FALSE(x.is_ordered);
    EXPECT_EQ(x.tracks_members, y.tracks_members);
    EXPECT_EQ(x.geometry_dim, y.geometry_dim);
    EXPECT_EQ(x.children, y.children);
    EXPECT_EQ(x.parents, y.parents);
    EXPECT_EQ(x.more_roles.size(), y.more_roles.size());
    ASSERT_EQ(x.contained.size(), y.contained.size());
    for (std::size_t i = 0; i < y.contained.size(); ++i) {
      EXPECT_EQ(x.contained[i].set, y.contained[i].set);
      EXPECT_EQ(x.contained[i].position, -1);
    }
  }
  expect_same_tags(found, expected);
}

std::vector<Rank> scattered(const mesh::Mesh& mesh, std::uint64_t number) {
  std::vector<Rank> to;
  for (std::size_t c = 0; c < mesh.n_owned(mesh.cell_dim()); ++c) {
    std::mt19937_64 random(seed() + number + static_cast<std::uint64_t>(value(mesh.cells().global_ids[c])));
    to.push_back(static_cast<Rank>(random() % static_cast<std::uint64_t>(world().size())));
  }
  return to;
}

}  // namespace barrio::test
