#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "barrio/mesh/balance.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/mesh/same_sharing.hpp"
#include "tests/mesh/sets_and_tags.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

// A mesh whose cells were moved equals the one that is built where they went.

namespace barrio::mesh {
namespace {

using test::add_sets_in_sets;
using test::parted_box;
using test::world;

/// A rank for each cell of the whole mesh; the same on every rank.
using Destination = std::function<Rank(std::int64_t cell)>;

std::vector<Rank> destinations(const Mesh& mesh, const Destination& rank_of) {
  std::vector<Rank> to;
  for (std::size_t c = 0; c < mesh.n_owned(mesh.cell_dim()); ++c)
    to.push_back(rank_of(value(mesh.cells().global_ids[c])));
  return to;
}

void expect_same_mesh(const Mesh& moved, const Mesh& built) {
  moved.validate();
  test::expect_same_table(moved.vertices(), built.vertices());
  EXPECT_EQ(moved.vertices().coordinates, built.vertices().coordinates);
  EXPECT_TRUE(std::ranges::equal(moved.neighbours(), built.neighbours()));
  EXPECT_TRUE(std::ranges::equal(moved.cell_parts(), built.cell_parts()));
  EXPECT_EQ(moved.parts(), built.parts());
  for (int d = 1; d <= value(built.cell_dim()); ++d) {
    const EntityTable& a = moved.entities(Dim{d});
    const EntityTable& b = built.entities(Dim{d});
    test::expect_same_table(a, b);
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

/// The tables with the parts that cells are moved to; one part a rank.
MeshTables with_parts(MeshTables tables, const Destination& rank_of) {
  tables.n_parts = world().size();
  const std::vector<GlobalId> ids = top_ids(world(), tables);
  tables.parts.clear();
  for (const GlobalId id : ids) tables.parts.push_back(rank_of(value(id)));
  return tables;
}

Destination scattered(std::uint64_t seed) {
  return [seed](std::int64_t cell) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(cell));
    return static_cast<Rank>(random() % static_cast<std::uint64_t>(world().size()));
  };
}

/// Values that only the entity's global id determines.
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

void expect_moves(const MeshTables& tables, const std::vector<Destination>& ways, const BuildOptions& options) {
  Mesh mesh(world(), tables, options);
  fill(mesh);
  for (const Destination& way : ways) {
    const std::vector<Rank> to = destinations(mesh, way);
    const std::size_t n_left = mesh.migrate(to);
    EXPECT_EQ(n_left, static_cast<std::size_t>(std::ranges::count_if(to, [](Rank r) { return r != world().rank(); })));
    expect_same_mesh(mesh, Mesh(world(), with_parts(tables, way), options));
    expect_filled(mesh);
  }
}

/// Add tags whose values only the row determines: dense on vertices, of varying length on some rows of all tables.
void add_tags(MeshTables& tables) {
  const Rank me = world().rank();
  TagTable dense{.info = {.name = "dense", .type = TagType::float64, .n_components = 1}};
  dense.columns.push_back({.block = -1});
  for (std::size_t i = 0; i < tables.vertices.size(me); ++i) {
    const double x = static_cast<double>(tables.vertices.first(me)) + static_cast<double>(i);
    dense.columns[0].items.add(std::as_bytes(std::span(&x, 1)), false);
  }
  TagTable on_mesh{.info = {.name = "answer", .storage = TagStorage::mesh, .mesh_value = std::vector<std::byte>(4)}};
  tables.tags = {dense, test::varying_tag(tables), on_mesh};
}

/// Quads and triangles in one plane, with edges listed at the bottom.
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

TEST(Migrate, ShiftsCellsToTheNextRank) {
  const MeshTables tables = parted_box(world(), {6, 4, 3}, false, world().size());
  const auto slabs = [](std::int64_t shift) -> Destination {
    return [shift](std::int64_t cell) { return static_cast<Rank>((cell / 9 + shift) % world().size()); };
  };
  for (const int layers : {0, 1, 2}) expect_moves(tables, {slabs(0), slabs(1), slabs(2)}, {.ghost_layers = layers});
}

TEST(Migrate, ScattersAndGathers) {
  const Destination to_one = [](std::int64_t) { return world().size() - 1; };  // all others get empty
  for (const bool tets : {false, true})
    expect_moves(parted_box(world(), {4, 3, 4}, tets, 5),
                 {scattered(test::seed()), to_one, scattered(test::seed() + 99)},
                 {.ghost_layers = 1, .ghost_sides = true});
}

TEST(Migrate, KeepsOtherBridges) {
  for (const Dim bridge : {Dim::edge, Dim::face})
    expect_moves(parted_box(world(), {4, 3, 4}, true, 3), {scattered(test::seed())},
                 {.ghost_layers = 2, .bridge = bridge});
}

TEST(Migrate, MovesTagsOfAllKindsAndSetsInSets) {
  for (MeshTables tables : {parted_box(world(), {4, 3, 4}, true, 5), mixed_plane(6)}) {
    add_tags(tables);
    add_sets_in_sets(tables);
    expect_moves(tables, {scattered(test::seed()), scattered(test::seed() + 7)},
                 {.ghost_layers = 1, .ghost_sides = true});
  }
}

TEST(Migrate, GivesCellsToNeighboursWithoutAskingFurther) {
  // Each rank gives every third cell to one of its neighbours: nobody is written to who is farther than two steps.
  for (const bool tets : {false, true}) {
    const MeshTables tables = parted_box(world(), {6, 5, 4}, tets, world().size());
    const BuildOptions options{.ghost_layers = 1, .ghost_sides = true};
    Mesh mesh(world(), tables, options);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::span<const Rank> neighbours = mesh.neighbours();
      struct Way {
        std::int64_t id;
        Rank to;
      };
      std::vector<Way> here;
      for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
        const std::int64_t id = value(mesh.cells().global_ids[c]);
        const bool goes = (id + repeat) % 3 == 0 && !neighbours.empty();
        here.push_back({id, goes ? neighbours[static_cast<std::size_t>(id) % neighbours.size()] : world().rank()});
      }
      std::vector<Rank> to;
      for (const Way& way : here) to.push_back(way.to);
      mesh.migrate(to);
      std::map<std::int64_t, Rank> all;
      for (const Way& way : test::collect(world(), here)) all[way.id] = way.to;
      expect_same_mesh(mesh, Mesh(world(), with_parts(tables, [&](std::int64_t id) { return all.at(id); }), options));
    }
  }
}

