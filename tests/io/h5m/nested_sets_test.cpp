// Sets that contain themselves or each other, as in geometry files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/drop_geometry.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_tables.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::Dim;
using mesh::MeshTables;
using test::world;

using Contained = std::vector<std::vector<std::int32_t>>;

Contained contained_in(const MeshTables& tables) {
  Contained all;
  for (const mesh::SetInfo& set : tables.sets) {
    all.emplace_back();
    for (const mesh::SetInSet& inner : set.contained) all.back().push_back(inner.set);
    std::ranges::sort(all.back());
  }
  return all;
}

/// Count the owned vertices in each set of a mesh, over all ranks. Collective.
std::vector<std::int64_t> n_vertices_in(const mesh::Mesh& mesh) {
  std::vector<std::int64_t> n;
  for (const mesh::MeshSet& set : mesh.sets()) n.push_back(test::count_owned(mesh, set)[0]);
  return n;
}

/// Make sets of vertices of a box: 0 contains itself; 1, 2 and 3 contain each other in a ring; 4 the ring; 3 also 5.
MeshTables rings() {
  MeshTables tables = mesh::make_box(world(), {.n = {4, 3, 2}});
  tables.members.clear();
  tables.sets = {{.name = "itself", .contained = {{0}}}, {.name = "one", .contained = {{2}}},
                 {.name = "two", .contained = {{3}}},    {.name = "three", .contained = {{1}, {5}}},
                 {.name = "outer", .contained = {{1}}},  {.name = "inner"}};
  if (world().rank() == world().size() - 1)
    for (std::int32_t set = 0; set < 6; ++set) tables.members.push_back({set, Dim::vertex, 3 * set, 3});
  return tables;
}

const Contained of_rings{{0}, {2}, {3}, {1, 5}, {1}, {}};

TEST(NestedSets, RingsAreKeptAndHaveTheSameMembers) {
  MeshTables tables = rings();
  mesh::partition_cells(world(), tables, 3);
  const auto path = (test::scratch() / "rings.h5m").string();
  write_h5m(world(), tables, path);
  const MeshTables again = read_tables(world(), path);
  EXPECT_EQ(contained_in(again), of_rings);
  EXPECT_EQ(test::WholeFile(world(), again), test::WholeFile(world(), tables));
  const std::vector<std::int64_t> expected{3, 12, 12, 12, 15, 3};
  mesh::Mesh mesh(world(), again, {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(n_vertices_in(mesh), expected);
  std::vector<Rank> to(mesh.n_owned(Dim::volume), (world().rank() + 1) % world().size());
  mesh.migrate(to);
  EXPECT_EQ(n_vertices_in(mesh), expected);
  const MeshTables back = mesh::to_tables(mesh);
  EXPECT_EQ(contained_in(back), of_rings);
  EXPECT_EQ(n_vertices_in(mesh::Mesh(world(), back)), expected);
  EXPECT_EQ(mesh::Mesh(world(), back).checksum(), mesh.checksum());
}

TEST(NestedSets, APartHasARingIfItHasAllOfIt) {
  MeshTables tables = rings();
  mesh::partition_cells(world(), tables, 1);
  const auto path = (test::scratch() / "full.h5m").string();
  write_h5m(world(), tables, path, {.full_parts = true});
  const MeshTables again = read_tables(world(), path);
  EXPECT_EQ(contained_in(again), of_rings);
  EXPECT_EQ(again.n_parts, 1);
}

TEST(NestedSets, GeometryLeavesARing) {
  MeshTables tables = rings();
  tables.sets[2].kind = mesh::SetKind::geometry;
  const MeshTables dropped = mesh::drop_geometry(world(), std::move(tables));
  EXPECT_EQ(contained_in(dropped), (Contained{{0}, {2}, {1, 4}, {1}, {}}));
  EXPECT_EQ(n_vertices_in([&] {
              MeshTables cut = dropped;
              mesh::partition_cells(world(), cut, world().size());
              return mesh::Mesh(world(), cut);
            }()),
            (std::vector<std::int64_t>{3, 12, 12, 15, 3}));
}

TEST(NestedSets, ALongChainDoesNotExhaustTheStack) {
  MeshTables tables = mesh::make_box(world(), {.n = {2, 1, 1}});
  tables.members.clear();
  constexpr std::int32_t n = 100'000;
  tables.sets.assign(n, {});
  for (std::int32_t s = 0; s + 1 < n; ++s) tables.sets[s].contained = {{s + 1}};
  if (world().rank() == 0) tables.members.push_back({n - 1, Dim::vertex, 5, 1});
  mesh::partition_cells(world(), tables, world().size());
  mesh::validate(world(), tables, "chain");
  const mesh::Mesh mesh(world(), tables);
  EXPECT_EQ(test::count_owned(mesh, mesh.sets().front())[0], 1);
}

struct Geometry {
  const char* file;
  std::int64_t n_triangles;
  std::uint64_t checksum;  ///< computed by one rank
};
void PrintTo(const Geometry& geometry, std::ostream* out) { *out << geometry.file; }

class GeometryFiles : public testing::TestWithParam<Geometry> {};

TEST_P(GeometryFiles, OpenAsSurfacesAndComeBack) {
  const auto path = test::interop(std::string("foreign/") + GetParam().file);
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << GetParam().file;
  const MeshTables tables = read_tables(world(), path->string());
  EXPECT_EQ(tables.n_global(Dim::face), GetParam().n_triangles);
  EXPECT_TRUE(std::ranges::binary_search(contained_in(tables)[0], 0));
  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), GetParam().checksum) << fmt::format("{:#018x}", mesh.checksum());
  const auto copy = (test::scratch() / "copy.h5m").string();
  write_h5m(world(), tables, copy);
  const MeshTables again = read_tables(world(), copy);
  EXPECT_EQ(contained_in(again), contained_in(tables));
  EXPECT_EQ(test::WholeFile(world(), again), test::WholeFile(world(), tables));
  write(mesh, (test::scratch() / "copy.vtkhdf").string());
}

INSTANTIATE_TEST_SUITE_P(Samples, GeometryFiles,
                         testing::Values(Geometry{"dagmc_reflecting.h5m", 12, 0xdea33837f6df067e},
                                         Geometry{"openmc_universes.h5m", 16404, 0x5798e64dfe466a10}));

}  // namespace
}  // namespace barrio::io
