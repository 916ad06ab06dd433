#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "barrio/mesh/balance.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "tests/mesh/filled_mesh.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/mesh/sets_and_tags.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

// After migration, a mesh equals one that is built with the new distribution.

namespace barrio::mesh {
namespace {

using test::add_sets_in_sets;
using test::add_tags;
using test::expect_filled;
using test::expect_same_mesh;
using test::fill;
using test::mixed_plane;
using test::parted_box;
using test::world;

/// New rank of each cell of the whole mesh; the same on every rank.
using Destination = std::function<Rank(std::int64_t cell)>;

std::vector<Rank> destinations(const Mesh& mesh, const Destination& rank_of) {
  std::vector<Rank> to;
  for (std::size_t c = 0; c < mesh.n_owned(mesh.cell_dim()); ++c)
    to.push_back(rank_of(value(mesh.cells().global_ids[c])));
  return to;
}

/// Set the parts in the tables to the new ranks; one part per rank.
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

TEST(Migrate, ShiftsCellsToTheNextRank) {
  const MeshTables tables = parted_box(world(), {6, 4, 3}, false, world().size());
  const auto slabs = [](std::int64_t shift) -> Destination {
    return [shift](std::int64_t cell) { return (cell / 9 + shift) % world().size(); };
  };
  for (const int layers : {0, 1, 2}) expect_moves(tables, {slabs(0), slabs(1), slabs(2)}, {.ghost_layers = layers});
}

TEST(Migrate, ScattersAndGathers) {
  const Destination to_one = [](std::int64_t) { return world().size() - 1; };  // all others become empty
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
  // Each rank moves every third cell to one of its neighbours: messages go at most two hops.
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
  // A tri3 (0 1 2) next to a tri6 (1 0 3, nodes 4 5 6). The listed edge 0 1 has a midpoint, so it belongs to the tri6.
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
  const Destination scatter = [n](std::int64_t cell) { return (cell * 5 + 1) % n; };
  expect_moves(tables, {scatter}, {.ghost_layers = 2, .ghost_sets = {"outer"}});
  expect_moves(tables, {scatter}, {.ghost_layers = 1, .ghost_ranks = {0, n - 1}});
}

TEST(Migrate, GivesTheMeshOtherGhosts) {
  const MeshTables tables = parted_box(world(), {5, 4, 3}, true, world().size());
  const BuildOptions none;
  const BuildOptions two{.ghost_layers = 2, .bridge = Dim::face, .ghost_sides = true};
  const Destination stay = [&](std::int64_t) { return world().rank(); };
  for (const auto& [had, wanted] : {std::pair(none, two), std::pair(two, none)}) {
    Mesh mesh(world(), with_parts(tables, scattered(3)), had);
    fill(mesh);
    EXPECT_EQ(mesh.migrate(destinations(mesh, stay), {}, wanted), 0);
    expect_same_mesh(mesh, Mesh(world(), with_parts(tables, scattered(3)), wanted));
    expect_filled(mesh);
    mesh.migrate(destinations(mesh, scattered(5)), {}, had);
    expect_same_mesh(mesh, Mesh(world(), with_parts(tables, scattered(5)), had));
    EXPECT_EQ(mesh.ghost_layers(), had.ghost_layers);
    EXPECT_EQ(mesh.build_options().bridge, had.bridge);
    expect_filled(mesh);
  }
}

TEST(Migrate, MovesPolyhedraWithTheirFaces) {
  MeshTables tables = test::honeycomb(world(), 4, 3, 2);
  static_cast<void>(list_polyhedron_faces(world(), tables));
  partition_cells(world(), tables, world().size());
  const Rank n = world().size();
  expect_moves(
      tables,
      {[n](std::int64_t cell) { return (cell / 3) % n; }, [n](std::int64_t cell) { return (cell * 7 + 2) % n; }},
      {.ghost_layers = 1, .ghost_sides = true});
}

TEST(Migrate, MovesNothingWhenAllStay) {
  const MeshTables tables = parted_box(world(), {5, 4, 3}, true, 2 * world().size() + 1);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  fill(mesh);
  const std::uint64_t before = mesh.checksum();
  const LocalId* const nodes = mesh.cells().nodes.data();
  std::vector<std::int64_t> owners;
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) owners.push_back(mesh.cells().owners[c]);
  EXPECT_EQ(mesh.migrate(std::vector<Rank>(mesh.n_owned(Dim::volume), world().rank())), 0U);
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), before);
  EXPECT_EQ(mesh.revision(), 0U);
  EXPECT_EQ(mesh.cells().nodes.data(), nodes) << "the mesh is the one that was there";
  // One part per rank, as after any migration.
  EXPECT_EQ(mesh.n_parts(), world().size());
  EXPECT_TRUE(std::ranges::equal(mesh.cell_parts(), owners));
}

/// Particles that a program keeps for entities: as many as the id says, each with its index.
using Particles = std::vector<std::vector<std::int64_t>>;