TEST(Migrate, TakesDestinationsThatTheMeshItselfHolds) {
  Mesh mesh(world(), parted_box(world(), {5, 4, 3}, true, world().size()), {.ghost_layers = 1});
  auto to = mesh.add_field<std::int32_t>("to", Dim::volume);
  const std::size_t n = mesh.n_owned(Dim::volume);
  for (std::size_t c = 0; c < n; ++c) to.values()[c] = (world().rank() + 1) % world().size();
  EXPECT_EQ(mesh.migrate(to.values().first(n)), world().size() > 1 ? n : 0U);
  mesh.validate();
}

TEST(Migrate, KeepsSidesOfSecondOrderWithTheirCells) {
  // A tri3 (0 1 2) beside a tri6 (1 0 3 with nodes 4 5 6); the edge 0 1 is listed with its middle, so it is the tri6's.
  MeshTables tables;
  const int n_ranks = world().size();
  tables.vertices = {7, n_ranks};
  tables.coordinates.assign(3 * tables.vertices.size(world().rank()), 0.0);
  for (std::size_t i = 0; i < tables.coordinates.size(); ++i) tables.coordinates[i] = static_cast<double>(i * i % 7);
  const auto add = [&](CellType type, std::vector<std::int64_t> nodes) {
    CellBlock block;
    block.type = type;
    block.rows = {1, n_ranks};
    block.nodes_per_cell = static_cast<int>(nodes.size());
    if (block.rows.size(world().rank()) > 0)
      for (const std::int64_t node : nodes) block.nodes.push_back(GlobalId{node});
    tables.blocks.push_back(block);
  };
  add(CellType::triangle, {0, 1, 2});
  add(CellType::triangle, {1, 0, 3, 4, 5, 6});
  add(CellType::edge, {0, 1, 4});
  for (const int layers : {0, 1}) {
    const auto parted = with_parts(tables, [](std::int64_t cell) { return static_cast<Rank>(cell) % world().size(); });
    Mesh mesh(world(), parted, {.ghost_layers = layers});
    mesh.validate();
    EXPECT_EQ(mesh.n_global(Dim::edge), 1);
    EXPECT_TRUE(mesh.entities(Dim::edge).shared.empty()) << "a ghost's node is no use of it";
    mesh.migrate(destinations(mesh, [](std::int64_t cell) { return static_cast<Rank>(cell + 1) % world().size(); }));
    mesh.validate();
    EXPECT_EQ(mesh.n_global(Dim::edge), 1);
  }
}

