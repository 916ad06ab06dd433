#include "barrio/mesh/sides.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::WholeMesh;
using test::world;
using Corners = std::vector<std::int64_t>;

/// Return the sides of a cell, by independent code.
std::vector<Corners> sides_of(const WholeMesh::Cell& cell, Dim dim) {
  static const std::map<std::pair<CellType, Dim>, std::vector<std::vector<int>>> all{
      {{CellType::tet, Dim::face}, {{0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 2, 1}}},
      {{CellType::tet, Dim::edge}, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
      {{CellType::hex, Dim::face},
       {{0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {0, 3, 2, 1}, {4, 5, 6, 7}}},
      {{CellType::hex, Dim::edge},
       {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 5}, {5, 6}, {6, 7}, {7, 4}}},
      {{CellType::prism, Dim::face}, {{0, 1, 4, 3}, {1, 2, 5, 4}, {0, 3, 5, 2}, {0, 2, 1}, {3, 4, 5}}},
      {{CellType::prism, Dim::edge}, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 4}, {2, 5}, {3, 4}, {4, 5}, {5, 3}}},
      {{CellType::quad, Dim::edge}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}};
  std::vector<Corners> sides;
  for (const auto& places : all.at({cell.type, dim})) {
    Corners side;
    for (const int place : places) side.push_back(cell.nodes[place]);
    sides.push_back(side);
  }
  return sides;
}

/// Return the lexicographically smallest cycle of the corners: the lowest first, then its lower neighbour.
Corners canonical(const Corners& side) {
  Corners least = side;
  Corners turned = side;
  for (int way = 0; way < 2; ++way) {
    for (std::size_t i = 0; i < side.size(); ++i) {
      std::rotate(turned.begin(), turned.begin() + 1, turned.end());
      least = std::min(least, turned);
    }
    std::reverse(turned.begin(), turned.end());
  }
  return least;
}

void expect_equals_oracle(const MeshTables& tables, Dim dim, int n_layers) {
  const WholeMesh whole(world(), tables);
  const Mesh mesh(world(), tables, {.ghost_layers = n_layers});
  const Sides sides(mesh, dim);
  std::map<Corners, std::set<int>> sharers;
  for (const WholeMesh::Cell& cell : whole.cells)
    for (const Corners& side : sides_of(cell, dim))
      sharers[canonical(side)].insert(whole.rank_of(cell.part, world().size()));
  std::map<Corners, std::int64_t> id_of;
  for (const auto& [side, ranks] : sharers) id_of.emplace(side, static_cast<std::int64_t>(id_of.size()));
  ASSERT_EQ(sides.table().n_global, static_cast<std::int64_t>(id_of.size()));
  ASSERT_EQ(mpi::sum(world(), static_cast<std::int64_t>(sides.table().n_owned)), sides.table().n_global);

  const EntityTable& table = sides.table();
  const auto corners_of = [&](LocalId side) {
    Corners corners;
    for (const LocalId v : table.nodes_of(index(side))) corners.push_back(value(mesh.vertices().global_ids[index(v)]));
    return corners;
  };
  std::set<std::int64_t> seen;
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    const auto expected = sides_of(whole.cells[static_cast<std::size_t>(value(mesh.cells().global_ids[c]))], dim);
    const auto found = sides.of_cell(c);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t s = 0; s < found.size(); ++s) {
      EXPECT_EQ(corners_of(found[s]), canonical(expected[s]));
      seen.insert(value(found[s]));
    }
  }
  EXPECT_EQ(seen.size(), table.size()) << "every side is one of a local cell";
  std::map<std::int64_t, std::set<int>> found_sharers;
  for (std::size_t s = 0; s < table.shared.size(); ++s) {
    const auto ranks = table.sharers_of(s);
    found_sharers[value(table.global_ids[index(table.shared[s])])] = {ranks.begin(), ranks.end()};
  }
  for (std::size_t s = 0; s < table.size(); ++s) {
    const Corners corners = corners_of(local_id(s));
    const auto& ranks = sharers.at(corners);
    EXPECT_EQ(value(table.global_ids[s]), id_of.at(corners));
    EXPECT_EQ(ranks.count(table.owners[s]), 1U);
    EXPECT_EQ(s < table.n_owned, table.owners[s] == world().rank());
    const std::set<int> expected = ranks.size() > 1 && ranks.count(world().rank()) > 0 ? ranks : std::set<int>();
    EXPECT_EQ(found_sharers[value(table.global_ids[s])], expected);
  }
  // Copies get their owners' values.
  std::vector<std::int64_t> values(table.size(), -1);
  for (std::size_t s = 0; s < table.n_owned; ++s) values[s] = value(table.global_ids[s]);
  exchange::HaloExchange<std::int64_t>(world(), sides.halo_plan(), values, 1).exchange();
  for (std::size_t s = 0; s < table.size(); ++s) EXPECT_EQ(values[s], value(table.global_ids[s]));
  // All listed faces are found.
  ASSERT_EQ(sides.of_listed().size(), mesh.n_local(dim));
  for (std::size_t i = 0; i < mesh.n_local(dim); ++i) {
    Corners corners;
    for (const LocalId v : mesh.entities(dim).nodes_of(i))
      corners.push_back(value(mesh.vertices().global_ids[index(v)]));
    EXPECT_EQ(corners_of(sides.of_listed()[i]), canonical(corners));
  }
}

