// Cells with one vertex at two corners: small VTK files with each kind of collapse, and a mesh with poles.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <span>

#include "barrio/base/slabs.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mesh/tables/collapse.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::Degenerate;
using mesh::detail::Collapse;
using test::WholeFile;
using test::world;
using test::write_text;
using Outcome = Collapse::Outcome;

/// Write hexes on the corners of one cube: a sound one, a prism, a pyramid, a tet, one with a single collapsed edge,
/// and a flat one.
std::string hexes(const std::string& name) {
  return write_text(name,
                    "# vtk DataFile Version 3.0\ncollapses\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n"
                    "0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\n"
                    "CELLS 6 54\n"
                    "8 0 1 2 3 4 5 6 7\n8 0 1 2 2 4 5 6 6\n8 0 1 2 3 4 4 4 4\n8 0 1 2 2 4 4 4 4\n"
                    "8 0 0 2 3 4 5 6 7\n8 0 1 2 3 0 1 2 3\n"
                    "CELL_TYPES 6\n12 12 12 12 12 12\n"
                    "CELL_DATA 6\nSCALARS MaterialIds int\nLOOKUP_TABLE default\n10 11 12 13 14 15\n"
                    "SCALARS part int\nLOOKUP_TABLE default\n0 1 0 1 0 1\n"
                    "SCALARS heat double\nLOOKUP_TABLE default\n0.5 1.5 2.5 3.5 4.5 5.5\n");
}

/// Gather the values of a tag on all its columns, by block. Collective.
std::map<std::int32_t, std::vector<double>> values_by_block(const mesh::MeshTables& tables, const std::string& name) {
  std::map<std::int32_t, std::vector<double>> found;
  for (const mesh::TagTable& tag : tables.tags) {
    if (tag.info.name != name) continue;
    for (const mesh::TagColumn& column : tag.columns) {
      EXPECT_TRUE(column.is_dense);
      std::vector<double> mine(column.items.bytes.size() / sizeof(double));
      if (!mine.empty()) std::memcpy(mine.data(), column.items.bytes.data(), column.items.bytes.size());
      found[column.block] = test::collect(world(), mine);
    }
  }
  return found;
}

TEST(Degenerate, HexesBecomeWhatTheyLookLikeWithSetsPartsAndTags) {
  const mesh::MeshTables tables = read_tables(world(), hexes("reduced.vtk"));
  const WholeFile found(world(), tables);
  EXPECT_EQ(found.cells, (std::vector<WholeFile::Cell>{{CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}},
                                                       {CellType::hex, {0, 0, 2, 3, 4, 5, 6, 7}},
                                                       {CellType::tet, {0, 1, 2, 4}},
                                                       {CellType::pyramid, {0, 1, 2, 3, 4}},
                                                       {CellType::prism, {0, 1, 2, 4, 5, 6}}}));
  EXPECT_EQ(tables.n_parts, 2);
  EXPECT_EQ(found.parts, (std::vector<std::int32_t>{0, 0, 1, 0, 1}));
  using RowSet = std::set<std::pair<int, std::int64_t>>;
  EXPECT_EQ(found.members, (std::vector<RowSet>{{{3, 0}}, {{3, 4}}, {{3, 3}}, {{3, 2}}, {{3, 1}}, {}}));
  EXPECT_EQ(values_by_block(tables, "heat"),
            (std::map<std::int32_t, std::vector<double>>{{0, {0.5, 4.5}}, {1, {3.5}}, {2, {2.5}}, {3, {1.5}}}));
}

TEST(Degenerate, KeptCellsAreThoseOfTheFile) {
  const mesh::MeshTables tables = read_tables(world(), hexes("kept.vtk"), {.degenerate = Degenerate::keep});
  const WholeFile found(world(), tables);
  ASSERT_EQ(found.cells.size(), 6U);
  EXPECT_EQ(found.cells[1], (WholeFile::Cell{CellType::hex, {0, 1, 2, 2, 4, 5, 6, 6}}));
  EXPECT_EQ(found.cells[5], (WholeFile::Cell{CellType::hex, {0, 1, 2, 3, 0, 1, 2, 3}}));
  read(world(), hexes("kept_mesh.vtk"), {.ghost_layers = 1, .degenerate = Degenerate::keep}).validate();
  const mesh::DegenerateCells counted = mesh::count_degenerate(world(), tables);
  EXPECT_EQ(counted.text(), "5 hexes stayed");
}

