#include "barrio/mesh/adjacency.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::parted_box;
using test::WholeMesh;
using test::world;

TEST(Adjacency, FindsCellsAndFacesAroundVertices) {
  const Mesh mesh(world(), parted_box(world(), {5, 4, 3}, true, 7), {.ghost_layers = 1});
  for (const Dim dim : {Dim::volume, Dim::face}) {
    const EntityTable& table = mesh.entities(dim);
    const Adjacency around = around_vertices(mesh, dim);
    ASSERT_EQ(around.size(), mesh.n_local(Dim::vertex));
    std::vector<std::set<LocalId>> expected(around.size());
    for (std::size_t i = 0; i < table.size(); ++i)
      for (const LocalId node : table.nodes_of(i)) expected[index(node)].insert(local_id(i));
    for (std::size_t v = 0; v < around.size(); ++v) {
      const auto found = around[local_id(v)];
      EXPECT_EQ(std::vector(found.begin(), found.end()), std::vector(expected[v].begin(), expected[v].end()));
    }
  }
}

TEST(Adjacency, SidesHaveOneOrTwoCells) {
  const Mesh mesh(world(), parted_box(world(), {5, 4, 3}, false, 7), {.ghost_layers = 1});
  const Sides sides(mesh, Dim::face);
  const Adjacency cells = cells_of_sides(mesh, sides);
  for (std::size_t s = 0; s < cells.size(); ++s) {
    const auto found = cells[local_id(s)];
    EXPECT_TRUE(found.size() == 1 || found.size() == 2);
    for (const LocalId cell : found) {
      const auto of_cell = sides.of_cell(index(cell));
      EXPECT_NE(std::find(of_cell.begin(), of_cell.end(), local_id(s)), of_cell.end());
    }
  }
}

/// Gather the corners of faces, over all ranks.
std::set<std::set<std::int64_t>> corners_of(const Mesh& mesh, const Sides& sides, const Range& some) {
  std::vector<std::int64_t> corners;
  for (const LocalId side : some) {
    for (const LocalId v : sides.table().nodes_of(index(side)))
      corners.push_back(value(mesh.vertices().global_ids[index(v)]));
    corners.push_back(-1);
  }
  std::set<std::set<std::int64_t>> all;
  std::set<std::int64_t> face;
  for (const std::int64_t corner : test::collect(world(), corners)) {
    if (corner >= 0) {
      face.insert(corner);
    } else {
      all.insert(std::exchange(face, {}));
    }
  }
  return all;
}

TEST(Adjacency, TheSkinOfTheMeshIsItsListedBoundary) {
  for (const bool tets : {false, true}) {
    const MeshTables tables = parted_box(world(), {5, 4, 3}, tets, 7);
    const Mesh mesh(world(), tables, {.ghost_layers = 1});
    const Sides sides(mesh, Dim::face);
    std::set<std::set<std::int64_t>> listed;
    for (const auto& face : WholeMesh(world(), tables).faces) listed.insert({face.begin(), face.end()});
    const Range all({LocalRange{LocalId{0}, local_id(mesh.cells().size())}});
    EXPECT_EQ(corners_of(mesh, sides, skin(mesh, sides, all)), listed);
  }
}

TEST(Adjacency, TheSkinOfASetIsThatOfTheWholeMesh) {
  // Without every third cell. The oracle finds faces by four common vertices of hexes.
  const MeshTables tables = parted_box(world(), {5, 4, 3}, false, 7);
  const Mesh mesh(world(), tables, {.ghost_layers = 2});
  const Sides sides(mesh, Dim::face);
  Range some;
  for (std::size_t c = 0; c < mesh.cells().size(); ++c)
    if (value(mesh.cells().global_ids[c]) % 3 != 0) some.insert(local_id(c));
  constexpr int faces[6][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  std::map<std::set<std::int64_t>, int> n_cells;
  const WholeMesh whole(world(), tables);
  for (std::size_t c = 0; c < whole.cells.size(); ++c) {
    if (c % 3 == 0) continue;
    for (const auto& face : faces) {
      std::set<std::int64_t> corners;
      for (const int corner : face) corners.insert(whole.cells[c].nodes[corner]);
      n_cells[corners] += 1;
    }
  }
  std::set<std::set<std::int64_t>> expected;
  for (const auto& [corners, n] : n_cells)
    if (n == 1) expected.insert(corners);
  EXPECT_EQ(corners_of(mesh, sides, skin(mesh, sides, some)), expected);

  // The local skin counts ghosts as cells, so faces to unknown cells are also in it.
  const Range local = local_skin(sides, some);
  for (const LocalId side : skin(mesh, sides, some)) EXPECT_TRUE(local.contains(side));
}

}  // namespace
}  // namespace barrio::mesh
