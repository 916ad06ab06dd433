// Gmsh 2.2, text and binary: the same elements in both, with shares that begin anywhere.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/h5m/other_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::expect_bad;
using test::with;
using test::world;
using test::write_text;

struct Element {
  int type;
  std::vector<int> tags;
  std::vector<int> nodes;
};

// Types alternate, groups may be absent or reversed, the second tet has a ghost in part 3.
const std::vector<Element> elements{{15, {7, 1}, {10}},
                                    {2, {5, 1, 1, 2}, {10, 20, 30}},
                                    {4, {8, 1, 1, 2}, {10, 20, 30, 40}},
                                    {2, {-5, 1, 1, 1}, {20, 30, 40}},
                                    {4, {9, 1, 2, 1, -3}, {20, 30, 40, 50}},
                                    {1, {0, 1}, {10, 20}},
                                    {4, {9, 1, 1, 3}, {30, 40, 50, 60}},
                                    {5, {8, 1, 1, 1}, {10, 20, 30, 40, 50, 60, 70, 80}},
                                    {3, {6, 1, 1, 1}, {50, 60, 70, 80}}};

/// Make a file with nodes in descending order and gaps in their numbers.
/// @param has_parameters  nodes are on entities of dimension 0, 1, 2, 3 in turn, with their parameters
std::string old_gmsh(bool is_binary, bool has_parameters = false) {
  std::string text = fmt::format("$MeshFormat\n2.2 {} 8\n", is_binary ? 1 : 0);
  const auto put = [&](auto item) { text.append(reinterpret_cast<const char*>(&item), sizeof item); };
  if (is_binary) {
    put(1);
    text += "\n";
  }
  const char* const nodes = has_parameters ? "ParametricNodes" : "Nodes";
  text += "$EndMeshFormat\n$PhysicalNames\n2\n2 5 \"wall\"\n3 9 \"in side\"\n$EndPhysicalNames\n";
  text += fmt::format("${}\n8\n", nodes);
  for (int n = 80; n > 0; n -= 10) {
    const int dim = n / 10 % 4;
    const std::vector<double> parameters(dim == 3 ? 0 : dim, 0.25);
    if (is_binary) {
      put(n);
      for (const double x : {n / 10.0, 0.5, -1.0}) put(x);
      if (!has_parameters) continue;
      for (const int word : {dim, 7}) put(word);
      for (const double u : parameters) put(u);
    } else {
      text += fmt::format("{} {} 0.5 -1", n, n / 10.0);
      text += has_parameters ? fmt::format(" {} 7 {}\n", dim, fmt::join(parameters, " ")) : "\n";
    }
  }
  text += fmt::format("{}$End{}\n$Elements\n{}\n", is_binary ? "\n" : "", nodes, elements.size());
  int number = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& e = elements[i];
    if (!is_binary) {
      text += fmt::format("{} {} {} {} {}\n", ++number, e.type, e.tags.size(), fmt::join(e.tags, " "),
                          fmt::join(e.nodes, " "));
      continue;
    }
    put(e.type);
    put(1);
    put(static_cast<int>(e.tags.size()));
    put(++number);
    for (const int word : e.tags) put(word);
    for (const int word : e.nodes) put(word);
  }
  return text + (is_binary ? "\n" : "") + "$EndElements\n";
}

TEST(OldGmsh, TextAndBinaryHaveCellsGroupsAndParts) {
  for (const bool is_binary : {false, true}) {
    SCOPED_TRACE(is_binary);
    const std::string path = write_text(is_binary ? "old_binary.msh" : "old.msh", old_gmsh(is_binary));
    const mesh::MeshTables tables = read_tables(world(), path);
    const test::WholeFile found(world(), tables);
    std::vector<double> x;
    for (int n = 1; n <= 8; ++n) x.insert(x.end(), {1.0 * n, 0.5, -1.0});
    EXPECT_EQ(found.coordinates, x);
    using Cell = test::WholeFile::Cell;
    EXPECT_EQ(found.cells, (std::vector<Cell>{{CellType::edge, {0, 1}},
                                              {CellType::triangle, {0, 1, 2}},
                                              {CellType::triangle, {1, 2, 3}},
                                              {CellType::quad, {4, 5, 6, 7}},
                                              {CellType::tet, {0, 1, 2, 3}},
                                              {CellType::tet, {1, 2, 3, 4}},
                                              {CellType::tet, {2, 3, 4, 5}},
                                              {CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}}}));
    EXPECT_EQ(tables.n_parts, 3);
    EXPECT_EQ(found.parts, (std::vector<std::int32_t>{1, 0, 2, 0}));
    using Set = std::tuple<SetKind, std::int32_t, std::string>;
    EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::dirichlet, 7, ""},
                                            {SetKind::neumann, 5, "wall"},
                                            {SetKind::neumann, 6, ""},
                                            {SetKind::material, 8, ""},
                                            {SetKind::material, 9, "in side"}}));
    using RowSet = std::set<std::pair<int, std::int64_t>>;
    EXPECT_EQ(found.members,
              (std::vector<RowSet>{{{0, 0}}, {{2, 0}, {2, 1}}, {{2, 2}}, {{3, 0}, {3, 3}}, {{3, 1}, {3, 2}}}));
    EXPECT_TRUE(tables.tags.empty());
    if (world().rank() != 0) continue;
    const Json shown = inspect(path);
    EXPECT_EQ(shown["format"], is_binary ? "Gmsh 2.2, binary" : "Gmsh 2.2, text");
    EXPECT_EQ(shown["entities"]["tets"], 3);
    EXPECT_EQ(shown["sets"], (Json{{"total", 5}, {"parts", 3}, {"material", 2}, {"dirichlet", 1}, {"neumann", 2}}));
  }
}

