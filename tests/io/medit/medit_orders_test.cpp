// Medit files with cells of second order, and files that state the order of nodes. The nodes of a cell are told apart
// by the corners of which they are the centre; their Bezier indices are counted here from those of the corners.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "tests/io/medit/medit_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::expect_bad;
using test::medit_file;
using test::MeditRows;
using test::WholeFile;
using test::world;

using Corners = std::vector<int>;

/// A kind of cell: its keywords, the Bezier indices of its corners, and of which corners its nodes are the centre, in
/// barrio's order and in that of a file without a stated order.
struct Kind {
  CellType type;
  std::string keyword;
  int code;
  int order_code;
  std::vector<std::vector<int>> corners;
  std::vector<Corners> nodes;
  std::vector<Corners> in_file;
};

std::vector<Kind> kinds() {
  const Corners all{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Corners> hex{{0, 1},       {1, 2},       {2, 3},       {3, 0},       {0, 4},
                                 {1, 5},       {2, 6},       {3, 7},       {4, 5},       {5, 6},
                                 {6, 7},       {7, 4},       {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6},
                                 {3, 0, 4, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}, all};
  const std::vector<Corners> hex_in_file{{0, 1},       {1, 2},       {2, 3},       {3, 0},       {4, 5},
                                         {5, 6},       {6, 7},       {7, 4},       {0, 4},       {1, 5},
                                         {2, 6},       {3, 7},       {0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                         {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, all};
  const std::vector<Corners> prism{{0, 1}, {1, 2}, {2, 0}, {0, 3},       {1, 4},       {2, 5},
                                   {3, 4}, {4, 5}, {5, 3}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};
  const std::vector<Corners> prism_in_file{{0, 1}, {1, 2}, {2, 0}, {3, 4},       {4, 5},       {5, 3},
                                           {0, 3}, {1, 4}, {2, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};
  const std::vector<Corners> pyramid{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 1, 2, 3}};
  const std::vector<Corners> tet{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  const std::vector<Corners> quad{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}};
  const std::vector<Corners> triangle{{0, 1}, {1, 2}, {2, 0}};
  return {{CellType::edge, "EdgesP2", 25, 127, {{0}, {1}}, {{0, 1}}, {{0, 1}}},
          {CellType::triangle, "TrianglesP2", 24, 129, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, triangle, triangle},
          {CellType::quad, "QuadrilateralsQ2", 27, 131, {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, quad, quad},
          {CellType::tet, "TetrahedraP2", 30, 133, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, tet, tet},
          {CellType::pyramid,
           "PyramidsP2",
           87,
           135,
           {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}},
           pyramid,
           pyramid},
          {CellType::prism,
           "PrismsP2",
           86,
           137,
           {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}},
           prism,
           prism_in_file},
          {CellType::hex,
           "HexahedraQ2",
           33,
           139,
           {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
           hex,
           hex_in_file}};
}

/// Put the corners, each its own centre, before other nodes.
std::vector<Corners> with_corners(const Kind& kind, const std::vector<Corners>& others) {
  std::vector<Corners> nodes;
  for (int c = 0; c < static_cast<int>(kind.corners.size()); ++c) nodes.push_back({c});
  nodes.insert(nodes.end(), others.begin(), others.end());
  return nodes;
}

/// Return the Bezier indices of a node.
std::vector<double> bezier(const Kind& kind, const Corners& node) {
  std::vector<double> sum(kind.corners[0].size(), 0.0);
  for (const int c : node)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += 2.0 * kind.corners[c][k] / static_cast<double>(node.size());
  return sum;
}

struct OrderedFile {
  std::vector<MeditRows> contents;
  std::vector<WholeFile::Cell> expected;
};

/// Make one cell of each kind, with vertices of its own. @param random  of the order of nodes, which the file then
/// states; null: the default order, which it does not state
OrderedFile one_of_each(std::mt19937_64* random) {
  OrderedFile file;
  MeditRows vertices{"Vertices", 4, 3, {}};
  std::vector<MeditRows> cells;
  for (const Kind& kind : kinds()) {
    const auto first = static_cast<int>(vertices.rows.size());
    std::vector<Corners> in_file = with_corners(kind, kind.in_file);
    if (random != nullptr) std::ranges::shuffle(in_file, *random);
    const std::vector<Corners> ours = with_corners(kind, kind.nodes);
    MeditRows order{kind.keyword + "Ordering", kind.order_code, 0, {}};
    MeditRows rows{kind.keyword, kind.code, 0, {{}}};
    const auto is_same = [](Corners a, Corners b) {
      std::ranges::sort(a);
      std::ranges::sort(b);
      return a == b;
    };
    for (const Corners& node : in_file) {
      const auto at = std::ranges::find_if(ours, [&](const Corners& one) { return is_same(one, node); }) - ours.begin();
      rows.rows[0].push_back(static_cast<double>(first + 1 + at));
      order.rows.push_back(bezier(kind, node));
    }
    rows.rows[0].push_back(3);
    WholeFile::Cell expected{kind.type, {}};
    for (std::size_t i = 0; i < ours.size(); ++i) {
      expected.second.push_back(first + static_cast<int>(i));
      vertices.rows.push_back(
          {static_cast<double>(i), static_cast<double>(first), 1.0 + static_cast<double>(i % 3), 0});
    }
    file.expected.push_back(expected);
    if (random != nullptr && (*random)() % 2 == 0) std::swap(rows, order);  // it may follow the cells
    if (random != nullptr) cells.push_back(order);
    cells.push_back(rows);
    if (random == nullptr) continue;
  }
  file.contents = {vertices};
  file.contents.insert(file.contents.end(), cells.begin(), cells.end());
  return file;
}

std::string write_ordered(const std::string& name, const OrderedFile& file, const test::MeditForm& form) {
  return test::write_text(name, medit_file(file.contents, form));
}

TEST(MeditOrders, AnyOrderThatAFileStatesGivesTheSameMesh) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 12; ++round) {
    const OrderedFile file = one_of_each(&random);
    const test::MeditForm form{.is_binary = round % 2 == 1, .version = 1 + round % 4, .is_swapped = round % 4 == 3};
    const std::string path = write_ordered(form.is_binary ? "order.meshb" : "order.mesh", file, form);
    const WholeFile found(world(), read_tables(world(), path));
    EXPECT_EQ(found.cells, file.expected) << "round " << round;
    if (world().rank() != 0) continue;
    const Json shown = inspect(path);
    EXPECT_FALSE(shown.contains("unsupported")) << shown.dump();
    EXPECT_EQ(shown["nodes_per_cell"]["hexes"], (Json{{"27", 1}})) << shown.dump();
  }
}

TEST(MeditOrders, WithoutOneTheDefaultIsTaken) {
  const OrderedFile file = one_of_each(nullptr);
  for (const bool is_binary : {false, true}) {
    const std::string path = write_ordered(is_binary ? "none.meshb" : "none.mesh", file, {.is_binary = is_binary});
    const WholeFile found(world(), read_tables(world(), path));
    EXPECT_EQ(found.cells, file.expected);
    using Set = std::tuple<SetKind, std::int32_t, std::string>;
    EXPECT_EQ(found.sets,
              (std::vector<Set>{{SetKind::neumann, 3, ""}, {SetKind::neumann, 3, ""}, {SetKind::material, 3, ""}}));
    if (world().rank() == 0) {
      EXPECT_EQ(inspect(path)["unsupported"],
                (Json{"no order of the nodes of PyramidsP2", "no order of the nodes of PrismsP2",
                      "no order of the nodes of HexahedraQ2"}));
    }
  }
}

TEST(MeditOrders, BothOrdersOfCellsAndTheirListsAreKept) {
  const std::string text =
      "MeshVersionFormatted 2 Dimension 2 Vertices 8\n0 0 0 1 0 0 0 1 0 .5 0 0 .5 .5 0 0 .5 0 1 1 0 2 2 0\n"
      "TrianglesP2 1\n1 2 3 4 5 6 7\nRequiredTriangles 1\n1\n";
  const std::string alone = test::write_text("alone.mesh", text + "End\n");
  WholeFile found(world(), read_tables(world(), alone));
  EXPECT_EQ(found.cells, (std::vector<WholeFile::Cell>{{CellType::triangle, {0, 1, 2, 3, 4, 5}}}));
  EXPECT_EQ(found.members[1], (std::set<std::pair<int, std::int64_t>>{{2, 0}}));
  const std::string both = test::write_text("both.mesh", text + "Triangles 2\n2 7 3 9\n7 8 3 9\nEnd\n");
  found = WholeFile(world(), read_tables(world(), both));
  EXPECT_EQ(found.cells, (std::vector<WholeFile::Cell>{{CellType::triangle, {1, 6, 2}},
                                                       {CellType::triangle, {6, 7, 2}},
                                                       {CellType::triangle, {0, 1, 2, 3, 4, 5}}}));
  EXPECT_EQ(found.members[2], (std::set<std::pair<int, std::int64_t>>{{2, 0}})) << "lists count cells of first order";
}

TEST(MeditOrders, GmshsWideRowsAreRead) {
  // Gmsh writes quads and hexes of second order under the keywords of first order, in its own order of nodes.
  std::string text = "MeshVersionFormatted 2\nDimension 3\nVertices 27\n";
  for (int v = 0; v < 27; ++v) text += fmt::format("{} {} {} 0\n", v % 3, v / 3 % 3, v / 9);
  const auto rows = [](int n, int reference) {
    std::string row;
    for (int v = 1; v <= n; ++v) row += fmt::format("{} ", v);
    return row + fmt::format("{}\n", reference);
  };
  text += "Quadrilaterals\n2\n" + rows(9, 4) + rows(9, 5) + "Hexahedra\n1\n" + rows(27, 6) + "End\n";
  const WholeFile found(world(), read_tables(world(), test::write_text("wide.mesh", text)));
  const std::vector<std::int64_t> quad{0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(found.cells,
            (std::vector<WholeFile::Cell>{
                {CellType::quad, quad},
                {CellType::quad, quad},
                // Edges of barrio's hex in Gmsh's list 01 03 04 12 15 23 26 37 45 47 56 67; faces likewise.
                {CellType::hex,
                 {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 10, 12, 14, 15, 16, 18, 19, 17, 21, 23, 24, 22, 20, 25, 26}}}));
  expect_bad("ragged.mesh", test::with(text, "8 9 4", "8 9 4 4"), "where a keyword was expected");
}

TEST(MeditOrders, FaultyOrdersAreNamed) {
  const std::string text =
      "MeshVersionFormatted 2\nDimension 2\nVertices 6\n0 0 0 1 0 0 0 1 0 .5 0 0 .5 .5 0 0 .5 0\n"
      "TrianglesP2 1\n1 2 3 4 5 6 7\nTrianglesP2Ordering 6\n2 0 0 0 2 0 0 0 2 1 1 0 0 1 1 1 0 1\nEnd\n";
  EXPECT_EQ(test::verdict(test::write_text("right.mesh", text)), "sound");
  expect_bad("twice.mesh", test::with(text, "1 0 1\n", "0 1 1\n"), "that do not name each of the 6 nodes once");
  expect_bad("beyond.mesh", test::with(text, "1 0 1\n", "1 0 3\n"), "that do not name each of the 6 nodes once");
  expect_bad("count.mesh", test::with(text, "Ordering 6", "Ordering 5"), "has 5 rows of TrianglesP2Ordering");
  expect_bad("again.mesh", test::with(text, "End", "TrianglesP2Ordering 6 2 0 0"), "has TrianglesP2Ordering twice");
  expect_bad("cells.mesh", test::with(text, "End", "TrianglesP2 1\n1 2 3 4 5 6 7"), "has TrianglesP2 twice");
}

TEST(Medit, FilesOfVersionZeroAreRead) {
  for (const bool is_binary : {false, true}) {
    const std::string path =
        test::write_text("zero.mesh", medit_file(test::flat_medit_sample(), {.is_binary = is_binary, .version = 0}, 2));
    const std::string one =
        test::write_text("one.mesh", medit_file(test::flat_medit_sample(), {.is_binary = is_binary, .version = 1}, 2));
    EXPECT_EQ(WholeFile(world(), read_tables(world(), path)), WholeFile(world(), read_tables(world(), one)));
  }
}

TEST(Medit, AFileWithoutEndIsReadIfItsLastLineIsWhole) {
  const std::string text = medit_file(test::flat_medit_sample(), {}, 2);
  const std::string whole = test::write_text("whole.mesh", text);
  const std::string path = test::write_text("no_end.mesh", text.substr(0, text.rfind("\nEnd")));
  EXPECT_EQ(WholeFile(world(), read_tables(world(), path)), WholeFile(world(), read_tables(world(), whole)));
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["format"], "Medit 2, text, without End");
    EXPECT_EQ(inspect(whole)["format"], "Medit 2, text");
  }
  expect_bad("cut.mesh", text.substr(0, text.rfind("\n\nEnd")), "ends early");
}

}  // namespace
}  // namespace barrio::io