/// Return the values of this rank's slab as bytes.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST(Degenerate, EntitiesThatAreValuesAndSparseTagsGoAlong) {
  mesh::MeshTables tables = read_tables(world(), hexes("codes.vtk"), {.degenerate = Degenerate::keep});
  const auto cell = [](std::int64_t row) { return mesh::code_of(mesh::Dim::volume, GlobalId{row}); };
  const std::vector<mesh::EntityCode> codes{cell(0),
                                            cell(1),
                                            cell(2),
                                            cell(3),
                                            cell(4),
                                            cell(5),
                                            mesh::EntityCode::none,
                                            mesh::code_of(mesh::Dim::vertex, GlobalId{5})};
  const Slabs& vertices = tables.vertices;
  const auto first = static_cast<std::ptrdiff_t>(vertices.first(world().rank()));
  const std::vector mine(codes.begin() + first,
                         codes.begin() + first + static_cast<std::ptrdiff_t>(vertices.size(world().rank())));
  tables.tags.push_back(
      {.info = {.name = "points_at", .type = mesh::TagType::entity, .mesh_value = bytes_of(std::vector{cell(1)})},
       .columns = {{.block = -1, .items = {.bytes = bytes_of(mine)}}}});
  mesh::TagColumn some{.block = 0, .is_dense = false};  // on cells 1, 2, 5
  std::vector<double> values;
  const Slabs& rows = tables.blocks[0].rows;
  for (const std::int64_t row : {1, 2, 5}) {
    if (rows.rank_of(row) != world().rank()) continue;
    some.rows.push_back(static_cast<std::int32_t>(row - rows.first(world().rank())));
    values.push_back(static_cast<double>(row));
  }
  some.items.bytes = bytes_of(values);
  tables.tags.push_back({.info = {.name = "some", .type = mesh::TagType::float64}, .columns = {some}});

  static_cast<void>(mesh::reduce_degenerate(world(), tables));
  const mesh::TagTable& points_at = tables.tags[tables.tags.size() - 2];
  std::vector<mesh::EntityCode> left(points_at.columns[0].items.bytes.size() / sizeof(mesh::EntityCode));
  if (!left.empty())
    std::memcpy(left.data(), points_at.columns[0].items.bytes.data(), points_at.columns[0].items.bytes.size());
  EXPECT_EQ(test::collect(world(), left),
            (std::vector<mesh::EntityCode>{cell(0), cell(4), cell(3), cell(2), cell(1), mesh::EntityCode::none,
                                           mesh::EntityCode::none, codes[7]}));
  EXPECT_EQ(points_at.info.mesh_value, bytes_of(std::vector{cell(4)}));
  EXPECT_EQ(values_by_block(tables, "some"), (std::map<std::int32_t, std::vector<double>>{{2, {2}}, {3, {1}}}));
}

TEST(Degenerate, FlatCellsLoseACornerOrGo) {
  const std::string path = write_text("flat.vtk",
                                      "# vtk DataFile Version 3.0\nflat\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                                      "POINTS 4 double\n0 0 0 1 0 0 1 1 0 0 1 0\n"
                                      "CELLS 6 27\n4 0 1 2 3\n4 0 0 1 2\n4 0 1 2 0\n4 0 1 0 3\n3 0 1 1\n2 3 3\n"
                                      "CELL_TYPES 6\n9 9 9 9 5 3\n");
  mesh::MeshTables tables = read_tables(world(), path, {.degenerate = Degenerate::keep});
  const mesh::DegenerateCells cells = mesh::reduce_degenerate(world(), tables);
  EXPECT_EQ(cells.text(), "2 quads became triangles, 1 edge was dropped, 1 triangle was dropped, 1 quad was dropped");
  EXPECT_EQ(WholeFile(world(), tables).cells,
            (std::vector<WholeFile::Cell>{
                {CellType::quad, {0, 1, 2, 3}}, {CellType::triangle, {0, 1, 2}}, {CellType::triangle, {0, 1, 2}}}));
  const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1});
  mesh.validate();
}

