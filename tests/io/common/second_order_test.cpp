// Second-order cells, with nodes at the centres of edges, faces and cells, in the order of each format. The lists here
// come from the formats' manuals: each node after the corners is given by the corners of which it is the centre.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mesh/to_linear.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using test::world;
using Point = std::array<double, 3>;

/// A cell as in a format's manual: for each node after the corners, the 0-based corners of which it is the centre.
struct Described {
  const char* name;
  CellType type;
  int gmsh;
  int vtk;
  std::vector<std::vector<int>> gmsh_nodes;
  std::vector<std::vector<int>> vtk_nodes;
};

const std::vector<int> all_of_hex{0, 1, 2, 3, 4, 5, 6, 7};

/// List the nodes in barrio's order, from the topology: centres of edges, of faces (or only quads), and of the cell.
std::vector<std::vector<int>> our_nodes(CellType type, int n_nodes) {
  const mesh::CellTopology& topology = mesh::topology(type);
  std::vector<std::vector<int>> nodes;
  for (std::size_t e = 0; e + 1 < topology.edges.size(); e += 2)
    nodes.push_back({topology.edges[e], topology.edges[e + 1]});
  if (topology.dim == Dim::edge) nodes = {{0, 1}};
  const int n_left = n_nodes - topology.n_corners - static_cast<int>(nodes.size());
  std::vector<std::vector<int>> faces(1);
  for (const std::int8_t corner : topology.sides) {
    if (corner < 0) {
      faces.emplace_back();
    } else {
      faces.back().push_back(corner);
    }
  }
  faces.pop_back();
  if (topology.dim == Dim::volume && n_left > 0) {
    for (const auto& face : faces)
      if (face.size() == 4) nodes.push_back(face);
  }
  std::vector<int> all;
  for (int c = 0; c < topology.n_corners; ++c) all.push_back(c);
  if (static_cast<int>(nodes.size()) < n_nodes - topology.n_corners) nodes.push_back(all);
  return nodes;
}

