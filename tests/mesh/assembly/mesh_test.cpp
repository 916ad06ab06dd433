#include "barrio/mesh/mesh.hpp"

#include <gtest/gtest.h>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::parted_box;
using test::WholeMesh;
using test::world;

MeshTables scattered_box(std::array<std::int64_t, 3> n, bool tets, int n_parts) {
  return test::scattered(world(), make_box(world(), {.n = n, .tets = tets}), n_parts);
}

void expect_equals_oracle(const MeshTables& tables, int n_layers = 1) {
  const WholeMesh whole(world(), tables);
  Mesh mesh(world(), tables, {.ghost_layers = n_layers});
  mesh.validate();
  const int rank = world().rank();
  const int size = world().size();

  const auto owned = whole.cells_of(rank, size);
  const auto ghosts = whole.ghosts_of(rank, size, n_layers);
  ASSERT_EQ(mesh.n_owned(mesh.cell_dim()), owned.size());
  ASSERT_EQ(mesh.n_ghost(mesh.cell_dim()), ghosts.size());
  const EntityTable& cells = mesh.cells();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::int64_t id = value(cells.global_ids[c]);
    const WholeMesh::Cell& expected = whole.cells[id];
    EXPECT_EQ(c < cells.n_owned ? owned.count(id) : ghosts.count(id), 1U);
    EXPECT_EQ(cells.owners[c], whole.rank_of(expected.part, size));
    EXPECT_EQ(cells.type(c), expected.type);
    const auto nodes = cells.nodes_of(c);
    ASSERT_EQ(nodes.size(), expected.nodes.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      EXPECT_EQ(value(mesh.vertices().global_ids[index(nodes[n])]), expected.nodes[n]);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(mesh.vertices().coordinates[3 * index(nodes[n]) + k], whole.vertices[expected.nodes[n]][k]);
    }
  }
  auto all = owned;
  all.insert(ghosts.begin(), ghosts.end());
  EXPECT_EQ(mesh.n_local(Dim::vertex), whole.vertices_of(all).size());

  std::map<std::int64_t, std::set<int>> shared;
  for (const auto& [id, ranks] : whole.sharers(size))
    if (ranks.size() > 1 && ranks.count(rank) > 0) shared[id] = ranks;
  const VertexTable& v = mesh.vertices();
  ASSERT_EQ(v.shared.size(), shared.size());
  for (std::size_t s = 0; s < v.shared.size(); ++s) {
    const auto found = v.sharers_of(s);
    EXPECT_EQ(std::set<int>(found.begin(), found.end()), shared[value(v.global_ids[index(v.shared[s])])]);
  }
}

TEST(Mesh, EqualsTheSerialOracleOnHexes) { expect_equals_oracle(parted_box(world(), {7, 5, 4}, false, 8)); }
TEST(Mesh, EqualsTheSerialOracleOnTets) { expect_equals_oracle(parted_box(world(), {4, 3, 5}, true, 5)); }
TEST(Mesh, EqualsTheSerialOracleWithScatteredParts) { expect_equals_oracle(scattered_box({5, 4, 3}, true, 9)); }
TEST(Mesh, EqualsTheSerialOracleWithSeveralLayers) {
  for (const int n_layers : {0, 2, 3, 5})
    expect_equals_oracle(parted_box(world(), {9, 3, 3}, false, 9), n_layers);  // parts are one cell thick
  expect_equals_oracle(parted_box(world(), {5, 4, 6}, true, 6), 2);
  expect_equals_oracle(scattered_box({5, 4, 3}, true, 9), 2);
}
/// Expect the oracle's ghosts over a bridge, and the listed faces that come with them.
void expect_bridged(const MeshTables& tables, const BuildOptions& options, std::size_t n_common,
                    const std::function<bool(std::int64_t)>& may = {}) {
  const WholeMesh whole(world(), tables);
  Mesh mesh(world(), tables, options);
  mesh.validate();
  const int rank = world().rank();
  const int size = world().size();
  const auto owned = whole.cells_of(rank, size);
  const auto ghosts = whole.ghosts_of(rank, size, options.ghost_layers, n_common, may);
  const EntityTable& cells = mesh.cells();
  std::set<std::int64_t> found;
  for (std::size_t c = cells.n_owned; c < cells.size(); ++c) found.insert(value(cells.global_ids[c]));
  EXPECT_EQ(found, ghosts);

  auto all = owned;
  if (options.ghost_sides) all.insert(ghosts.begin(), ghosts.end());
  std::set<std::int64_t> faces;
  for (const GlobalId id : mesh.entities(Dim::face).global_ids) faces.insert(value(id));
  EXPECT_EQ(faces, whole.faces_of(all));
  const std::set<std::int64_t> own_faces = whole.faces_of(owned);
  for (const LocalId shared : mesh.entities(Dim::face).shared)
    EXPECT_EQ(own_faces.count(value(mesh.entities(Dim::face).global_ids[index(shared)])), 1U);
  // The plan reaches all copies.
  auto id = mesh.add_field<std::int64_t>("id", Dim::face);
  const EntityTable& table = mesh.entities(Dim::face);
  for (std::size_t i = 0; i < table.n_owned; ++i) id.values()[i] = value(table.global_ids[i]);
  mesh.plan(id).exchange();
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(id.values()[i], value(table.global_ids[i]));
  // Sets also contain the ghosts' faces.
  const MeshSet& low = mesh.set(SetKind::neumann, "x-");
  for (std::size_t i = 0; i < table.size(); ++i) {
    bool is_low = true;
    for (const LocalId node : table.nodes_of(i)) is_low = is_low && mesh.vertices().coordinates[3 * index(node)] == 0.0;
    EXPECT_EQ(low.entities[2].contains(local_id(i)), is_low);
  }
}