Payload payload_of(const Mesh& mesh, Dim dim, Particles& all) {
  return {.dim = dim,
          .pack =
              [&, dim](LocalId id, std::vector<std::byte>& out) {
                EXPECT_LT(index(id), mesh.n_owned(dim));
                const auto bytes = std::as_bytes(std::span(all[index(id)]));
                out.insert(out.end(), bytes.begin(), bytes.end());
              },
          .unpack =
              [&, dim](LocalId id, std::span<const std::byte> bytes) {
                all.resize(mesh.n_local(dim));
                all[index(id)].resize(bytes.size() / sizeof(std::int64_t));
                std::ranges::copy(bytes, std::as_writable_bytes(std::span(all[index(id)])).begin());
              }};
}

std::vector<std::int64_t> particles_of(GlobalId id) {
  std::vector<std::int64_t> particles;
  for (std::int64_t i = 0; i < value(id) % 5; ++i) particles.push_back(100 * value(id) + i);
  return particles;
}

TEST(Migrate, CarriesWhatTheProgramKeeps) {
  Mesh mesh(world(), parted_box(world(), {5, 4, 4}, true, 2 * world().size()), {.ghost_layers = 1});
  const std::vector<Dim> dims{Dim::vertex, Dim::face, Dim::volume};
  std::vector<Particles> kept(dims.size());
  const std::size_t n_tags = mesh.tags().size();
  std::vector<Payload> payloads;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (const GlobalId id : mesh.global_ids(dims[i])) kept[i].push_back(particles_of(id));
    kept[i].resize(mesh.n_owned(dims[i]));  // owners send the copies
    payloads.push_back(payload_of(mesh, dims[i], kept[i]));
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (Particles& all : kept) all.shrink_to_fit();
    mesh.migrate(destinations(mesh, scattered(test::seed() + static_cast<std::uint64_t>(repeat))), payloads);
    mesh.validate();
    EXPECT_EQ(mesh.tags().size(), n_tags);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      kept[i].resize(mesh.n_local(dims[i]));
      for (std::size_t e = 0; e < mesh.n_local(dims[i]); ++e)
        EXPECT_EQ(kept[i][e], particles_of(mesh.global_ids(dims[i])[e]));
    }
  }
}

TEST(Migrate, SurvivesAProgramThatThrows) {
  Mesh mesh(world(), parted_box(world(), {5, 4, 4}, true, world().size()), {.ghost_layers = 1});
  fill(mesh);
  const std::uint64_t before = mesh.checksum();
  const std::size_t n_tags = mesh.tags().size();
  const bool is_last = world().rank() == world().size() - 1;
  Payload payload{.dim = Dim::volume, .pack = {}, .unpack = [](LocalId, std::span<const std::byte>) {}};
  payload.pack = [&](LocalId, std::vector<std::byte>&) {
    if (is_last) throw std::runtime_error("no ink left");
  };
  if (world().size() == 1) return;  // nothing moves, so there are no calls
  const std::vector<Rank> to = destinations(mesh, scattered(test::seed()));
  try {
    mesh.migrate(to, {payload});
    FAIL() << "a payload that throws went unnoticed";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("no ink left"), std::string::npos) << error.what();
  }
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), before);
  EXPECT_EQ(mesh.revision(), 0U);
  EXPECT_EQ(mesh.tags().size(), n_tags);

  payload.pack = [](LocalId, std::vector<std::byte>&) {};
  payload.unpack = [&](LocalId, std::span<const std::byte>) {
    if (is_last) throw std::runtime_error("no paper left");
  };
  EXPECT_THROW(mesh.migrate(to, {payload}), AgreedError);
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), before);
  EXPECT_EQ(mesh.revision(), 1U);
  EXPECT_EQ(mesh.tags().size(), n_tags);
  expect_filled(mesh);
  EXPECT_THROW(mesh.migrate(to, is_last ? std::vector<Payload>{payload} : std::vector<Payload>{}), AgreedError);
  payload.dim = Dim::edge;  // the mesh lists no edges
  EXPECT_THROW(mesh.migrate(std::vector<Rank>(mesh.n_owned(Dim::volume), 0), {payload}), AgreedError);
  mesh.validate();
}

TEST(Migrate, BalancesWeights) {
  // Cells of the lower half have three times the weight; initially all are on one rank.
  MeshTables tables = parted_box(world(), {6, 6, 8}, false, 1);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  const auto weigh = [&] {
    std::vector<std::int64_t> weights;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      weights.push_back(value(mesh.cells().global_ids[c]) < 144 ? 3 : 1);
    return weights;
  };
  std::vector<std::int64_t> weights = weigh();
  mesh.migrate(balanced_ranks(mesh, {.weights = weights}));
  mesh.validate();
  std::int64_t mine = 0;
  weights = weigh();
  for (const std::int64_t weight : weights) mine += weight;
  const double mean = (3 * 144 + 144) / static_cast<double>(world().size());
  EXPECT_NEAR(static_cast<double>(mine), mean, 6.0);
  const std::vector<Rank> stay = balanced_ranks(mesh, {.weights = weights});
  EXPECT_EQ(std::ranges::count(stay, world().rank()), static_cast<std::ptrdiff_t>(stay.size()))
      << "a balanced mesh stays as it is";
  weights.push_back(1);
  EXPECT_THROW(balanced_ranks(mesh, {.weights = weights}), AgreedError);
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
