// Meshes of SU2: cells, markers, comments, shares that begin anywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::expect_bad;
using test::WholeFile;
using test::with;
using test::world;
using test::write_text;
using Set = std::tuple<SetKind, std::int32_t, std::string>;
using RowSet = std::set<std::pair<int, std::int64_t>>;

const std::string flat =
    "% two triangles and a quad\n\nNDIME= 2\n% NELEM= 7\nNELEM=3\n5 0 1 3 0\n5\t1 4 3 1\n% inside\n\n9 1 2 5 4 2\n"
    "NPOIN= 6 6\n0 0 0\n1 0 1\n2.5e0 0 2\n0 1 3\n1 1 4\n2 1 5\n"
    "NMARK= 3\nMARKER_TAG= lower wall\nMARKER_ELEMS= 2\n3 0 1\n3 1 2\nMARKER_TAG=empty\nMARKER_ELEMS= 0\n"
    "MARKER_TAG= out\r\nMARKER_ELEMS= 1 % one\r\n3 2 5\r\nNPERIODIC= 1\nPERIODIC_INDEX= 0\n0.0 0.0 0.0\n";

TEST(Su2, CellsAndMarkersOfAPlane) {
  const std::string path = write_text("flat.su2", flat);
  const mesh::MeshTables tables = read_tables(world(), path);
  const WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 2.5, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0}));
  EXPECT_EQ(found.cells, (std::vector<WholeFile::Cell>{{CellType::edge, {0, 1}},
                                                       {CellType::edge, {1, 2}},
                                                       {CellType::edge, {2, 5}},
                                                       {CellType::triangle, {0, 1, 3}},
                                                       {CellType::triangle, {1, 4, 3}},
                                                       {CellType::quad, {1, 2, 5, 4}}}));
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::neumann, 1, "lower wall"}, {SetKind::neumann, 3, "out"}}));
  EXPECT_EQ(found.members, (std::vector<RowSet>{{{1, 0}, {1, 1}}, {{1, 2}}}));
  EXPECT_TRUE(tables.tags.empty());
  read(world(), path, {.ghost_layers = 1}).validate();
  if (world().rank() != 0) return;
  const Json shown = inspect(path);
  EXPECT_EQ(shown["format"], "SU2");
  EXPECT_EQ(shown["entities"], (Json{{"edges", 3}, {"triangles", 2}, {"quads", 1}}));
  EXPECT_EQ(shown["sets"]["neumann"], 2);
  EXPECT_EQ(shown["named_sets"][0]["name"], "lower wall");
  EXPECT_EQ(shown["unsupported"], (Json{"NPERIODIC", "PERIODIC_INDEX"}));
}

TEST(Su2, CopiesOfPointsAtPeriodicBoundariesAreNamedAndPassedOver) {
  const std::string copies =
      "MARKER_TAG= SEND_RECEIVE\nMARKER_ELEMS= 2\nSEND_TO= 1\n1\t2 1\n1 5 1\n"
      "MARKER_TAG= SEND_RECEIVE\nMARKER_ELEMS= 1\nSEND_TO= -1\n1 0 1\n";
  const std::string path = write_text("copies.su2", with(flat, "MARKER_TAG=empty", copies + "MARKER_TAG=empty"));
  const WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::neumann, 1, "lower wall"}, {SetKind::neumann, 3, "out"}}));
  EXPECT_EQ(found.cells, WholeFile(world(), read_tables(world(), write_text("flat.su2", flat))).cells);
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["unsupported"], (Json{"SEND_RECEIVE", "NPERIODIC", "PERIODIC_INDEX"}));
  }
}

