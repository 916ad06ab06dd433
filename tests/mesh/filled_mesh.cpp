#include "tests/mesh/filled_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "barrio/mesh/partition_cells.hpp"
#include "tests/mesh/same_sharing.hpp"
#include "tests/mesh/sets_and_tags.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {
using namespace mesh;

void expect_same_mesh(const Mesh& moved, const Mesh& built) {
  moved.validate();
  expect_same_table(moved.vertices(), built.vertices());
  EXPECT_EQ(moved.vertices().coordinates, built.vertices().coordinates);
  EXPECT_TRUE(std::ranges::equal(moved.neighbours(), built.neighbours()));
  EXPECT_TRUE(std::ranges::equal(moved.cell_parts(), built.cell_parts()));
  EXPECT_EQ(moved.parts(), built.parts());
  for (int d = 1; d <= value(built.cell_dim()); ++d) {
    const EntityTable& a = moved.entities(Dim{d});
    const EntityTable& b = built.entities(Dim{d});
    expect_same_table(a, b);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.offsets, b.offsets);
    EXPECT_EQ(a.types, b.types);
  }
  ASSERT_EQ(moved.sets().size(), built.sets().size());
  for (std::size_t s = 0; s < built.sets().size(); ++s) {
    EXPECT_EQ(moved.sets()[s].info.name, built.sets()[s].info.name);
    EXPECT_EQ(moved.sets()[s].vertices, built.sets()[s].vertices);
    EXPECT_EQ(moved.sets()[s].entities, built.sets()[s].entities);
  }
  ASSERT_EQ(moved.tags().size(), built.tags().size());
  for (std::size_t t = 0; t < built.tags().size(); ++t) {
    for (std::size_t d = 0; d < 4; ++d) {
      EXPECT_EQ(moved.tags()[t].on[d].entities, built.tags()[t].on[d].entities);
      EXPECT_EQ(moved.tags()[t].on[d].items.bytes, built.tags()[t].on[d].items.bytes);
      EXPECT_EQ(moved.tags()[t].on[d].items.offsets, built.tags()[t].on[d].items.offsets);
    }
  }
}

void fill(Mesh& mesh) {
  for (const Dim dim : {Dim::vertex, Dim::face, Dim::volume}) {
    if (mesh.n_global(dim) == 0) continue;
    auto x = mesh.add_field<double>("x", dim, 2);
    const auto& ids = dim == Dim::vertex ? mesh.vertices().global_ids : mesh.entities(dim).global_ids;
    for (std::size_t i = 0; i < mesh.n_owned(dim); ++i)
      for (std::size_t c = 0; c < 2; ++c)
        x.values()[2 * i + c] = static_cast<double>(10 * value(ids[i])) + static_cast<double>(c);
  }
  auto n = mesh.add_field<std::int32_t>("n", Dim::vertex);
  for (std::size_t i = 0; i < mesh.n_owned(Dim::vertex); ++i)
    n.values()[i] = static_cast<std::int32_t>(value(mesh.vertices().global_ids[i]));
}

void expect_filled(const Mesh& mesh) {
  for (const Dim dim : {Dim::vertex, Dim::face, Dim::volume}) {
    if (mesh.n_global(dim) == 0) continue;
    const auto x = mesh.field<double>("x", dim);
    const auto& ids = dim == Dim::vertex ? mesh.vertices().global_ids : mesh.entities(dim).global_ids;
    ASSERT_EQ(x.values().size(), 2 * ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t c = 0; c < 2; ++c)
        EXPECT_EQ(x.values()[2 * i + c], static_cast<double>(10 * value(ids[i])) + static_cast<double>(c));
  }
  const auto n = mesh.field<std::int32_t>("n", Dim::vertex);
  for (std::size_t i = 0; i < n.values().size(); ++i) EXPECT_EQ(n.values()[i], value(mesh.vertices().global_ids[i]));
}

void add_tags(MeshTables& tables) {
  const Rank me = world().rank();
  TagTable dense{.info = {.name = "dense", .type = TagType::float64, .n_components = 1}};
  dense.columns.push_back({.block = -1});
  for (std::size_t i = 0; i < tables.vertices.size(me); ++i) {
    const double x = static_cast<double>(tables.vertices.first(me)) + static_cast<double>(i);
    dense.columns[0].items.add(std::as_bytes(std::span(&x, 1)), false);
  }
  TagTable on_mesh{.info = {.name = "answer", .storage = TagStorage::mesh, .mesh_value = std::vector<std::byte>(4)}};
  tables.tags = {dense, varying_tag(tables), on_mesh};
}

MeshTables mixed_plane(std::int64_t n) {
  const Rank me = world().rank();
  MeshTables tables;
  tables.vertices = {(n + 1) * (n + 1), world().size()};
  const auto vertex = [&](std::int64_t i, std::int64_t j) { return GlobalId{j * (n + 1) + i}; };
  for (std::int64_t v = tables.vertices.first(me); v < tables.vertices.first(me + 1); ++v)
    for (const std::int64_t x : {v % (n + 1), v / (n + 1), std::int64_t{0}})
      tables.coordinates.push_back(static_cast<double>(x));
  const auto add = [&](CellType type, std::int64_t n_rows, int n_nodes, auto&& nodes_of) {
    CellBlock block;
    block.type = type;
    block.rows = {n_rows, world().size()};
    block.nodes_per_cell = n_nodes;
    for (std::int64_t row = block.rows.first(me); row < block.rows.first(me + 1); ++row)
      for (const GlobalId node : nodes_of(row)) block.nodes.push_back(node);
    tables.blocks.push_back(block);
  };
  add(CellType::quad, n * (n / 2), 4, [&](std::int64_t row) {
    const std::int64_t i = row % n, j = row / n;
    return std::vector{vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)};
  });
  add(CellType::triangle, 2 * n * (n - n / 2), 3, [&](std::int64_t row) {
    const std::int64_t i = row / 2 % n, j = n / 2 + row / 2 / n;
    return row % 2 == 0 ? std::vector{vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)}
                        : std::vector{vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1)};
  });
  add(CellType::edge, n, 2, [&](std::int64_t i) { return std::vector{vertex(i, 0), vertex(i + 1, 0)}; });
  partition_cells(world(), tables, 3);
  return tables;
}

}  // namespace barrio::test