TEST(Degenerate, ThereMustBeCellsLeft) {
  test::expect_bad("all_flat.vtk",
                   "# vtk DataFile Version 3.0\nflat\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                   "POINTS 3 double\n0 0 0 1 0 0 1 1 0\nCELLS 1 4\n3 0 1 1\nCELL_TYPES 1\n5\n",
                   "has only cells that have collapsed below their dimension");
}

TEST(Degenerate, WedgesAndPyramidsCollapseTheRightWayRound) {
  const auto collapse = [](CellType type, std::vector<std::int8_t> first_alike) {
    return mesh::detail::collapse_of(type, first_alike);
  };
  const auto corners = [](const Collapse& one, std::ptrdiff_t n) {
    return std::vector<int>(one.nodes.begin(), one.nodes.begin() + n);
  };
  const Collapse tet = collapse(CellType::prism, {0, 1, 2, 3, 3, 3});
  EXPECT_EQ(tet.type, CellType::tet);
  EXPECT_EQ(corners(tet, 4), (std::vector{0, 1, 2, 3}));
  const Collapse pyramid = collapse(CellType::prism, {0, 1, 2, 3, 4, 2});  // one of its upright edges
  EXPECT_EQ(pyramid.type, CellType::pyramid);
  EXPECT_EQ(corners(pyramid, 5), (std::vector{0, 3, 4, 1, 2}));  // seen from 2, the base is counterclockwise
  EXPECT_EQ(collapse(CellType::pyramid, {0, 1, 2, 2, 4}).type, CellType::tet);
  const Collapse folded = collapse(CellType::pyramid, {0, 1, 2, 3, 0});  // its base, and two triangles from 0 to 2
  EXPECT_EQ(folded.type, CellType::tet);
  EXPECT_EQ(corners(folded, 4), (std::vector{1, 2, 3, 0}));
  EXPECT_EQ(collapse(CellType::pyramid, {0, 1, 0, 3, 4}).outcome, Outcome::flat);
  EXPECT_EQ(collapse(CellType::hex, {0, 1, 2, 3, 4, 5, 6, 5}).type, CellType::knife);
  EXPECT_EQ(collapse(CellType::hex, {0, 1, 2, 3, 4, 5, 6, 6}).outcome, Outcome::other);
  EXPECT_EQ(collapse(CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}).outcome, Outcome::sound);
  EXPECT_EQ(collapse(CellType::tet, {0, 1, 2, 2}).outcome, Outcome::flat);
}

/// Write cells of one VTK type. @param points  x, y, z of each
std::string cells_of(const std::string& name, int vtk_type, const std::vector<std::array<double, 3>>& points,
                     const std::vector<std::vector<int>>& cells) {
  std::string text = "# vtk DataFile Version 3.0\ncells\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  text += fmt::format("POINTS {} double\n", points.size());
  for (const auto& x : points) text += fmt::format("{} {} {}\n", x[0], x[1], x[2]);
  std::size_t n_words = 0;
  for (const auto& cell : cells) n_words += cell.size() + 1;
  text += fmt::format("CELLS {} {}\n", cells.size(), n_words);
  for (const auto& cell : cells) text += fmt::format("{} {}\n", cell.size(), fmt::join(cell, " "));
  text += fmt::format("CELL_TYPES {}\n", cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) text += fmt::format("{}\n", vtk_type);
  return write_text(name, text);
}

// As its manual lists them: a tet ends with its last corner five times, a pyramid four times, a wedge twice two.
TEST(Degenerate, SolidsOfLsDynaAreTheCellsThatTheyAre) {
  const std::vector<std::array<double, 3>> points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0},     {0, 1, 0},
                                                  {0, 0, 1}, {0, 1, 2}, {0.5, 0.2, 3}, {0.5, 0.9, 3}};
  const std::string path = cells_of(
      "ls_dyna.vtk", 12, points,
      {{0, 1, 2, 4, 4, 4, 4, 4}, {0, 1, 2, 3, 4, 4, 4, 4}, {0, 1, 2, 3, 6, 6, 7, 7}, {3, 0, 2, 5, 5, 5, 5, 5}});
  const mesh::MeshTables tables = read_tables(world(), path);
  EXPECT_EQ(WholeFile(world(), tables).cells, (std::vector<WholeFile::Cell>{{CellType::tet, {0, 1, 2, 4}},
                                                                            {CellType::tet, {3, 0, 2, 5}},
                                                                            {CellType::pyramid, {0, 1, 2, 3, 4}},
                                                                            {CellType::prism, {0, 6, 1, 3, 7, 2}}}));
  read(world(), path, {.ghost_layers = 1}).validate();
}