TEST(OldGmsh, LinesMayBeBlankAndBinarySectionsEndWithoutOne) {
  const test::WholeFile plain(world(), read_tables(world(), write_text("plain.msh", old_gmsh(false))));
  std::string blank = old_gmsh(false);
  for (std::size_t at = blank.find("$Nodes"); (at = blank.find("\n", at)) != std::string::npos; at += 3)
    blank.insert(at, "\n\n");
  EXPECT_EQ(test::WholeFile(world(), read_tables(world(), write_text("blank.msh", blank))), plain);
  std::string dense = old_gmsh(true);
  for (const char* end : {"$EndMeshFormat", "$EndNodes", "$EndElements"})
    dense = with(dense, std::string("\n") + end, end);
  EXPECT_EQ(test::WholeFile(world(), read_tables(world(), write_text("dense.msh", dense))), plain);
  const std::string values = "$ElementData\n1\n\"heat\"\n0\n3\n0\n1\n1\n" + std::string("\x02\x00\x00\x00", 4) +
                             std::string(8, '\x01') + "$EndElementData\n";
  EXPECT_EQ(test::WholeFile(world(), read_tables(world(), write_text("values.msh", dense + values))), plain);
}

TEST(OldGmsh, NodesMayHaveParameters) {
  const test::WholeFile plain(world(), read_tables(world(), write_text("plain.msh", old_gmsh(false))));
  for (const bool is_binary : {false, true}) {
    const std::string text = old_gmsh(is_binary, true);
    const std::string name = fmt::format("parametric{}.msh", is_binary ? 1 : 0);
    EXPECT_EQ(test::WholeFile(world(), read_tables(world(), write_text(name, text))), plain);
  }
  const std::string binary = old_gmsh(true, true);
  for (std::size_t n = binary.find("$Parametric") + 3; n + 16 < binary.size(); n += 41)
    expect_bad("cut.msh", binary.substr(0, n), "cut.msh: ");
}

TEST(OldGmsh, TheFirstFormatIsReadToo) {
  const std::string text =
      "$NOD\n4\n1 0 0 0\n2 1 0 0\n7 0 1 0\n4 0 0 1\n$ENDNOD\n"
      "$ELM\n4\n1 15 3 3 1 1\n2 2 5 1 3 1 2 7\n3 2 6 1 3 1 2 4\n4 4 9 1 4 1 2 7 4\n$ENDELM\n";
  const std::string path = write_text("first.msh", text);
  const test::WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0}));
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(found.cells,
            (std::vector<Cell>{
                {CellType::triangle, {0, 1, 3}}, {CellType::triangle, {0, 1, 2}}, {CellType::tet, {0, 1, 3, 2}}}));
  using Set = std::tuple<SetKind, std::int32_t, std::string>;
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::dirichlet, 3, ""},
                                          {SetKind::neumann, 5, ""},
                                          {SetKind::neumann, 6, ""},
                                          {SetKind::material, 9, ""}}));
  test::expect_bad("first_nodes.msh", test::with(text, "4 4 9 1 4 1", "4 4 9 1 3 1"),
                   "has an element of type 4 with 3 nodes");
  test::expect_bad("first_end.msh", test::with(text, "$ENDELM\n", ""), "ends early");
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["format"], "Gmsh 1.0, text");
  }
}

