#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/gmsh/gmsh_binary.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::SetKind;
using test::world;

/// Counts from data/README.md, computed by Gmsh itself.
struct Wing {
  const char* file;
  std::int64_t n_vertices;
  std::int64_t n_triangles;
  std::int64_t n_tets;
  std::int64_t wing, symmetry, farfield, near, far;
  std::uint64_t checksum;  ///< computed by one rank
};

void expect_wing(const std::string& path, const Wing& expected) {
  const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.n_global(Dim::vertex), expected.n_vertices);
  EXPECT_EQ(mesh.n_global(Dim::face), expected.n_triangles);
  EXPECT_EQ(mesh.n_global(Dim::volume), expected.n_tets);
  const auto n = [&](SetKind kind, const char* name, Dim dim) {
    return test::count_owned(mesh, mesh.set(kind, name))[value(dim)];
  };
  EXPECT_EQ(n(SetKind::neumann, "wing", Dim::face), expected.wing);
  EXPECT_EQ(n(SetKind::neumann, "symmetry", Dim::face), expected.symmetry);
  EXPECT_EQ(n(SetKind::neumann, "farfield", Dim::face), expected.farfield);
  EXPECT_EQ(n(SetKind::material, "near", Dim::volume), expected.near);
  EXPECT_EQ(n(SetKind::material, "far", Dim::volume), expected.far);
  EXPECT_EQ(mesh.sets().size(), 5U);
  EXPECT_EQ(mesh.set(SetKind::neumann, "farfield").info.id, 3);
  EXPECT_EQ(mesh.set(SetKind::material, "near").info.id, 11);
  EXPECT_EQ(mesh.checksum(), expected.checksum) << fmt::format("{:#018x}", mesh.checksum());
}

constexpr Wing coarse_wing{"wing/wing_coarse.msh", 1053, 1034, 4591, 264, 282, 488, 1978, 2613, 0xbaccf1251a00fe90U};
constexpr Wing fine_wing{"wing/wing.msh", 16270, 10964, 80326, 4311, 2023, 4630, 43176, 37150, 0xa658276844886992U};

TEST(Gmsh, TextHasItsPhysicalGroups) { expect_wing(test::data(coarse_wing.file).string(), coarse_wing); }
TEST(Gmsh, BinaryHasItsPhysicalGroups) { expect_wing(test::data(fine_wing.file).string(), fine_wing); }

TEST(Gmsh, BinaryEqualsTextInEveryNumber) {
  const auto text = test::data(coarse_wing.file);
  const auto binary = test::scratch() / "coarse_binary.msh";
  if (world().rank() == 0) test::write_gmsh_binary(text, binary);
  mpi::barrier(world());
  const mesh::MeshTables from_text = read_tables(world(), text.string());
  const mesh::MeshTables from_binary = read_tables(world(), binary.string());
  EXPECT_EQ(test::WholeFile(world(), from_binary), test::WholeFile(world(), from_text));
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(binary.string())["format"], "Gmsh 4.1, binary");
  EXPECT_EQ(inspect(binary.string())["quality"], inspect(text.string())["quality"]);
}

TEST(Gmsh, OwnedCellsAndGhostsEqualTheSerialOracle) {
  mesh::MeshTables tables = read_tables(world(), test::data(coarse_wing.file).string());
  // Parts by position, no partitioner: 7 slabs of cells in the order of the file.
  tables.n_parts = 7;
  for (const GlobalId id : mesh::top_ids(world(), tables))
    tables.parts.push_back(static_cast<std::int32_t>(value(id) * 7 / coarse_wing.n_tets));
  test::expect_equals_oracle(world(), tables);
}

TEST(Gmsh, InspectingFindsTheSame) {
  if (world().rank() != 0) return;  // local
  for (const Wing& wing : {coarse_wing, fine_wing}) {
    const Json found = inspect(test::data(wing.file).string());
    EXPECT_EQ(found["vertices"], wing.n_vertices);
    EXPECT_EQ(found["entities"].size(), 2U);
    EXPECT_EQ(found["entities"]["tets"], wing.n_tets);
    EXPECT_EQ(found["entities"]["triangles"], wing.n_triangles);
    EXPECT_EQ(found["sets"]["material"], 2);
    EXPECT_EQ(found["sets"]["neumann"], 3);
    EXPECT_EQ(found["quality"]["inverted"], 0);
    const auto high = found["box"]["high"].get<std::vector<double>>();
    EXPECT_EQ(high, (std::vector<double>{4.0, 3.5, 2.0}));
  }
}

}  // namespace
}  // namespace barrio::io
