#include <gtest/gtest.h>

#include <cstring>

#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_tables.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/mesh/same_tables.hpp"
#include "tests/mesh/sets_and_tags.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

// A mesh returns the tables it was built from, whatever the distribution of its cells.

namespace barrio::mesh {
namespace {

using test::add_sets_in_sets;
using test::expect_same_tables;
using test::scattered;
using test::values_of;
using test::varying_tag;
using test::WholeFile;
using test::world;

/// Expect a round trip. @param expected  the tables of the mesh, if they differ
void expect_comes_back(MeshTables tables, const MeshTables* expected = nullptr) {
  partition_cells(world(), tables, 5);
  const BuildOptions ghosts{.ghost_layers = 1, .ghost_sides = true};
  for (const BuildOptions& options : {BuildOptions{}, ghosts}) {
    Mesh mesh(world(), tables, options);
    expect_same_tables(to_tables(mesh), expected == nullptr ? tables : *expected, expected == nullptr);
    for (std::uint64_t repeat = 0; repeat < 2; ++repeat) {
      mesh.migrate(scattered(mesh, repeat));
      const MeshTables moved = to_tables(mesh);
      EXPECT_EQ(moved.n_parts, world().size());
      expect_same_tables(moved, expected == nullptr ? tables : *expected, false);
    }
    const std::vector<Rank> to_last(mesh.n_owned(mesh.cell_dim()), world().size() - 1);
    mesh.migrate(to_last);
    expect_same_tables(to_tables(mesh), expected == nullptr ? tables : *expected, false);
  }
}

TEST(ToTables, BoxesComeBackWithListedFacesAndSets) {
  for (const bool tets : {false, true}) {
    MeshTables tables = make_box(world(), {.n = {4, 3, 5}, .tets = tets, .volumes = {2, 1, 2}});
    add_sets_in_sets(tables);
    expect_comes_back(tables);
  }
  expect_comes_back(make_box(world(), {.n = {1, 1, 1}}));  // one cell
}

TEST(ToTables, TagsOfAllKindsComeBack) {
  MeshTables tables = test::tagged_box(world());
  test::forget_order(tables);
  expect_comes_back(tables);
}

/// Make a layer of hexes, one of prisms, one of hexes: three blocks of two types.
MeshTables mixed(std::int64_t n) {
  MeshTables tables = make_box(world(), {.n = {n, n, 3}});
  const Rank me = world().rank();
  const auto vertex = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return GlobalId{(k * (n + 1) + j) * (n + 1) + i};
  };
  const auto hexes = [&](std::int64_t layer) {
    CellBlock block{CellType::hex, {n * n, world().size()}, 8, {}, {}};
    for (std::int64_t row = block.rows.first(me); row < block.rows.first(me + 1); ++row)
      for (const auto& [a, b, c] :
           {std::array{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}})
        block.nodes.push_back(vertex(row % n + a, row / n + b, layer + c));
    return block;
  };
  CellBlock prisms{CellType::prism, {2 * n * n, world().size()}, 6, {}, {}};
  for (std::int64_t row = prisms.rows.first(me); row < prisms.rows.first(me + 1); ++row) {
    const std::int64_t half = row % 2;
    for (std::int64_t k = 1; k < 3; ++k)
      for (const auto& [a, b] : {std::array<std::int64_t, 2>{0, 0}, {1, half}, {1 - half, 1}})
        prisms.nodes.push_back(vertex(row / 2 % n + a, row / 2 / n + b, k));
  }
  CellBlock edges{CellType::edge, {n, world().size()}, 2, {}, {}};
  for (std::int64_t row = edges.rows.first(me); row < edges.rows.first(me + 1); ++row)
    for (const std::int64_t i : {row, row + 1}) edges.nodes.push_back(vertex(i, 0, 0));
  tables.blocks = {hexes(0), prisms, hexes(2), edges};
  tables.sets.clear();
  tables.members.clear();
  add_sets_in_sets(tables);
  return tables;
}

TEST(ToTables, BlocksOfSeveralTypesComeBackInTheirOrder) {
  MeshTables tables = mixed(4);
  tables.tags = {varying_tag(tables)};
  expect_comes_back(tables);
}

TEST(ToTables, SurfacesAndSecondOrderComeBack) {
  // A tri3 and a tri6 that share an edge, which is listed with its midpoint.
  MeshTables tables;
  tables.vertices = {7, world().size()};
  for (std::int64_t v = tables.vertices.first(world().rank()); v < tables.vertices.first(world().rank() + 1); ++v)
    for (const std::int64_t x : {v * v % 7, v * v * v % 5, std::int64_t{0}})
      tables.coordinates.push_back(static_cast<double>(x));
  const auto add = [&](CellType type, std::vector<std::int64_t> nodes) {
    CellBlock block{type, {1, world().size()}, static_cast<int>(nodes.size()), {}, {}};
    if (block.rows.size(world().rank()) > 0)
      for (const std::int64_t node : nodes) block.nodes.push_back(GlobalId{node});
    tables.blocks.push_back(block);
  };
  add(CellType::triangle, {0, 1, 2});
  add(CellType::triangle, {1, 0, 3, 4, 5, 6});
  add(CellType::edge, {0, 1, 4});
  expect_comes_back(tables);
}

/// Make a strip of triangles. Odd ones have three more nodes, which are additional vertices.
MeshTables strip(std::int64_t n) {
  MeshTables tables;
  const Rank me = world().rank();
  tables.vertices = {n + 2 + 3 * n, world().size()};
  for (std::int64_t v = tables.vertices.first(me); v < tables.vertices.first(me + 1); ++v)
    for (const std::int64_t x : {v / 2, v % 2, v / (n + 2)}) tables.coordinates.push_back(static_cast<double>(x));
  CellBlock block{CellType::triangle, {n, world().size()}, 0, {0}, {}};
  for (std::int64_t row = block.rows.first(me); row < block.rows.first(me + 1); ++row) {
    for (std::int64_t i = 0; i < 3; ++i) block.nodes.push_back(GlobalId{row + i});
    for (std::int64_t i = 0; i < 3 && row % 2 == 1; ++i) block.nodes.push_back(GlobalId{n + 2 + 3 * row + i});
    block.offsets.push_back(std::ssize(block.nodes));
  }
  tables.blocks = {block};
  partition_cells(world(), tables, world().size());
  return tables;
}

TEST(ToTables, NumbersOfNodesMakeBlocksUnlessTheseWereTooMany) {
  for (const std::int64_t n : {10, 1024, 1500}) {
    const MeshTables tables = strip(n);
    Mesh mesh(world(), tables);
    mesh.migrate(scattered(mesh, 3));
    const MeshTables found = to_tables(mesh);
    validate(world(), found, "a strip");
    if (n > 1024) {
      ASSERT_EQ(found.blocks.size(), 1U);
      EXPECT_EQ(found.blocks[0].nodes_per_cell, 0);
    } else {
      ASSERT_EQ(found.blocks.size(), static_cast<std::size_t>(n));
      EXPECT_EQ(found.blocks[6].nodes_per_cell, 3);
      EXPECT_EQ(found.blocks[7].nodes_per_cell, 6);
    }
    const auto corners_of = [](const MeshTables& of) {
      std::vector<std::vector<std::int64_t>> all;
      for (const auto& [type, nodes] : WholeFile(world(), of).cells) all.emplace_back(nodes.begin(), nodes.begin() + 3);
      return all;
    };
    EXPECT_EQ(corners_of(found), corners_of(tables));
  }
}

/// Build the tables without the vertices that are in no cell of the top dimension, and without one listed face, row by
/// row.
MeshTables closed_up(const MeshTables& tables, std::int64_t lost_face) {
  const Rank me = world().rank();
  std::vector<std::int64_t> used;
  for (const CellBlock& block : tables.blocks)
    if (topology(block.type).dim == tables.top_dim())
      for (const GlobalId node : block.nodes) used.push_back(value(node));
  used = test::collect(world(), used);
  sort_unique(used);
  const auto new_row = [&](Dim dim, std::int64_t row) -> std::int64_t {
    if (dim == Dim::vertex) {
      const auto at = std::ranges::lower_bound(used, row);
      return at == used.end() || *at != row ? -1 : at - used.begin();
    }
    if (dim != Dim::face || lost_face < 0 || row < lost_face) return row;
    return row == lost_face ? -1 : row - 1;
  };
  MeshTables out;
  const std::vector<double> x = test::collect(world(), tables.coordinates);
  out.vertices = {std::ssize(used), world().size()};
  for (std::int64_t v = out.vertices.first(me); v < out.vertices.first(me + 1); ++v)
    for (std::size_t k = 0; k < 3; ++k) out.coordinates.push_back(x[3 * static_cast<std::size_t>(used[v]) + k]);
  const WholeFile whole(world(), tables);
  auto cell = whole.cells.begin();
  for (const CellBlock& block : tables.blocks) {
    const Dim dim = topology(block.type).dim;
    CellBlock closed{block.type, {}, block.nodes_per_cell, {}, {}};
    std::vector<std::vector<std::int64_t>> cells;
    for (std::int64_t row = 0; row < block.rows.n_rows; ++row, ++cell)
      if (new_row(dim, row) >= 0) cells.push_back(cell->second);  // the only block of its dimension
    closed.rows = {std::ssize(cells), world().size()};
    if (closed.nodes_per_cell == 0) closed.offsets.push_back(0);
    for (std::int64_t row = closed.rows.first(me); row < closed.rows.first(me + 1); ++row) {
      for (const std::int64_t node : cells[row]) closed.nodes.push_back(GlobalId{new_row(Dim::vertex, node)});
      if (closed.nodes_per_cell == 0) closed.offsets.push_back(std::ssize(closed.nodes));
    }
    out.blocks.push_back(closed);
  }
  out.sets = tables.sets;
  for (const SetRows& rows : tables.members)
    for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row)
      if (new_row(rows.dim, row) >= 0) out.members.push_back({rows.set, rows.dim, new_row(rows.dim, row), 1});
  const auto close_codes = [&](std::span<const std::byte> bytes) {
    std::vector<EntityCode> codes(bytes.size() / sizeof(EntityCode));
    if (!codes.empty()) std::memcpy(codes.data(), bytes.data(), bytes.size());
    for (EntityCode& code : codes) {
      if (code == EntityCode::none || is_set(code)) continue;
      const std::int64_t row = new_row(dim_of(code), row_of(code));
      code = row < 0 ? EntityCode::none : code_of(dim_of(code), GlobalId{row});
    }
    const auto closed = std::as_bytes(std::span(codes));
    return std::vector<std::byte>(closed.begin(), closed.end());
  };
  for (const TagTable& tag : tables.tags) {
    TagTable closed = tag;
    closed.columns.clear();
    const bool is_entity = tag.info.type == TagType::entity;
    if (is_entity)
      for (auto* bytes : {&closed.on_sets.items.bytes, &closed.info.default_value, &closed.info.mesh_value})
        *bytes = close_codes(*bytes);
    for (const TagColumn& column : tag.columns) {
      TagColumn& to = closed.columns.emplace_back(TagColumn{.block = column.block, .is_dense = column.is_dense});
      if (tag.info.length_varies) to.items.offsets.push_back(0);
      const auto block = static_cast<std::size_t>(column.block);
      const Dim dim = column.block < 0 ? Dim::vertex : topology(tables.blocks[block].type).dim;
      const Slabs& slabs = column.block < 0 ? out.vertices : out.blocks[block].rows;
      TagTable only{tag.info, {column}, {}};
      for (const auto& [at, bytes] : values_of(tables, only)) {
        const std::int64_t row = new_row(dim, at.second);
        if (row < slabs.first(me) || row >= slabs.first(me + 1)) continue;
        if (!to.is_dense) to.rows.push_back(static_cast<std::int32_t>(row - slabs.first(me)));
        to.items.add(is_entity ? close_codes(bytes) : bytes, tag.info.length_varies);
      }
    }
    out.tags.push_back(closed);
  }
  return out;
}

