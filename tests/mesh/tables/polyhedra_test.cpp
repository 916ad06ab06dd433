#include "tests/mesh/polyhedra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/mesh/adjacency.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/partition_quality.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "barrio/mesh/quality.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mesh/sides/dual_graph.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/graph.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/mesh/same_sharing.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::WholeMesh;
using test::world;
using Corners = std::vector<std::int64_t>;

/// Expect the same mesh from cells of known types given as polyhedra.
void expect_same_as(const MeshTables& tables, const BuildOptions& options) {
  const Mesh known(world(), tables, options);
  const Mesh mesh(world(), test::as_polyhedra(tables), options);
  mesh.validate();
  test::expect_same_table(mesh.vertices(), known.vertices());
  test::expect_same_table(mesh.cells(), known.cells());
  test::expect_same_table(mesh.entities(Dim::face), known.entities(Dim::face));
  EXPECT_EQ(mesh.entities(Dim::face).nodes, known.entities(Dim::face).nodes);
  for (const Dim dim : {Dim::face, Dim::edge}) {
    const Sides sides(mesh, dim);
    const Sides expected(known, dim);
    test::expect_same_table(sides.table(), expected.table());
    EXPECT_EQ(sides.table().nodes, expected.table().nodes);
    EXPECT_EQ(sides.checksum(mesh), expected.checksum(known));
    EXPECT_TRUE(std::ranges::equal(sides.of_listed(), expected.of_listed()));
    for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
      std::set<LocalId> of_cell(sides.of_cell(c).begin(), sides.of_cell(c).end());
      EXPECT_EQ(of_cell.size(), sides.of_cell(c).size()) << "each side of a cell once";
      EXPECT_EQ(of_cell, std::set<LocalId>(expected.of_cell(c).begin(), expected.of_cell(c).end()));
    }
    if (dim != Dim::face) continue;
    const Range all{LocalRange{LocalId{0}, local_id(mesh.cells().n_owned)}};
    EXPECT_EQ(skin(mesh, sides, all), skin(known, expected, all));
  }
  const Adjacency around = around_vertices(mesh, Dim::volume);
  const Adjacency expected = around_vertices(known, Dim::volume);
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v)
    EXPECT_TRUE(std::ranges::equal(around[local_id(v)], expected[local_id(v)]));
}

TEST(Polyhedra, CellsOfABoxSpeltAsPolyhedraMakeTheSameMesh) {
  for (const bool tets : {false, true}) {
    const MeshTables box = make_box(world(), {.n = {4, 3, 3}, .tets = tets});
    expect_same_as(test::scattered(world(), box, 5), {.ghost_layers = 0});
    expect_same_as(test::scattered(world(), box, 3), {.ghost_layers = 2});
    expect_same_as(test::scattered(world(), box, 5), {.ghost_layers = 1, .bridge = Dim::face, .ghost_sides = true});
    expect_same_as(test::scattered(world(), box, 4), {.ghost_layers = 1, .bridge = Dim::edge});
  }
}

TEST(Polyhedra, CentresAndPartitionsAreThoseOfTheCells) {
  const MeshTables box = make_box(world(), {.n = {5, 4, 3}});
  const MeshTables spelt = test::as_polyhedra(box);
  const std::vector<double> centres = compute_centres(world(), spelt);
  const std::vector<double> expected = compute_centres(world(), box);
  ASSERT_EQ(centres.size(), expected.size());
  for (std::size_t i = 0; i < centres.size(); ++i) EXPECT_NEAR(centres[i], expected[i], 1e-15);
  std::vector<std::string> methods = partition::available_graph_methods();  // none on the simulator
  methods.insert(methods.end(), {"rcb", "hilbert"});
  for (const std::string& method : methods) {
    MeshTables one = box;
    MeshTables other = spelt;
    partition_cells(world(), one, 4, {.method = method});
    partition_cells(world(), other, 4, {.method = method});
    EXPECT_EQ(one.parts, other.parts) << method;
    EXPECT_EQ(partition_quality(world(), one).n_cut_sides, partition_quality(world(), other).n_cut_sides) << method;
  }
}