std::vector<Described> described() {
  const std::vector<std::vector<int>> tri{{0, 1}, {1, 2}, {2, 0}};
  const std::vector<std::vector<int>> quad8{{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  std::vector<std::vector<int>> quad9 = quad8;
  quad9.push_back({0, 1, 2, 3});
  const std::vector<std::vector<int>> gmsh_hex20{{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                                 {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
  std::vector<std::vector<int>> gmsh_hex27 = gmsh_hex20;
  for (const std::vector<int>& face :
       {std::vector<int>{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3}, {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}, all_of_hex})
    gmsh_hex27.push_back(face);
  const std::vector<std::vector<int>> vtk_hex20{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                                {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  std::vector<std::vector<int>> vtk_hex27 = vtk_hex20;
  for (const std::vector<int>& face :
       {std::vector<int>{0, 3, 7, 4}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 2, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}, all_of_hex})
    vtk_hex27.push_back(face);
  const std::vector<std::vector<int>> gmsh_prism15{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4},
                                                   {2, 5}, {3, 4}, {3, 5}, {4, 5}};
  std::vector<std::vector<int>> gmsh_prism18 = gmsh_prism15;
  for (const std::vector<int>& face : {std::vector<int>{0, 1, 4, 3}, {0, 3, 5, 2}, {1, 2, 5, 4}})
    gmsh_prism18.push_back(face);
  const std::vector<std::vector<int>> vtk_prism15{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5},
                                                  {5, 3}, {0, 3}, {1, 4}, {2, 5}};
  std::vector<std::vector<int>> vtk_prism18 = vtk_prism15;
  for (const std::vector<int>& face : {std::vector<int>{0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}})
    vtk_prism18.push_back(face);
  const std::vector<std::vector<int>> gmsh_pyramid13{{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 4}, {2, 3}, {2, 4}, {3, 4}};
  std::vector<std::vector<int>> gmsh_pyramid14 = gmsh_pyramid13;
  gmsh_pyramid14.push_back({0, 1, 2, 3});
  const std::vector<std::vector<int>> vtk_pyramid13{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}};
  return {{"edge3", CellType::edge, 8, 21, {{0, 1}}, {{0, 1}}},
          {"tri6", CellType::triangle, 9, 22, tri, tri},
          {"tri7", CellType::triangle, 0, 34, {}, {{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}}},
          {"quad8", CellType::quad, 16, 23, quad8, quad8},
          {"quad9", CellType::quad, 10, 28, quad9, quad9},
          {"tet10",
           CellType::tet,
           11,
           24,
           {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}},
           {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
          {"pyramid13", CellType::pyramid, 19, 27, gmsh_pyramid13, vtk_pyramid13},
          {"pyramid14", CellType::pyramid, 14, 0, gmsh_pyramid14, {}},
          {"prism15", CellType::prism, 18, 26, gmsh_prism15, vtk_prism15},
          {"prism18", CellType::prism, 13, 32, gmsh_prism18, vtk_prism18},
          {"hex20", CellType::hex, 17, 25, gmsh_hex20, vtk_hex20},
          {"hex27", CellType::hex, 12, 29, gmsh_hex27, vtk_hex27}};
}

/// Return corners of a cell in general position, so that no two centres coincide.
std::vector<Point> corners_of(CellType type) {
  switch (type) {
    case CellType::edge: return {{0, 0, 0}, {1, 0.1, 0}};
    case CellType::triangle: return {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1, 0}};
    case CellType::quad: return {{0, 0, 0}, {1, 0.1, 0}, {1.2, 1, 0}, {0.1, 0.9, 0}};
    case CellType::tet: return {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1, 0}, {0.1, 0.2, 1}};
    case CellType::pyramid: return {{0, 0, 0}, {1, 0.1, 0}, {1.2, 1, 0}, {0.1, 0.9, 0}, {0.4, 0.5, 1}};
    case CellType::prism: return {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1, 0}, {0.1, 0, 1}, {1.2, 0.2, 1}, {0.3, 1.1, 1.1}};
    default:
      return {{0, 0, 0},   {1, 0.1, 0},   {1.2, 1, 0},   {0.1, 0.9, 0},
              {0, 0.1, 1}, {1.1, 0, 1.2}, {1.3, 1.1, 1}, {0, 1, 1.1}};
  }
}

Point amid(const std::vector<Point>& corners, const std::vector<int>& some) {
  Point sum{};
  for (const int c : some)
    for (std::size_t k = 0; k < 3; ++k) sum[k] += corners[c][k] / static_cast<double>(some.size());
  return sum;
}

/// Return all nodes of a cell in the given order.
std::vector<Point> points_of(CellType type, const std::vector<std::vector<int>>& further) {
  const std::vector<Point> corners = corners_of(type);
  std::vector<Point> points = corners;
  for (const auto& some : further) points.push_back(amid(corners, some));
  return points;
}

/// Expect one cell with nodes in barrio's order.
void expect_in_order(const MeshTables& tables, CellType type, std::size_t n_nodes, const std::string& what) {
  ASSERT_EQ(tables.blocks.size(), 1U) << what;
  const CellBlock& block = tables.blocks[0];
  EXPECT_EQ(block.type, type) << what;
  ASSERT_EQ(static_cast<std::size_t>(block.nodes_per_cell), n_nodes) << what;
  const std::vector<Point> expected = points_of(type, our_nodes(type, static_cast<int>(n_nodes)));
  ASSERT_EQ(expected.size(), n_nodes) << what;
  std::vector<double> mine(3 * static_cast<std::size_t>(tables.vertices.n_rows));
  for (std::size_t i = 0; i < tables.coordinates.size(); ++i)
    mine[3 * static_cast<std::size_t>(tables.vertices.first(world().rank())) + i] = tables.coordinates[i];
  MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, world().comm());
  for (std::size_t i = 0; i < block.nodes.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(mine[3 * index(block.nodes[i]) + k], expected[i][k], 1e-12) << what << ", node " << i;
}

std::string gmsh41(const Described& cell, const std::vector<Point>& points) {
  const int dim = value(mesh::topology(cell.type).dim);
  std::string text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n";
  const std::string n = std::to_string(points.size());
  text += "1 " + n + " 1 " + n + "\n" + std::to_string(dim) + " 1 0 " + n + "\n";
  for (std::size_t i = 0; i < points.size(); ++i) text += std::to_string(i + 1) + "\n";
  for (const Point& p : points) text += fmt::format("{:.17g} {:.17g} {:.17g}\n", p[0], p[1], p[2]);
  text += "$EndNodes\n$Elements\n1 1 1 1\n" + std::to_string(dim) + " 1 " + std::to_string(cell.gmsh) + " 1\n1";
  for (std::size_t i = 0; i < points.size(); ++i) text += " " + std::to_string(i + 1);
  return text + "\n$EndElements\n";
}

std::string gmsh22(const Described& cell, const std::vector<Point>& points) {
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + std::to_string(points.size()) + "\n";
  for (std::size_t i = 0; i < points.size(); ++i)
    text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", i + 1, points[i][0], points[i][1], points[i][2]);
  text += "$EndNodes\n$Elements\n1\n1 " + std::to_string(cell.gmsh) + " 2 1 1";
  for (std::size_t i = 0; i < points.size(); ++i) text += " " + std::to_string(i + 1);
  return text + "\n$EndElements\n";
}

std::string legacy_vtk(const Described& cell, const std::vector<Point>& points) {
  std::string text = "# vtk DataFile Version 3.0\none cell\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS ";
  text += std::to_string(points.size()) + " double\n";
  for (const Point& p : points) text += fmt::format("{:.17g} {:.17g} {:.17g}\n", p[0], p[1], p[2]);
  text += fmt::format("CELLS 1 {}\n{}", points.size() + 1, points.size());
  for (std::size_t i = 0; i < points.size(); ++i) text += " " + std::to_string(i);
  return text + "\nCELL_TYPES 1\n" + std::to_string(cell.vtk) + "\n";
}

void write_case(const std::string& path, const std::string& text) {
  if (world().is_root()) std::ofstream(path) << text;
  MPI_Barrier(world().comm());
}

TEST(SecondOrder, GmshAndVtkNumberNodesAsTheirManualsSay) {
  for (const Described& cell : described()) {
    const std::vector<Point> by_gmsh = points_of(cell.type, cell.gmsh_nodes);
    for (const bool is_old : {false, true}) {
      if (cell.gmsh == 0) continue;
      const std::string path = (test::scratch() / (std::string(cell.name) + (is_old ? "_2.msh" : "_4.msh"))).string();
      write_case(path, is_old ? gmsh22(cell, by_gmsh) : gmsh41(cell, by_gmsh));
      expect_in_order(read_tables(world(), path), cell.type, by_gmsh.size(), path);
    }
    if (cell.vtk == 0) continue;
    const std::vector<Point> by_vtk = points_of(cell.type, cell.vtk_nodes);
    const std::string path = (test::scratch() / (std::string(cell.name) + ".vtk")).string();
    write_case(path, legacy_vtk(cell, by_vtk));
    expect_in_order(read_tables(world(), path), cell.type, by_vtk.size(), path);
  }
}

// CGNS and Exodus use barrio's order, except for the last seven nodes of a hex of 27.
TEST(SecondOrder, CgnsAndExodusNumberTheMiddlesOfHexesTheirOwnWay) {
  const std::vector<std::vector<int>> cgns{{0, 1, 2, 3}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6},
                                           {0, 3, 7, 4}, {4, 5, 6, 7}, all_of_hex};
  const std::vector<std::vector<int>> exodus{all_of_hex,   {0, 1, 2, 3}, {4, 5, 6, 7}, {0, 3, 7, 4},
                                             {1, 2, 6, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}};
  const auto sorted = [](std::vector<int> corners) {
    std::ranges::sort(corners);
    return corners;
  };
  const auto ours = our_nodes(CellType::hex, 27);
  for (std::size_t i = 0; i < 7; ++i) {
    const auto place = [&](std::span<const std::int8_t> order) { return static_cast<std::size_t>(order[20 + i] - 20); };
    EXPECT_EQ(sorted(ours[12 + i]), sorted(cgns[place(detail::cgns_order(CellType::hex, 27))])) << i;
    EXPECT_EQ(sorted(ours[12 + i]), sorted(exodus[place(detail::exodus_order(CellType::hex, 27))])) << i;
  }
}