/// Add the nodes in the middles of edges, one for each pair of ends: on an edge that has collapsed its end.
std::vector<int> with_middles(std::vector<int> cell, std::span<const std::array<int, 2>> edges,
                              std::vector<std::array<double, 3>>& points, std::map<std::pair<int, int>, int>& middles) {
  for (const auto& [from, to] : edges) {
    const auto [low, high] = std::minmax(cell[from], cell[to]);
    const auto [at, is_new] = middles.try_emplace({low, high}, static_cast<int>(points.size()));
    if (low == high) at->second = low;
    if (is_new && low != high) {
      const auto a = points[low];
      const auto b = points[high];
      points.push_back({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2});
    }
    cell.push_back(at->second);
  }
  return cell;
}

TEST(Degenerate, CellsOfSecondOrderKeepTheMiddlesOfTheirEdges) {
  struct Sample {
    int vtk_type;
    std::vector<std::array<int, 2>> edges;  // in VTK's order
    std::vector<std::vector<int>> cells;
    std::vector<CellType> types;
  };
  const std::vector<Sample> samples{
      {25,
       {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
       {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 2, 4, 5, 6, 6}, {0, 1, 2, 3, 4, 4, 4, 4}, {0, 1, 2, 2, 4, 4, 4, 4}},
       {CellType::hex, CellType::tet, CellType::pyramid, CellType::prism}},
      {26,
       {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
       {{0, 1, 2, 4, 4, 4}, {0, 1, 3, 4, 5, 3}},
       {CellType::tet, CellType::pyramid}},
      {23,
       {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
       {{0, 1, 2, 2}, {0, 0, 1, 2}, {0, 1, 2, 3}, {0, 1, 0, 1}},
       {CellType::triangle, CellType::triangle, CellType::quad}}};
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.vtk_type);
    std::vector<std::array<double, 3>> points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                              {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    std::map<std::pair<int, int>, int> middles;
    std::vector<std::vector<int>> cells;
    for (const auto& cell : sample.cells) cells.push_back(with_middles(cell, sample.edges, points, middles));
    const std::string path = cells_of(fmt::format("second{}.vtk", sample.vtk_type), sample.vtk_type, points, cells);
    const WholeFile found(world(), read_tables(world(), path));
    std::vector<CellType> types;
    for (const auto& [type, nodes] : found.cells) {
      types.push_back(type);
      const mesh::CellTopology& topology = mesh::topology(type);
      ASSERT_EQ(nodes.size(), topology.n_corners + topology.edges.size() / 2);
      for (std::size_t e = 0; e < topology.edges.size(); e += 2)
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_EQ(points[nodes[topology.n_corners + e / 2]][i],
                    (points[nodes[topology.edges[e]]][i] + points[nodes[topology.edges[e + 1]]][i]) / 2);
    }
    std::ranges::sort(types);
    std::vector<CellType> expected = sample.types;
    std::ranges::sort(expected);
    EXPECT_EQ(types, expected);
    read(world(), path, {.ghost_layers = 1}).validate();
  }
}

TEST(DegenerateInterop, PolesOfALongitudeLatitudeMesh) {
  const auto path = test::interop("foreign/outRLLMesh.g");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no foreign/outRLLMesh.g";
  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), 0x6fbe63bc51d176cdU) << fmt::format("{:#x}", mesh.checksum());
  EXPECT_EQ(mesh.n_global(mesh::Dim::face), 1200);
  const mesh::Mesh kept = read(world(), path->string(), {.ghost_layers = 1, .degenerate = Degenerate::keep});
  kept.validate();
  EXPECT_EQ(mesh::Sides(kept, mesh::Dim::edge).of_cell(0).size(), 4U);
  EXPECT_EQ(kept.checksum(), 0x77d5652afc55d8b4U) << fmt::format("{:#x}", kept.checksum());
}

}  // namespace
}  // namespace barrio::io