TEST(Mesh, GhostsComeOverEdgesAndFaces) {
  for (const int n_layers : {1, 2, 3}) {
    expect_bridged(parted_box(world(), {7, 5, 4}, false, 8), {.ghost_layers = n_layers, .bridge = Dim::edge}, 2);
    expect_bridged(parted_box(world(), {7, 5, 4}, false, 8), {.ghost_layers = n_layers, .bridge = Dim::face}, 4);
    expect_bridged(parted_box(world(), {4, 3, 5}, true, 5), {.ghost_layers = n_layers, .bridge = Dim::face}, 3);
  }
  expect_bridged(scattered_box({5, 4, 3}, true, 9), {.ghost_layers = 2, .bridge = Dim::edge}, 2);
  expect_bridged(scattered_box({5, 4, 3}, false, 9), {.ghost_layers = 2, .bridge = Dim::face}, 4);
}

TEST(Mesh, ListedFacesOfGhostsComeOnRequest) {
  for (const int n_layers : {0, 1, 2}) {
    expect_bridged(parted_box(world(), {7, 5, 4}, true, 8), {.ghost_layers = n_layers, .ghost_sides = true}, 1);
    expect_bridged(scattered_box({5, 4, 3}, false, 9), {.ghost_layers = n_layers, .ghost_sides = true}, 1);
  }
}

/// Add a set of cells 3, 4, 5, 9 .. 40, contained in another set, and a material set of every second cell.
MeshTables with_sets(MeshTables tables) {
  const auto inner = static_cast<std::int32_t>(tables.sets.size());
  tables.sets.push_back({.kind = SetKind::other, .id = 1, .name = "inner"});
  tables.sets.push_back({.kind = SetKind::other, .id = 2, .name = "solid", .contained = {{inner}}});
  tables.sets.push_back({.kind = SetKind::material, .id = 77, .name = ""});
  if (world().rank() != world().size() - 1) return tables;
  tables.members.push_back({inner, Dim::volume, 3, 3});
  tables.members.push_back({inner, Dim::volume, 9, 32});
  for (std::int64_t row = 0; row < tables.n_global(Dim::volume); row += 2)
    tables.members.push_back({inner + 2, Dim::volume, row, 1});
  return tables;
}

TEST(Mesh, GhostsMayBeThoseOfSomeSets) {
  const auto is_solid = [](std::int64_t cell) { return (cell >= 3 && cell < 6) || (cell >= 9 && cell < 41); };
  const auto is_even = [](std::int64_t cell) { return cell % 2 == 0; };
  const MeshTables tables = with_sets(scattered_box({5, 4, 4}, false, 9));
  for (const int n_layers : {1, 2}) {
    expect_bridged(tables, {.ghost_layers = n_layers, .ghost_sets = {"solid"}}, 1, is_solid);
    expect_bridged(tables, {.ghost_layers = n_layers, .bridge = Dim::face, .ghost_sets = {"material 77"}}, 4, is_even);
    expect_bridged(tables, {.ghost_layers = n_layers, .ghost_sides = true, .ghost_sets = {"inner", "material 77"}}, 1,
                   [&](std::int64_t cell) { return is_solid(cell) || is_even(cell); });
  }
}