/// Expect each node after the corners of straight cells at the centre of the corners that the order gives.
void expect_nodes_amid(const mesh::Mesh& mesh, double tolerance, const std::string& what) {
  const mesh::EntityTable& cells = mesh.cells();
  const auto& x = mesh.vertices().coordinates;
  std::size_t n_wrong = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto nodes = cells.nodes_of(c);
    const auto n_corners = static_cast<std::size_t>(mesh::topology(cells.type(c)).n_corners);
    std::vector<Point> corners;
    for (std::size_t k = 0; k < n_corners; ++k)
      corners.push_back({x[3 * index(nodes[k])], x[3 * index(nodes[k]) + 1], x[3 * index(nodes[k]) + 2]});
    const auto further = our_nodes(cells.type(c), static_cast<int>(nodes.size()));
    for (std::size_t k = n_corners; k < nodes.size(); ++k) {
      const Point expected = amid(corners, further[k - n_corners]);
      double gap = 0.0;
      for (std::size_t d = 0; d < 3; ++d) gap = std::max(gap, std::abs(x[3 * index(nodes[k]) + d] - expected[d]));
      n_wrong += gap > tolerance ? 1 : 0;
    }
  }
  EXPECT_EQ(n_wrong, 0U) << what;
}

// Files of other programs: any rank count gives the same mesh, with ghosts and after a round trip through .h5m.
TEST(SecondOrder, RealFilesAreReadWholeOnAnyRankCount) {
  std::size_t n_found = 0;
  for (const char* name : {"cube_q2.msh", "tets-q2.msh", "quads-q2.msh", "gmsh-hex-20node.msh", "gmsh-qua-8node.msh",
                           "escher-p2.vtk", "exodus_HEX20.e", "exodus_QUAD9.e", "exodus_TET10.e", "exodus_TRI6.e"}) {
    const auto found = test::interop(std::string("foreign/") + name);
    if (!found) continue;
    const std::string path = found->string();
    const bool is_curved = std::string(name) == "escher-p2.vtk" || std::string(name) == "gmsh-hex-20node.msh";
    const double tolerance = is_curved ? 0.15 : 1e-9;  // edges are 0.5 to 2 long
    n_found += 1;
    mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1});
    mesh.validate();
    mpi::Context self(MPI_COMM_SELF);
    EXPECT_EQ(mesh.checksum(), read(self, path).checksum()) << name;
    expect_nodes_amid(mesh, tolerance, name);
    const std::string copy = (test::scratch() / (std::string(name) + ".h5m")).string();
    io::write(mesh, copy);
    mesh::Mesh again = read(world(), copy, {.ghost_layers = 1});
    again.validate();
    EXPECT_EQ(again.n_global(Dim::vertex), mesh.n_global(Dim::vertex)) << name;
    expect_nodes_amid(again, tolerance, copy);
  }
  if (n_found == 0) GTEST_SKIP() << "the folder with files of others is not there";
}