/// Return the faces by their corners, and the ranks whose own cells have them.
std::map<std::set<std::int64_t>, std::set<int>> face_users(const WholeMesh& whole) {
  std::map<std::set<std::int64_t>, std::set<int>> users;
  for (const WholeMesh::Cell& cell : whole.cells)
    for (const Corners& face : test::faces_of_loops(cell.nodes))
      users[{face.begin(), face.end()}].insert(whole.rank_of(cell.part, world().size()));
  return users;
}

TEST(Polyhedra, FacesOfAHoneycombEqualTheSerialOnes) {
  const MeshTables tables = test::scattered(world(), test::honeycomb(world(), 4, 3, 3), 6);
  const WholeMesh whole(world(), tables);
  const Mesh mesh(world(), tables, {.ghost_layers = 1});
  mesh.validate();
  const auto users = face_users(whole);
  const Sides faces(mesh, Dim::face);
  const Sides edges(mesh, Dim::edge);
  EXPECT_EQ(faces.table().n_global, std::ssize(users));
  // The prisms fill a ball: vertices - edges + faces - cells = 1.
  EXPECT_EQ(mesh.n_global(Dim::vertex) - edges.table().n_global + faces.table().n_global - mesh.n_global(Dim::volume),
            1);
  EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(faces.table().n_owned)), faces.table().n_global);
  const EntityTable& table = faces.table();
  std::set<std::set<std::int64_t>> seen;
  for (std::size_t s = 0; s < table.size(); ++s) {
    std::set<std::int64_t> corners;
    for (const LocalId v : table.nodes_of(s)) corners.insert(value(mesh.vertices().global_ids[index(v)]));
    EXPECT_EQ(corners.size(), table.nodes_of(s).size());
    EXPECT_EQ(table.type(s), corners.size() == 6 ? CellType::polygon : CellType::quad);
    EXPECT_EQ(users.at(corners).count(table.owners[s]), 1U);
    seen.insert(corners);
  }
  EXPECT_EQ(seen.size(), table.size());
  for (std::size_t s = 0; s < table.shared.size(); ++s) {
    std::set<std::int64_t> corners;
    for (const LocalId v : table.nodes_of(index(table.shared[s])))
      corners.insert(value(mesh.vertices().global_ids[index(v)]));
    const auto sharers = table.sharers_of(s);
    EXPECT_EQ(std::set<int>(sharers.begin(), sharers.end()), users.at(corners));
  }
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    EXPECT_EQ(faces.of_cell(c).size(), 8U);
    EXPECT_EQ(edges.of_cell(c).size(), 18U);
  }
}

TEST(Polyhedra, GhostsOfAHoneycombEqualTheSerialOnes) {
  const MeshTables tables = test::scattered(world(), test::honeycomb(world(), 4, 4, 2), 5);
  const WholeMesh whole(world(), tables);
  for (const int n_layers : {1, 2}) {
    // Two of its cells with at least four common vertices share a face.
    for (const auto& [bridge, n_common] : {std::pair{Dim::vertex, 1U}, {Dim::edge, 2U}, {Dim::face, 4U}}) {
      const Mesh mesh(world(), tables, {.ghost_layers = n_layers, .bridge = bridge});
      mesh.validate();
      std::set<std::int64_t> ghosts;
      for (std::size_t c = mesh.cells().n_owned; c < mesh.cells().size(); ++c)
        ghosts.insert(value(mesh.cells().global_ids[c]));
      EXPECT_EQ(ghosts, whole.ghosts_of(world().rank(), world().size(), n_layers, n_common))
          << n_layers << " layers over dimension " << value(bridge);
    }
  }
}