TEST(Su2, EveryTypeOfCellInSpace) {
  const std::string path = write_text(
      "space.su2",
      "NZONE= 1\nIZONE= 1\nNDIME= 3\nNPOIN= 9\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n.5 .5 2\n"
      "NELEM= 4\n12 0 1 2 3 4 5 6 7\n14 4 5 6 7 8\n10 0 1 3 4\n13 0 1 3 4 5 7\n"
      "NMARK= 2\nMARKER_TAG= base\nMARKER_ELEMS= 1\n9 0 3 2 1\nMARKER_TAG= roof\nMARKER_ELEMS= 2\n5 4 5 8\n5 5 6 8\n");
  const WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.cells, (std::vector<WholeFile::Cell>{{CellType::triangle, {4, 5, 8}},
                                                       {CellType::triangle, {5, 6, 8}},
                                                       {CellType::quad, {0, 3, 2, 1}},
                                                       {CellType::tet, {0, 1, 3, 4}},
                                                       {CellType::pyramid, {4, 5, 6, 7, 8}},
                                                       {CellType::prism, {0, 1, 3, 4, 5, 7}},
                                                       {CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}}}));
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::neumann, 1, "base"}, {SetKind::neumann, 2, "roof"}}));
  EXPECT_EQ(found.members, (std::vector<RowSet>{{{2, 2}}, {{2, 0}, {2, 1}}}));
}

// More lines than between two marks, comments among them.
TEST(Su2, SharesBeginAnywhere) {
  constexpr int n = 47;
  std::string text = "NDIME= 2\n";
  std::vector<double> coordinates;
  std::vector<WholeFile::Cell> edges;
  std::vector<WholeFile::Cell> quads;
  text += fmt::format("NELEM= {}\n", n * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int low = j * (n + 1) + i;
      text += fmt::format("9 {} {} {} {}\n", low, low + 1, low + n + 2, low + n + 1);
      if (i % 7 == 3) text += "% a comment\n";
      quads.push_back({CellType::quad, {low, low + 1, low + n + 2, low + n + 1}});
    }
  }
  text += fmt::format("NPOIN= {}\n", (n + 1) * (n + 1));
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      text += fmt::format("{} {} {}\n", i, j, j * (n + 1) + i);
      coordinates.insert(coordinates.end(), {1.0 * i, 1.0 * j, 0.0});
    }
  }
  text += "NMARK= 1\nMARKER_TAG= south\n";
  text += fmt::format("MARKER_ELEMS= {}\n", n);
  for (int i = 0; i < n; ++i) {
    text += fmt::format("3 {} {}\n", i, i + 1);
    edges.push_back({CellType::edge, {i, i + 1}});
  }
  const WholeFile found(world(), read_tables(world(), write_text("grid.su2", text)));
  EXPECT_EQ(found.coordinates, coordinates);
  std::vector<WholeFile::Cell> all = edges;
  all.insert(all.end(), quads.begin(), quads.end());
  EXPECT_EQ(found.cells, all);
  ASSERT_EQ(found.members.size(), 1U);
  EXPECT_EQ(found.members[0].size(), static_cast<std::size_t>(n));
}

TEST(Su2, BadFilesAreRefused) {
  expect_bad("zones.su2", with(flat, "NDIME", "NZONE= 2\nNDIME"), "has 2 zones; barrio reads files with one");
  expect_bad("dims.su2", with(flat, "NDIME= 2", "NDIME= 4"), "has 4 dimensions, but must have 2 or 3");
  expect_bad("short.su2", with(flat, "MARKER_ELEMS= 1 %", "MARKER_ELEMS= 9 %"), "ends early");
  expect_bad("ends.su2", with(flat, "NPOIN= 6 6", "NPOIN= 60"), "ends early");
  expect_bad("none.su2", "NDIME= 2\nNPOIN= 1\n0 0\n", "ends without NELEM=");
  expect_bad("points.su2", "NDIME= 2\nNELEM= 1\n5 0 1 2\n", "ends without NPOIN=");
  expect_bad("type.su2", with(flat, "\n5 0 1 3 0", "\n41 0 1 3 0"), "has elements of type 41, which are not supported");
  expect_bad("node.su2", with(flat, "\n5 0 1 3 0", "\n5 0 1 33 0"), "33");
  expect_bad("word.su2", with(flat, "NMARK= 3", "what is this"), "has the line 'what is this' where a keyword");
  expect_bad("tag.su2", with(flat, "MARKER_TAG=empty\n", ""), "has MARKER_ELEMS= without MARKER_TAG= before it");
  expect_bad("number.su2", with(flat, "NELEM=3", "NELEM= many"), "has 'many' where the number of NELEM was expected");
}

}  // namespace
}  // namespace barrio::io