// The corners alone form a sound mesh: fields at corners, sets and the volume of the box remain.
TEST(SecondOrder, IsCutToCornersWhenAsked) {
  const auto found = test::interop("foreign/exodus_TET10.e");
  if (!found) GTEST_SKIP() << "the folder with files of others is not there";
  const std::string path = found->string();
  const MeshTables whole = read_tables(world(), path);
  const MeshTables linear = read_tables(world(), path, {.to_linear = true});
  EXPECT_EQ(whole.vertices.n_rows, 381);
  std::int64_t n_edges = 0;
  {
    mpi::Context self(MPI_COMM_SELF);
    const mesh::Sides edges(read(self, path), Dim::edge);
    n_edges = edges.table().n_global;
  }
  EXPECT_EQ(linear.vertices.n_rows, 381 - n_edges) << "a node amid each edge";
  for (const CellBlock& block : linear.blocks) EXPECT_EQ(block.nodes_per_cell, mesh::topology(block.type).n_corners);
  EXPECT_EQ(linear.sets.size(), whole.sets.size());
  mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1, .to_linear = true});
  mesh.validate();
  mpi::Context self(MPI_COMM_SELF);
  const mesh::Mesh alone = read(self, path, {.to_linear = true});
  EXPECT_EQ(mesh.checksum(), alone.checksum());
  // Corners keep their coordinates, cell by cell.
  const mesh::Mesh before = read(self, path);
  for (std::size_t c = 0; c < alone.cells().size(); ++c)
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t d = 0; d < 3; ++d)
        EXPECT_EQ(alone.vertices().coordinates[3 * index(alone.cells().nodes_of(c)[k]) + d],
                  before.vertices().coordinates[3 * index(before.cells().nodes_of(c)[k]) + d]);
}

// Sets and tags follow the remaining vertices.
TEST(SecondOrder, SetsAndTagsFollowTheCorners) {
  const auto found = test::interop("foreign/exodus_HEX20.e");
  if (!found) GTEST_SKIP() << "the folder with files of others is not there";
  MeshTables tables = read_tables(world(), found->string());
  const auto all = static_cast<std::int32_t>(tables.sets.size());
  tables.sets.push_back({.kind = mesh::SetKind::dirichlet, .id = 99, .name = "all"});
  if (world().is_root()) tables.members.push_back({all, Dim::vertex, 0, tables.vertices.n_rows});
  mesh::TagTable tag{.info = {.name = "x", .type = mesh::TagType::float64, .n_components = 1}};
  tag.columns.push_back({.block = -1});
  for (std::size_t i = 0; i < tables.coordinates.size(); i += 3)
    tag.columns[0].items.add(std::as_bytes(std::span(&tables.coordinates[i], 1)), false);
  tables.tags.push_back(tag);
  mesh::LinearReport report;
  tables = mesh::to_linear(world(), std::move(tables), report);
  EXPECT_EQ(report.n_vertices, 81 - 27);
  EXPECT_EQ(report.n_cells, 8 + 24);
  EXPECT_EQ(tables.vertices.n_rows, 27);
  mesh::validate(world(), tables, "cut");
  const mesh::TagTable& kept = tables.tags.back();
  for (std::size_t i = 0; i < tables.vertices.size(world().rank()); ++i) {
    double x = 0.0;
    std::memcpy(&x, kept.columns[0].items.value(i, kept.info.value_bytes()).data(), sizeof x);
    EXPECT_EQ(x, tables.coordinates[3 * i]);
  }
  std::int64_t n_members = 0;
  for (const mesh::SetRows& rows : tables.members) n_members += rows.set == all ? rows.count : 0;
  EXPECT_EQ(mpi::sum(world(), n_members), 27);
}

}  // namespace
}  // namespace barrio::io
