// CGNS sections of mixed types, with and without offsets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/cgns/cgns_writer.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/same_tables.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using test::CgnsNode;
using test::WholeFile;
using test::world;
using Integers = std::vector<int>;
using Reals = std::vector<double>;
using MixedCells = std::vector<WholeFile::Cell>;
using MixedRows = std::set<std::pair<int, std::int64_t>>;

std::filesystem::path written_mixed(const CgnsNode& root) {
  static int n_written = 0;
  auto path = test::scratch() / ("mixed" + std::to_string(n_written++) + ".cgns");
  if (world().rank() == 0) test::write(root, path);
  mpi::barrier(world());
  return path;
}

CgnsNode mixed_section(const std::string& name, const Integers& range, const Integers& words, const Integers& offsets) {
  CgnsNode section{name,
                   "Elements_t",
                   Integers{20, 0},
                   {},
                   {{"ElementRange", "IndexRange_t", range}, {"ElementConnectivity", "DataArray_t", words}}};
  if (!offsets.empty()) section.children.push_back({"ElementStartOffset", "DataArray_t", offsets});
  return section;
}

/// The sample of unstructured zones, its hex and prism in one section.
CgnsNode hex_and_prism(bool has_offsets) {
  CgnsNode root = test::cgns_unstructured();
  CgnsNode& zone = root.at("Base/Zone");
  std::erase_if(zone.children, [](const CgnsNode& node) { return node.name == "Hexes" || node.name == "Prisms"; });
  zone.children.push_back(mixed_section("Volume", {1, 2}, {17, 1, 2, 4, 3, 5, 6, 8, 7, 14, 2, 9, 4, 6, 10, 8},
                                        has_offsets ? Integers{0, 9, 16} : Integers{}));
  return root;
}

TEST(CgnsMixed, HasTheCellsOfPureSections) {
  for (const bool has_offsets : {false, true}) {
    const auto path = written_mixed(hex_and_prism(has_offsets));
    const WholeFile whole(world(), read_tables(world(), path.string()));
    EXPECT_EQ(whole.cells, (MixedCells{{CellType::quad, {0, 4, 6, 2}},
                                       {CellType::quad, {0, 1, 5, 4}},
                                       {CellType::prism, {1, 8, 3, 5, 9, 7}},
                                       {CellType::hex, {0, 1, 3, 2, 4, 5, 7, 6}}}));
    EXPECT_EQ(std::get<2>(whole.sets[0]), "Volume");
    EXPECT_EQ(std::get<0>(whole.sets[0]), mesh::SetKind::material);
    EXPECT_EQ(whole.members[0], (MixedRows{{3, 0}, {3, 1}}));
    if (world().rank() != 0) continue;
    const Json found = inspect(path.string());
    EXPECT_EQ(found["entities"], (Json{{"quads", 2}, {"prisms", 1}, {"hexes", 1}}));
    EXPECT_EQ(found["sets"]["material"], 1);
    EXPECT_EQ(found["quality"]["inverted"], 0);
  }
}

/// A section of random elements, and what a reader must find in it.
struct RandomElements {
  static constexpr int n_nodes = 60;
  Integers words;
  MixedCells cells;                              // in the file's order
  std::map<CellType, std::vector<int>> by_type;  // places in the file, by type
};

RandomElements random_elements(int n, std::uint64_t key) {
  constexpr std::array<std::pair<int, CellType>, 5> kinds{{{5, CellType::triangle},
                                                           {10, CellType::tet},
                                                           {12, CellType::pyramid},
                                                           {14, CellType::prism},
                                                           {17, CellType::hex}}};
  std::mt19937_64 random(key);
  RandomElements made;
  std::vector<std::int64_t> nodes(RandomElements::n_nodes);
  std::iota(nodes.begin(), nodes.end(), std::int64_t{0});
  for (int e = 0; e < n; ++e) {
    const auto [number, type] = kinds[random() % kinds.size()];
    std::ranges::shuffle(nodes, random);
    const std::vector<std::int64_t> own(nodes.begin(), nodes.begin() + mesh::topology(type).n_corners);
    made.words.push_back(number);
    for (const std::int64_t node : own) made.words.push_back(static_cast<int>(node) + 1);
    made.by_type[type].push_back(e);
    made.cells.emplace_back(type, own);
  }
  return made;
}