TEST(Polyhedra, FacesThatAreNotListedAreAdded) {
  for (const bool lists_some : {false, true}) {
    MeshTables tables = test::scattered(world(), test::honeycomb(world(), 3, 2, 2), 3);
    if (lists_some) {
      // Faces of the first cell, rotated and reversed, and a padded one.
      const WholeMesh whole(world(), tables);
      const auto faces = test::faces_of_loops(whole.cells[0].nodes);
      CellBlock block{CellType::polygon, {std::ssize(faces), world().size()}, 0, {0}, {}};
      for (std::int64_t f = block.rows.first(world().rank()); f < block.rows.first(world().rank() + 1); ++f) {
        Corners face = faces[f];
        std::rotate(face.begin(), face.begin() + 1, face.end());
        std::reverse(face.begin(), face.end());
        if (f == 3) face.push_back(face.back());
        for (const std::int64_t corner : face) block.nodes.push_back(GlobalId{corner});
        block.offsets.push_back(std::ssize(block.nodes));
      }
      tables.blocks.insert(tables.blocks.begin(), block);
    }
    const std::int64_t n_listed = tables.n_global(Dim::face);
    const std::vector<std::int64_t> rows = test::collect(world(), list_polyhedron_faces(world(), tables));
    validate(world(), tables, "the honeycomb");
    const WholeMesh whole(world(), tables);
    EXPECT_EQ(std::ssize(whole.faces), std::ssize(face_users(whole)));
    std::size_t at = 0;
    for (const WholeMesh::Cell& cell : whole.cells)
      for (const Corners& face : test::faces_of_loops(cell.nodes)) {
        ASSERT_LT(at, rows.size());
        const Corners& listed = whole.faces.at(rows[at]);
        EXPECT_EQ(std::set<std::int64_t>(listed.begin(), listed.end()),
                  std::set<std::int64_t>(face.begin(), face.end()));
        if (lists_some && &cell == &whole.cells[0]) {
          EXPECT_LT(rows[at], n_listed);
        }
        ++at;
      }
    EXPECT_EQ(at, rows.size());
    // Listed faces are all in the mesh.
    const Mesh mesh(world(), tables, {.ghost_layers = 1});
    mesh.validate();
    EXPECT_EQ(mesh.n_global(Dim::face), std::ssize(whole.faces));
    const Sides sides(mesh, Dim::face);
    EXPECT_EQ(std::ranges::count(sides.of_listed(), no_local_id), 0);
  }
}

TEST(Polyhedra, FacesOfManyCornersAreNumbered) {
  // A prism over a polygon of n corners.
  const auto prism = [](std::int64_t n) {
    MeshTables tables;
    tables.vertices = {2 * n, world().size()};
    tables.coordinates.assign(3 * tables.vertices.size(world().rank()), 0.0);
    CellBlock block{CellType::polyhedron, {1, world().size()}, 0, {0}, {}};
    if (block.rows.size(world().rank()) > 0) {
      const auto add = [&](std::vector<std::int64_t> face) {
        face.push_back(face.front());
        for (const std::int64_t corner : face) block.nodes.push_back(GlobalId{corner});
      };
      for (const std::int64_t first : {std::int64_t{0}, n}) {
        std::vector<std::int64_t> face;
        for (std::int64_t i = 0; i < n; ++i) face.push_back(first + i);
        add(face);
      }
      for (std::int64_t i = 0; i < n; ++i) add({i, (i + 1) % n, n + (i + 1) % n, n + i});
      block.offsets.push_back(std::ssize(block.nodes));
      tables.parts.push_back(0);
    }
    tables.blocks.push_back(block);
    tables.n_parts = 1;
    validate(world(), tables, "the prism");
    return tables;
  };
  const auto count = [](const Mesh& mesh, Dim dim) {
    const Sides sides(mesh, dim);
    return sides.table().n_global;
  };
  for (const std::int64_t n : {3, 4, 5, 8, 9, 32}) {
    const Mesh mesh(world(), prism(n));
    EXPECT_EQ(count(mesh, Dim::face), n + 2);
    EXPECT_EQ(count(mesh, Dim::edge), 3 * n);
  }
  const Mesh large(world(), prism(33));
  EXPECT_EQ(count(large, Dim::edge), 99);
  try {
    const Sides sides(large, Dim::face);
    FAIL() << "faces of 33 corners were numbered";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("a face of 33 corners"), std::string::npos) << error.what();
  }
}