TEST(Mesh, GhostsMayBeThoseOfSomeRanks) {
  const MeshTables tables = scattered_box({5, 4, 3}, false, 9);
  const WholeMesh whole(world(), tables);
  const int size = world().size();
  const std::vector<Rank> some{size - 1, 0};
  const auto is_one = [&](Rank rank) { return rank == 0 || rank == size - 1; };
  const auto may = [&](std::int64_t cell) {
    return is_one(world().rank()) && is_one(whole.rank_of(whole.cells[cell].part, size));
  };
  for (const int n_layers : {1, 2}) {
    expect_bridged(tables, {.ghost_layers = n_layers, .ghost_ranks = some}, 1, may);
    expect_bridged(tables, {.ghost_layers = n_layers, .bridge = Dim::face, .ghost_sides = true, .ghost_ranks = some}, 4,
                   may);
  }
  expect_bridged(with_sets(tables), {.ghost_layers = 1, .ghost_sets = {"solid"}, .ghost_ranks = {0}}, 1,
                 [](std::int64_t) { return false; });
}

TEST(Mesh, GhostsOfWhatDoesNotExistAreRefused) {
  const MeshTables tables = with_sets(parted_box(world(), {3, 3, 3}, false, 4));
  const auto refusal = [&](const BuildOptions& options) -> std::string {
    try {
      const Mesh mesh(world(), tables, options);
      return "built";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
  };
  EXPECT_NE(refusal({.ghost_layers = 1, .ghost_sets = {"solit"}}).find("Did you mean 'solid'?"), std::string::npos);
  EXPECT_NE(refusal({.ghost_layers = 1, .ghost_ranks = {0, world().size()}}).find("there are"), std::string::npos);
  if (world().size() == 1) return;
  const std::vector<Rank> other = world().rank() == 0 ? std::vector<Rank>{0} : std::vector<Rank>{};
  EXPECT_NE(refusal({.ghost_layers = 1, .ghost_ranks = other}).find("must be the same"), std::string::npos);
}

TEST(Mesh, EmptyRanksAreLegal) { expect_equals_oracle(parted_box(world(), {3, 2, 2}, false, 2)); }
TEST(Mesh, MorePartsThanCellsIsLegal) { expect_equals_oracle(parted_box(world(), {2, 1, 1}, false, 7)); }

TEST(Mesh, ChecksumDoesNotDependOnPartsOrRanks) {
  const std::uint64_t eight = Mesh(world(), parted_box(world(), {6, 6, 6}, true, 8)).checksum();
  const std::uint64_t scattered = Mesh(world(), scattered_box({6, 6, 6}, true, 3), {.ghost_layers = 1}).checksum();
  EXPECT_EQ(eight, scattered);
  EXPECT_EQ(eight, 5313926888093324486U) << "the value of one rank, written down";
  EXPECT_NE(eight, Mesh(world(), parted_box(world(), {6, 6, 7}, true, 8)).checksum());
}

TEST(Mesh, ExchangesFieldsOnVerticesAndCells) {
  Mesh mesh(world(), parted_box(world(), {6, 5, 4}, true, 8), {.ghost_layers = 1});
  auto x = mesh.add_field<double>("x", Dim::vertex, 3);
  auto part = mesh.add_field<std::int32_t>("part", mesh.cell_dim());
  const VertexTable& v = mesh.vertices();
  for (std::size_t i = 0; i < 3 * v.n_owned; ++i) x.values()[i] = v.coordinates[i];
  for (std::size_t i = 0; i < mesh.cells().n_owned; ++i) part.values()[i] = mesh.cell_parts()[i];
  auto x_halo = mesh.plan(x);
  auto part_halo = mesh.plan(part);
  for (int repeat = 0; repeat < 3; ++repeat) {  // both in flight at once, several times
    x_halo.begin();
    part_halo.begin();
    x_halo.end();
    part_halo.end();
  }
  for (std::size_t i = 0; i < v.coordinates.size(); ++i) EXPECT_EQ(x.values()[i], v.coordinates[i]);
  for (std::size_t i = 0; i < mesh.cell_parts().size(); ++i) EXPECT_EQ(part.values()[i], mesh.cell_parts()[i]);
}

TEST(Mesh, SumsOverOwnedVerticesCountEachOnce) {
  Mesh mesh(world(), scattered_box({4, 4, 4}, false, 6), {.ghost_layers = 1});
  EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(mesh.n_owned(Dim::vertex))), 125);
  EXPECT_EQ(mesh.n_global(Dim::vertex), 125);
  EXPECT_EQ(mesh.n_global(Dim::volume), 64);
}