TEST(CgnsMixed, RandomElementsAreFoundWithTheirSetsAndValues) {
  const std::uint64_t seed = test::seed();
  for (const int n : {1, 7, 500, 9000}) {  // more than there are marks
    SCOPED_TRACE(n);
    const RandomElements made = random_elements(n, seed + static_cast<std::uint64_t>(n));
    CgnsNode root = test::cgns_unstructured();
    CgnsNode& zone = root.at("Base/Zone");
    std::erase_if(zone.children, [](const CgnsNode& node) { return node.name != "ZoneType"; });
    Reals x;
    for (int i = 0; i < RandomElements::n_nodes; ++i) x.push_back(0.37 * i * i);
    zone.children.push_back(
        {"GridCoordinates",
         "GridCoordinates_t",
         {},
         {},
         {{"CoordinateX", "DataArray_t", x}, {"CoordinateY", "DataArray_t", x}, {"CoordinateZ", "DataArray_t", x}}});
    zone.children.push_back(mixed_section("All", {11, 10 + n}, made.words, {}));
    Integers listed;
    Reals numbers;  // of cells, as a solution
    for (int e = 0; e < n; ++e) {
      if (e % 3 == 0) listed.push_back(11 + e);
      if (made.cells[static_cast<std::size_t>(e)].first != CellType::triangle) numbers.push_back(e);
    }
    const int n_cells = static_cast<int>(numbers.size());
    zone.data = Integers{RandomElements::n_nodes, n_cells, 0};
    const CgnsNode faces{"GridLocation", "GridLocation_t", std::string("FaceCenter")};
    zone.children.push_back({"ZoneBC",
                             "ZoneBC_t",
                             {},
                             {},
                             {{"listed",
                               "BC_t",
                               std::string("BCWall"),
                               {},
                               {{"PointList", "IndexArray_t", listed, {listed.size(), 1}}, faces}},
                              {"range",
                               "BC_t",
                               std::string("BCWall"),
                               {},
                               {{"PointRange", "IndexRange_t", Integers{11 + n / 3, 11 + n / 2}, {2, 1}}, faces}}}});
    if (n_cells > 0)
      zone.children.push_back(
          {"Cells",
           "FlowSolution_t",
           {},
           {},
           {{"number", "DataArray_t", numbers}, {"GridLocation", "GridLocation_t", std::string("CellCenter")}}});
    const mesh::MeshTables tables = read_tables(world(), written_mixed(root).string());
    const WholeFile whole(world(), tables);
    MixedCells expected;
    std::map<int, std::pair<int, std::int64_t>> row_of;  // dimension and row by place in the file
    std::array<std::int64_t, 4> n_rows{};
    for (const mesh::CellBlock& block : tables.blocks) {
      const int dim = value(mesh::topology(block.type).dim);
      for (const int e : made.by_type.at(block.type)) {
        expected.push_back(made.cells[e]);
        row_of[e] = {dim, n_rows[dim]++};
      }
    }
    EXPECT_EQ(whole.cells, expected);
    EXPECT_EQ(whole.members[0].size(), static_cast<std::size_t>(n));
    MixedRows in_list;
    MixedRows in_range;
    for (const auto& [e, row] : row_of) {
      if (e % 3 == 0) in_list.insert(row);
      if (e >= n / 3 && e <= n / 2) in_range.insert(row);
    }
    EXPECT_EQ(whole.members[1], in_list);
    EXPECT_EQ(whole.members[2], in_range);
    if (n_cells == 0) continue;
    for (const auto& [place, bytes] : test::values_of(tables, tables.tags.at(0))) {
      double number = 0.0;
      std::memcpy(&number, bytes.data(), sizeof number);
      std::int64_t row = place.second;
      for (std::int32_t b = 0; b < place.first; ++b)
        row += tables.blocks[b].type == CellType::triangle ? 0 : tables.blocks[b].rows.n_rows;
      EXPECT_EQ(row_of.at(static_cast<int>(number)), std::pair(3, row));
    }
    EXPECT_EQ(test::values_of(tables, tables.tags.at(0)).size(), numbers.size());
  }
}

TEST(CgnsMixed, FaultsAreNamed) {
  const auto expect = [](const std::string& cause, const std::function<void(Integers & words)>& spoil) {
    SCOPED_TRACE(cause);
    CgnsNode root = hex_and_prism(true);
    spoil(std::get<Integers>(root.at("Base/Zone/Volume/ElementConnectivity").data));
    test::expect_refusal(test::verdict(written_mixed(root)), "3", cause);
  };
  expect("element 2 of zone 'Zone', in the MIXED section 'Volume', has CGNS type 22, which is not supported",
         [](Integers& words) { words[9] = 22; });
  expect("element 2 of zone 'Zone', in section 'Volume', has node 11, but the nodes are 1 to 10",
         [](Integers& words) { words[10] = 11; });
  expect("section 'Volume' of zone 'Zone' must have as many nodes as its range of elements needs",
         [](Integers& words) { words.pop_back(); });
  expect("section 'Volume' of zone 'Zone' must have as many nodes as its range of elements needs",
         [](Integers& words) { words.resize(9); });
  CgnsNode root = hex_and_prism(false);
  root.at("Base/Zone/Volume/ElementRange").data = Integers{1, 2000000000};
  test::expect_refusal(test::verdict(written_mixed(root)), "3",
                       "must have as many nodes as its range of elements needs");
  root = hex_and_prism(false);
  root.at("Base/Zone/Volume").data = Integers{22, 0};
  test::expect_refusal(
      test::verdict(written_mixed(root)), "3",
      "section 'Volume' of zone 'Zone' has elements of CGNS type 22 (NGON_n), which are not supported");
}

}  // namespace
}  // namespace barrio::io