TEST(Polyhedra, FaultyFacesAreNamed) {
  const auto fault_of = [](const std::vector<std::int64_t>& nodes) -> std::string {
    MeshTables tables = make_box(world(), {.n = {1, 1, 1}});
    CellBlock block{CellType::polyhedron, {1, world().size()}, 0, {0}, {}};
    if (block.rows.size(world().rank()) > 0) {
      for (const std::int64_t node : nodes) block.nodes.push_back(GlobalId{node});
      block.offsets.push_back(std::ssize(block.nodes));
    }
    tables.blocks = {block};
    tables.sets.clear();
    tables.members.clear();
    tables.tags.clear();
    tables.n_parts = 0;
    tables.parts.clear();
    try {
      validate(world(), tables, "cell");
      return "sound";
    } catch (const AgreedError& error) {
      return error.cause();
    }
  };
  EXPECT_EQ(fault_of({0, 1, 2, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 2, 3, 0}), "sound");
  EXPECT_EQ(fault_of({0, 1, 2, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 2, 3}),
            "polyhedron 0 has faces that are not closed, after the first 3");
  EXPECT_EQ(fault_of({0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}), "polyhedron 0 has 3 faces, but needs at least 4");
  EXPECT_EQ(fault_of({0, 1, 2, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 2, 4, 0}),
            "polyhedron 0 is not closed: the edge from vertex 0 to 3 must belong to exactly two of its faces");
  EXPECT_EQ(fault_of({0, 1, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 2, 3, 0}),
            "polyhedron 0 has a face of 2 vertices, but needs at least 3");
  EXPECT_EQ(fault_of({0, 1, 2, 1, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 2, 3, 0}), "polyhedron 0 has vertex 1 twice in face 0");
  EXPECT_EQ(fault_of({0, 1, 2, 0, 0, 1, 9, 0, 1, 2, 9, 1, 0, 2, 9, 0}),
            "polyhedron 0 has vertex 9, but there are 8 vertices");
  EXPECT_EQ(fault_of({}), "polyhedron 0 has 0 faces, but needs at least 4");
}

TEST(Polyhedra, ShapesAreJudgedByTheirEdges) {
  const std::vector<std::array<double, 3>> p{{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<std::array<double, 3>> loops{p[0], p[1], p[2], p[0], p[0], p[1], p[3], p[0],
                                                 p[1], p[2], p[3], p[1], p[0], p[2], p[3], p[0]};
  const CellShape shape = cell_shape(CellType::polyhedron, loops);
  EXPECT_DOUBLE_EQ(shape.shortest_edge, 1.0);
  EXPECT_DOUBLE_EQ(shape.longest_edge, std::sqrt(5.0));
}

/// A knife on a hex, whose top face is the knife's bottom.
TEST(Knives, HaveFiveFacesAndTenEdges) {
  MeshTables tables;
  tables.vertices = {11, world().size()};
  // The hex below, then the knife's folded top: a ridge from corner 4 over 5 to 6.
  const std::vector<std::array<double, 3>> points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},     {0, 0, 1}, {1, 0, 1},
                                                  {1, 1, 1}, {0, 1, 1}, {0, 0, 2}, {0.5, 0.5, 2}, {1, 1, 2}};
  for (std::int64_t v = tables.vertices.first(world().rank()); v < tables.vertices.first(world().rank() + 1); ++v)
    for (const double x : points[v]) tables.coordinates.push_back(x);
  const auto add = [&](CellType type, const std::vector<std::int64_t>& nodes, std::int32_t part) {
    CellBlock block{type, {1, world().size()}, static_cast<int>(nodes.size()), {}, {}};
    if (block.rows.size(world().rank()) > 0) {
      for (const std::int64_t node : nodes) block.nodes.push_back(GlobalId{node});
      tables.parts.push_back(part);
    }
    tables.blocks.push_back(block);
  };
  add(CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}, 0);
  add(CellType::knife, {4, 5, 6, 7, 8, 9, 10}, 1);
  tables.n_parts = 2;
  validate(world(), tables, "a knife on a hex");
  for (const Dim bridge : {Dim::vertex, Dim::edge, Dim::face}) {
    const Mesh mesh(world(), tables, {.ghost_layers = 1, .bridge = bridge});
    mesh.validate();
    EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(mesh.n_ghost(Dim::volume))), world().size() > 1 ? 2 : 0);
    const Sides faces(mesh, Dim::face);
    const Sides edges(mesh, Dim::edge);
    EXPECT_EQ(faces.table().n_global, 6 + 5 - 1);
    EXPECT_EQ(edges.table().n_global, 12 + 10 - 4);
    EXPECT_EQ(11 - edges.table().n_global + faces.table().n_global - 2, 1) << "Euler's formula";
  }
  EXPECT_EQ(partition_quality(world(), tables).n_cut_sides, 1);
  const std::vector<std::array<double, 3>> knife(points.begin() + 4, points.end());
  EXPECT_GT(cell_shape(CellType::knife, knife).corner_volume, 0.0);
}

}  // namespace
}  // namespace barrio::mesh