TEST(ToTables, PolyhedraComeBackAndUnusedVerticesCloseUp) {
  MeshTables tables = test::honeycomb(world(), 4, 3, 2);
  add_sets_in_sets(tables);
  tables.tags = {varying_tag(tables)};
  const MeshTables expected = closed_up(tables, -1);
  EXPECT_LT(expected.vertices.n_rows, tables.vertices.n_rows);
  expect_comes_back(tables, &expected);
}

TEST(ToTables, FacesOfNoCellCloseUpWithTheirSetsAndTags) {
  MeshTables tables = test::tagged_box(world());
  test::forget_order(tables);
  CellBlock& faces = tables.blocks[1];
  constexpr std::int64_t lost = 7;
  if (faces.rows.rank_of(lost) == world().rank()) {
    const auto at = 4 * static_cast<std::size_t>(lost - faces.rows.first(world().rank()));
    for (const std::size_t i : {0U, 1U, 2U, 3U}) faces.nodes[at + i] = GlobalId{static_cast<std::int64_t>(7 * i)};
  }
  TagTable tag{.info = {.name = "faces", .type = TagType::entity}};
  tag.columns.push_back({.block = 1});
  for (std::int64_t row = faces.rows.first(world().rank()); row < faces.rows.first(world().rank() + 1); ++row) {
    const EntityCode code = code_of(Dim::face, GlobalId{row / 2});
    tag.columns[0].items.add(std::as_bytes(std::span(&code, 1)), false);
  }
  const std::array codes{code_of(Dim::face, GlobalId{lost}), code_of(Dim::face, GlobalId{lost + 1})};
  const auto bytes = std::as_bytes(std::span(codes));
  tag.info.mesh_value.assign(bytes.begin() + 8, bytes.end());
  tag.on_sets.sets = {0, 1};
  tag.on_sets.items.bytes.assign(bytes.begin(), bytes.end());
  tables.tags.push_back(tag);
  const MeshTables expected = closed_up(tables, lost);
  expect_comes_back(tables, &expected);
}

}  // namespace
}  // namespace barrio::mesh