TEST(Migrate, KeepsWhichCellsAreGhosts) {
  MeshTables tables = make_box(world(), {.n = {4, 4, 3}});
  partition_cells(world(), tables, world().size());
  add_sets_in_sets(tables);
  const Rank n = world().size();
  const Destination scatter = [n](std::int64_t cell) { return static_cast<Rank>((cell * 5 + 1) % n); };
  expect_moves(tables, {scatter}, {.ghost_layers = 2, .ghost_sets = {"outer"}});
  expect_moves(tables, {scatter}, {.ghost_layers = 1, .ghost_ranks = {0, n - 1}});
}

TEST(Migrate, MovesPolyhedraWithTheirFaces) {
  MeshTables tables = test::honeycomb(world(), 4, 3, 2);
  static_cast<void>(list_polyhedron_faces(world(), tables));
  partition_cells(world(), tables, world().size());
  const Rank n = world().size();
  expect_moves(tables,
               {[n](std::int64_t cell) { return static_cast<Rank>((cell / 3) % n); },
                [n](std::int64_t cell) { return static_cast<Rank>((cell * 7 + 2) % n); }},
               {.ghost_layers = 1, .ghost_sides = true});
}

TEST(Migrate, MovesNothingWhenAllStay) {
  const MeshTables tables = parted_box(world(), {5, 4, 3}, true, world().size());
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  const std::uint64_t before = mesh.checksum();
  EXPECT_EQ(mesh.migrate(std::vector<Rank>(mesh.n_owned(Dim::volume), world().rank())), 0U);
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), before);
}

TEST(Migrate, BalancesWeights) {
  // Cells of the lower half weigh three times as much; all of them begin on one rank.
  MeshTables tables = parted_box(world(), {6, 6, 8}, false, 1);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  const auto weigh = [&] {
    std::vector<std::int64_t> weights;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      weights.push_back(value(mesh.cells().global_ids[c]) < 144 ? 3 : 1);
    return weights;
  };
  mesh.migrate(balanced_ranks(mesh, weigh()));
  mesh.validate();
  std::int64_t mine = 0;
  for (const std::int64_t weight : weigh()) mine += weight;
  const double mean = (3 * 144 + 144) / static_cast<double>(world().size());
  EXPECT_NEAR(static_cast<double>(mine), mean, 6.0);
  const std::vector<Rank> stay = balanced_ranks(mesh, weigh());
  EXPECT_EQ(std::ranges::count(stay, world().rank()), static_cast<std::ptrdiff_t>(stay.size()))
      << "a balanced mesh stays as it is";
  EXPECT_THROW(balanced_ranks(mesh, std::vector<std::int64_t>(stay.size() + 1, 1)), AgreedError);
}

TEST(Migrate, RefusesWrongDestinations) {
  Mesh mesh(world(), parted_box(world(), {3, 3, 3}, false, 4), {.ghost_layers = 1});
  const std::uint64_t before = mesh.checksum();
  std::vector<Rank> to(mesh.n_owned(Dim::volume), 0);
  if (world().rank() == world().size() - 1) to.push_back(0);
  EXPECT_THROW(mesh.migrate(to), AgreedError);
  to.assign(mesh.n_owned(Dim::volume), world().size());
  if (!to.empty() || world().size() > 1) {
    EXPECT_THROW(mesh.migrate(to), AgreedError);
  }
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), before);
}

}  // namespace
}  // namespace barrio::mesh