/// Make a layer of prisms on one of hexes: faces of both kinds, and cells of two types.
MeshTables prisms_on_hexes(std::int64_t n) {
  MeshTables tables = make_box(world(), {.n = {n, n, 2}});
  CellBlock hexes{CellType::hex, {n * n, world().size()}, 8, {}, {}};
  CellBlock prisms{CellType::prism, {2 * n * n, world().size()}, 6, {}, {}};
  const auto vertex = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return GlobalId{(k * (n + 1) + j) * (n + 1) + i};
  };
  const Rank me = world().rank();
  for (std::int64_t row = hexes.rows.first(me); row < hexes.rows.first(me + 1); ++row)
    for (const auto& [a, b, c] :
         {std::array{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}})
      hexes.nodes.push_back(vertex(row % n + a, row / n + b, c));
  for (std::int64_t row = prisms.rows.first(me); row < prisms.rows.first(me + 1); ++row) {
    const std::int64_t i = row / 2 % n;
    const std::int64_t j = row / 2 / n;
    const std::int64_t half = row % 2;
    for (std::int64_t k = 1; k < 3; ++k)
      for (const auto& [a, b] : {std::array<std::int64_t, 2>{0, 0}, {1, half}, {1 - half, 1}})
        prisms.nodes.push_back(vertex(i + a, j + b, k));
  }
  tables.blocks = {hexes, prisms};
  tables.sets.clear();
  tables.members.clear();
  validate(world(), tables, "prisms on hexes");
  return tables;
}

TEST(Sides, OfTetsEqualTheSerialOracle) {
  for (const Dim dim : {Dim::face, Dim::edge}) {
    MeshTables tables = make_box(world(), {.n = {4, 3, 5}, .tets = true, .volumes = {2, 1, 2}});
    partition_cells(world(), tables, 8);
    for (const int n_layers : {0, 1, 2}) expect_equals_oracle(tables, dim, n_layers);
    expect_equals_oracle(test::scattered(world(), tables, 5), dim, 1);
  }
}

TEST(Sides, OfHexesEqualTheSerialOracle) {
  for (const Dim dim : {Dim::face, Dim::edge}) {
    MeshTables tables = make_box(world(), {.n = {4, 5, 3}});
    partition_cells(world(), tables, 8);
    expect_equals_oracle(tables, dim, 1);
    expect_equals_oracle(test::scattered(world(), tables, 7), dim, 1);
    partition_cells(world(), tables, 2);  // empty ranks
    expect_equals_oracle(tables, dim, 1);
  }
}

TEST(Sides, OfMixedCellsEqualTheSerialOracle) {
  MeshTables tables = prisms_on_hexes(5);
  partition_cells(world(), tables, 6);
  for (const Dim dim : {Dim::face, Dim::edge}) expect_equals_oracle(tables, dim, 1);
  expect_equals_oracle(test::scattered(world(), tables, 3), Dim::face, 2);
}

TEST(Sides, ChecksumDoesNotDependOnPartsOrRanks) {
  MeshTables tables = make_box(world(), {.n = {5, 4, 6}, .tets = true});
  partition_cells(world(), tables, 8);
  const Mesh by_eight(world(), tables, {.ghost_layers = 1});
  const Mesh by_chance(world(), test::scattered(world(), tables, 3));
  EXPECT_EQ(Sides(by_eight, Dim::face).checksum(by_eight), Sides(by_chance, Dim::face).checksum(by_chance));
  EXPECT_EQ(Sides(by_eight, Dim::edge).checksum(by_eight), 14607667690586099262U)
      << "the value of one rank, written down";
}

TEST(Sides, RefusesDimensionsWithoutSides) {
  MeshTables tables = make_box(world(), {.n = {2, 2, 2}});
  partition_cells(world(), tables, 2);
  const Mesh mesh(world(), tables);
  EXPECT_THROW(Sides(mesh, Dim::volume), AgreedError);
  EXPECT_THROW(Sides(mesh, Dim::vertex), AgreedError);
}

}  // namespace
}  // namespace barrio::mesh