TEST(Mesh, KeepsSetsAndBoundaryFaces) {
  Mesh mesh(world(), parted_box(world(), {5, 4, 3}, true, 7), {.ghost_layers = 1});
  EXPECT_EQ(mesh.n_global(Dim::face), 2 * 2 * (5 * 4 + 4 * 3 + 5 * 3));
  const MeshSet& low = mesh.set(SetKind::neumann, "x-");
  std::int64_t n_owned = 0;
  for (const LocalId id : low.entities[2]) {
    if (index(id) < mesh.entities(Dim::face).n_owned) ++n_owned;
    for (const LocalId node : mesh.entities(Dim::face).nodes_of(index(id)))
      EXPECT_EQ(mesh.vertices().coordinates[3 * index(node)], 0.0);
  }
  EXPECT_EQ(mpi::sum(world(), n_owned), 2 * 4 * 3);
  const MeshSet& material = mesh.set(SetKind::material, "box");
  EXPECT_EQ(material.entities[3].size(), mesh.n_local(Dim::volume));
  EXPECT_THROW(static_cast<void>(mesh.set(SetKind::neumann, "x")), Error);
}

TEST(Mesh, SetsOfOneNameAreRefusedWithTheirIds) {
  MeshTables tables = parted_box(world(), {3, 2, 2}, true, 2);
  tables.sets.push_back({.kind = SetKind::neumann, .id = 77, .name = "x-"});
  tables.sets.push_back({.kind = SetKind::material, .id = 78, .name = "y-"});
  const Mesh mesh(world(), tables);
  EXPECT_EQ(mesh.set(SetKind::material, "y-").info.id, 78);
  EXPECT_EQ(mesh.set(SetKind::neumann, "y-").info.kind, SetKind::neumann);
  const std::int32_t id = std::ranges::find(mesh.sets(), "x-", [](const MeshSet& s) { return s.info.name; })->info.id;
  try {
    static_cast<void>(mesh.set(SetKind::neumann, "x-"));
    FAIL() << "took one of two";
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "neumann set 'x-'");
    EXPECT_EQ(error.cause(), "is the name of 2 sets of the mesh, with the ids " + std::to_string(id) + ", 77");
    EXPECT_EQ(error.remedy(), "take each from the mesh's list `sets`, by its id");
  }
}

TEST(Mesh, RefusesWhatItCannotDoByName) {
  const MeshTables tables = parted_box(world(), {2, 2, 2}, false, 2);
  EXPECT_THROW(Mesh(world(), tables, {.ghost_layers = -1}), AgreedError);
  MeshTables in_no_parts = tables;
  in_no_parts.n_parts = 0;
  in_no_parts.parts.clear();
  EXPECT_THROW(Mesh(world(), in_no_parts), AgreedError);
  Mesh mesh(world(), tables);
  mesh.add_field<double>("temperature", Dim::vertex);
  EXPECT_THROW(mesh.add_field<double>("temperature", Dim::vertex), Error);
  try {
    static_cast<void>(mesh.field<double>("temperatur", Dim::vertex));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.cause().find("Did you mean 'temperature'?"), std::string::npos);
  }
  auto on_edges = mesh.add_field<double>("flux", Dim::edge);  // the file lists no edges
  EXPECT_THROW(static_cast<void>(mesh.plan(on_edges)), Error);
  EXPECT_THROW(Mesh(world(), tables, {.ghost_layers = 1, .bridge = Dim::volume}), AgreedError);
}

TEST(Mesh, CountsItsMemory) {
  Mesh mesh(world(), parted_box(world(), {6, 6, 6}, true, 8), {.ghost_layers = 1});
  const std::uint64_t before = mesh.memory_bytes();
  mesh.add_field<double>("u", Dim::vertex);
  EXPECT_EQ(mesh.memory_bytes(), before + 8 * mesh.n_local(Dim::vertex));
}

}  // namespace
}  // namespace barrio::mesh