// Gmsh writes one header for many elements: shares begin in the middle of them.
TEST(OldGmsh, OneHeadingCountsForManyElements) {
  std::string text = old_gmsh(true);
  text.resize(text.find("$Elements"));
  text += "$Elements\n11\n";
  const auto put = [&](int word) { text.append(reinterpret_cast<const char*>(&word), sizeof word); };
  for (const int word : {2, 4, 1}) put(word);
  for (int i = 0; i < 4; ++i)
    for (const int word : {i, 5, 10 * (i + 1), 10 * (i + 2), 10 * (i + 3)}) put(word);
  for (const int word : {4, 7, 2}) put(word);
  for (int i = 0; i < 7; ++i)
    for (const int word : {i, i < 3 ? 1 : 2, 1, 10, 20, 30, 40 + 10 * (i % 5)}) put(word);
  const mesh::MeshTables tables = read_tables(world(), write_text("runs.msh", text + "\n$EndElements\n"));
  const test::WholeFile found(world(), tables);
  ASSERT_EQ(found.cells.size(), 11U);
  EXPECT_EQ(found.cells[3].second, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(found.cells[4].second, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(found.cells[8].second, (std::vector<std::int64_t>{0, 1, 2, 7}));
  EXPECT_EQ(found.cells[10].second, (std::vector<std::int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(found.members[1], (std::set<std::pair<int, std::int64_t>>{{3, 0}, {3, 1}, {3, 2}}));
}

TEST(OldGmsh, BadFilesAreRefused) {
  const std::string text = old_gmsh(false);
  expect_bad("nodes.msh", with(text, "$Nodes\n8\n", "$Nodes\n9\n"), "$EndNodes was expected");
  expect_bad("fewer.msh", with(text, "$Nodes\n8\n", "$Nodes\n7\n"), "$EndNodes was expected");
  expect_bad("absurd.msh", with(text, "$Nodes\n8\n", "$Nodes\n4611686018427387904\n"), "makes no sense");
  expect_bad("vast.msh", with(text, "$Nodes\n8\n", "$Nodes\n1000000000\n"), "ends early");
  expect_bad("twice.msh", with(text, "\n80 8 ", "\n70 8 "), "has node 70 twice");
  expect_bad("minus.msh", with(text, "\n80 8 ", "\n-80 8 "), "has a node with number -80");
  for (const char* number : {"9223372036854775807", "9223372036854775806", "99999999999999999999"})
    expect_bad("far.msh", with(text, "\n80 8 ", std::string("\n") + number + " 8 "), "which makes no sense");
  expect_bad("nan.msh", with(text, "\n80 8 ", "\n80 nan "), "is not a finite number");
  expect_bad("node.msh", with(text, " 10 20 30 40\n", " 10 20 30 45\n"),
             "an element has node 45, which is not in the file");
  expect_bad("type.msh", with(text, "\n3 4 4 ", "\n3 21 4 "), "has elements of Gmsh type 21, which is not supported");
  expect_bad("tags.msh", with(text, "\n3 4 4 ", "\n3 4 -4 "), "has an element with -4 tags");
  expect_bad("short.msh", with(text, " 10 20 30 40\n", " 10 20 30\n"), "a number was expected in '3 4 4 8");
  expect_bad("part.msh", with(text, "\n3 4 4 8 1 1 2 ", "\n3 4 4 8 1 1 0 "), "has an element in partition 0");
  expect_bad("group.msh", with(text, "\n3 4 4 8 1 1 2 ", "\n3 4 4 8000000000 1 1 2 "),
             "has an element in physical group 8000000000");
  expect_bad("count.msh", with(text, "$Elements\n9\n", "$Elements\n8\n"), "$EndElements was expected");
  const std::string binary = old_gmsh(true);
  for (std::size_t n = binary.find("$Nodes") + 3; n + 16 < binary.size(); n += 41)
    expect_bad("cut.msh", binary.substr(0, n), "cut.msh: ");
  expect_bad("more.msh", with(binary, "$Elements\n9\n", "$Elements\n8\n"), "has more elements than it announces");
}

TEST(NewGmsh, NodesHaveSoundNumbers) {
  const std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n9223372036854775807\n0 0 0\n1 0 0\n0 1 0\n"
      "$EndNodes\n$Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n";
  expect_bad("far_new.msh", text, "has a node with number 9223372036854775807, which makes no sense");
}

// Counts of types, found in the text by awk.
TEST(OldGmsh, RealFilesHaveTheirCells) {
  using enum CellType;
  using test::OtherSample;
  for (const OtherSample& sample : {OtherSample{"ghosts.msh", 171, {{triangle, 296}}},
                                    OtherSample{"airfoil_exterior.msh", 367, {{edge, 129}, {triangle, 605}}}}) {
    if (!test::expect_sample(world(), sample))
      GTEST_SKIP() << "the collection of sample files is not there: no " << sample.file;
  }
}

}  // namespace
}  // namespace barrio::io
