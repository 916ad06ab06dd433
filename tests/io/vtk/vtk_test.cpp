// Legacy VTK: hand-written files in every encoding. interop_test.cpp has files of other programs, and
// tests/cli/test_vtk_files.py compares with VTK itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/h5m/other_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/vtk/legacy_vtk.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::Legacy;
using test::row_of_tets;
using test::with;
using test::world;

struct Encoding {
  int version;
  bool is_binary;
};
void PrintTo(const Encoding& encoding, std::ostream* out) {
  *out << encoding.version << (encoding.is_binary ? "binary" : "text");
}
class Vtk : public testing::TestWithParam<Encoding> {
 protected:
  Legacy file{GetParam().version, GetParam().is_binary};
};
INSTANTIATE_TEST_SUITE_P(Encodings, Vtk,
                         testing::Values(Encoding{2, false}, Encoding{3, true}, Encoding{5, false}, Encoding{5, true}),
                         testing::PrintToStringParamName());

/// Gather the values of a tag on all rows of a block, or of the vertices for -1. Collective.
template <class T>
std::vector<T> values(const mesh::MeshTables& tables, const std::string& name, std::int32_t block) {
  for (const mesh::TagTable& tag : tables.tags) {
    if (tag.info.name != name) continue;
    for (const mesh::TagColumn& column : tag.columns) {
      if (column.block != block) continue;
      EXPECT_TRUE(column.is_dense);
      std::vector<T> mine(column.items.bytes.size() / sizeof(T));
      if (!mine.empty()) std::memcpy(mine.data(), column.items.bytes.data(), column.items.bytes.size());
      return test::collect(world(), mine);
    }
  }
  ADD_FAILURE() << "no tag " << name << " on block " << block;
  return {};
}

std::vector<double> points(int n) {
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.insert(x.end(), {0.5 * i, 1.0 + i, -2.0 * i});
  return x;
}

TEST_P(Vtk, CellsDataSetsAndPartsAreRight) {
  // A point, a pixel, a line, hexes as a voxel and as a hex, polygons of 3, 4 and 5, and one of each other type.
  const std::vector<std::vector<int>> cells{{0},
                                            {0, 1, 2, 3},
                                            {4, 5},
                                            {0, 1, 2, 3, 4, 5, 6, 7},
                                            {8, 9, 10},
                                            {8, 9, 10, 11},
                                            {8, 9, 10, 11, 12},
                                            {1, 2, 3, 4},
                                            {1, 2, 3, 4, 5},
                                            {1, 2, 3, 4, 5, 6},
                                            {10, 11, 12, 13, 14, 15, 16, 17},
                                            {4, 3, 2},
                                            {4, 3, 2, 1}};
  const std::vector<int> types{1, 8, 3, 11, 7, 7, 7, 10, 14, 13, 12, 5, 9};
  std::vector<int> material{9, 1, 2, 7, -1, 1, 2, 7, 8, 8, 0, 1, 1};
  std::vector<int> part{5, 0, 0, 2, 0, 0, 0, 1, 1, 0, 2, 0, 0};
  std::vector<double> velocity;
  for (int i = 0; i < 39; ++i) velocity.push_back(i / 4.0);
  std::vector<int> numbers;
  for (int i = 0; i < 18; ++i) numbers.push_back(100 + i);
  file.line("DATASET UNSTRUCTURED_GRID").line("FIELD FieldData 1").line("TIME 1 1 double").numbers<double>({0.25});
  file.line("POINTS 18 double").numbers(points(18)).cells("CELLS", cells);
  file.line("CELL_TYPES 13").numbers(types);
  file.line("CELL_DATA 13").line("SCALARS material int").line("LOOKUP_TABLE default").numbers(material);
  file.line("METADATA\nINFORMATION 1\nNAME x LOCATION y\nDATA 1\n");
  file.line("VECTORS flow%20speed double").numbers(velocity).line("FIELD FieldData 2");
  file.line("part 1 13 int").numbers(part).line("METADATA\nCOMPONENT_NAMES\np\n");
  file.line("wide 1 13 vtktypeint64").numbers(std::vector<std::int64_t>(13, std::int64_t{1} << 40));
  file.line("POINT_DATA 18").line("SCALARS number int 1").line("LOOKUP_TABLE shades").numbers(numbers);
  const std::string path = file.write();

  const mesh::MeshTables tables = read_tables(world(), path);
  const test::WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, points(18));
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(found.cells, (std::vector<Cell>{{CellType::edge, {4, 5}},
                                            {CellType::triangle, {8, 9, 10}},
                                            {CellType::triangle, {4, 3, 2}},
                                            {CellType::quad, {0, 1, 3, 2}},
                                            {CellType::quad, {8, 9, 10, 11}},
                                            {CellType::quad, {4, 3, 2, 1}},
                                            {CellType::polygon, {8, 9, 10, 11, 12}},
                                            {CellType::tet, {1, 2, 3, 4}},
                                            {CellType::pyramid, {1, 2, 3, 4, 5}},
                                            {CellType::prism, {1, 2, 3, 4, 5, 6}},
                                            {CellType::hex, {0, 1, 3, 2, 4, 5, 7, 6}},
                                            {CellType::hex, {10, 11, 12, 13, 14, 15, 16, 17}}}));
  EXPECT_EQ(tables.n_parts, 3);
  EXPECT_EQ(found.parts, (std::vector<std::int32_t>{1, 1, 0, 2, 2}));
  using Set = std::tuple<SetKind, std::int32_t, std::string>;
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::dirichlet, 9, ""},
                                          {SetKind::neumann, 2, ""},
                                          {SetKind::neumann, 1, ""},
                                          {SetKind::neumann, 2, ""},
                                          {SetKind::material, 0, ""},
                                          {SetKind::material, 7, ""},
                                          {SetKind::material, 8, ""}}));
  using RowSet = std::set<std::pair<int, std::int64_t>>;
  EXPECT_EQ(found.members, (std::vector<RowSet>{{{0, 0}},
                                                {{1, 0}},
                                                {{2, 1}, {2, 2}, {2, 3}, {2, 4}},
                                                {{2, 5}},
                                                {{3, 4}},
                                                {{3, 0}, {3, 3}},
                                                {{3, 1}, {3, 2}}}));
  ASSERT_EQ(tables.tags.size(), 3U);
  EXPECT_EQ(values<std::int32_t>(tables, "number", -1), numbers);
  EXPECT_EQ(values<double>(tables, "flow speed", 0), (std::vector<double>{1.5, 1.75, 2.0}));
  EXPECT_EQ(values<double>(tables, "flow speed", 1), (std::vector<double>{3.0, 3.25, 3.5, 8.25, 8.5, 8.75}));
  EXPECT_EQ(values<double>(tables, "flow speed", 7), (std::vector<double>{2.25, 2.5, 2.75, 7.5, 7.75, 8.0}));
  EXPECT_EQ(values<double>(tables, "wide", 3), (std::vector<double>{0x1p40}));

  if (world().rank() != 0) return;
  const Json shown = inspect(path);
  EXPECT_EQ(shown["format"],
            fmt::format("VTK legacy {}.0, {}", GetParam().version, GetParam().is_binary ? "binary" : "text"));
  EXPECT_EQ(shown["vertices"], 18);
  EXPECT_EQ(shown["entities"], (Json{{"edges", 1},
                                     {"triangles", 2},
                                     {"quads", 3},
                                     {"polygons", 1},
                                     {"tets", 1},
                                     {"pyramids", 1},
                                     {"prisms", 1},
                                     {"hexes", 2}}));
  EXPECT_EQ(shown["sets"], (Json{{"total", 7}, {"parts", 3}, {"material", 3}, {"dirichlet", 1}, {"neumann", 3}}));
  EXPECT_EQ(shown["tags"].size(), 3U);
  EXPECT_EQ(shown["box"]["high"], (Json{8.5, 18.0, 0.0}));
}

TEST_P(Vtk, PolygonalDataHaveLinesAndPolygons) {
  file.line("DATASET POLYDATA")
      .line("POINTS 6 float")
      .numbers<float>({0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0});
  file.cells("VERTICES", {{5}})
      .cells("LINES", {{0, 1}, {1, 2}})
      .cells("POLYGONS", {{0, 1, 4, 3}, {1, 2, 5}, {1, 5, 4}});
  file.line("CELL_DATA 6").line("SCALARS heat float").line("LOOKUP_TABLE default").numbers<float>({1, 2, 3, 4, 5, 6});
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), file.write());
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() == 0) {
    EXPECT_NE(said.find("1 cell(s) that are points are left out with their values of 'heat'"), std::string::npos)
        << said;
  }
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(test::WholeFile(world(), tables).cells, (std::vector<Cell>{{CellType::edge, {0, 1}},
                                                                       {CellType::edge, {1, 2}},
                                                                       {CellType::triangle, {1, 2, 5}},
                                                                       {CellType::triangle, {1, 5, 4}},
                                                                       {CellType::quad, {0, 1, 4, 3}}}));
  EXPECT_EQ(values<double>(tables, "heat", 0), (std::vector<double>{2, 3}));
  EXPECT_EQ(values<double>(tables, "heat", 1), (std::vector<double>{5, 6}));
  EXPECT_EQ(values<double>(tables, "heat", 2), (std::vector<double>{4}));
}

TEST_P(Vtk, PolyLinesAndStripsAreCutUpWithTheirData) {
  file.line("DATASET POLYDATA")
      .line("POINTS 6 float")
      .numbers<float>({0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0});
  file.cells("LINES", {{0, 1, 2, 5}, {1, 4}})
      .cells("POLYGONS", {{1, 2, 5}, {1, 5, 4}})
      .cells("TRIANGLE_STRIPS", {{0, 3, 1, 4, 2}, {4, 5, 2}});
  file.line("CELL_DATA 6").line("SCALARS heat float").line("LOOKUP_TABLE default").numbers<float>({1, 2, 3, 4, 5, 6});
  const std::string path = file.write();
  const mesh::MeshTables tables = read_tables(world(), path);
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(test::WholeFile(world(), tables).cells, (std::vector<Cell>{{CellType::edge, {0, 1}},
                                                                       {CellType::edge, {1, 2}},
                                                                       {CellType::edge, {2, 5}},
                                                                       {CellType::edge, {1, 4}},
                                                                       {CellType::triangle, {1, 2, 5}},
                                                                       {CellType::triangle, {1, 5, 4}},
                                                                       {CellType::triangle, {0, 3, 1}},
                                                                       {CellType::triangle, {1, 3, 4}},
                                                                       {CellType::triangle, {1, 4, 2}},
                                                                       {CellType::triangle, {4, 5, 2}}}));
  EXPECT_EQ(values<double>(tables, "heat", 0), (std::vector<double>{1, 1, 1, 2}));
  EXPECT_EQ(values<double>(tables, "heat", 1), (std::vector<double>{3, 4}));
  EXPECT_EQ(values<double>(tables, "heat", 2), (std::vector<double>{5, 5, 5, 6}));
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["entities"], (Json{{"edges", 4}, {"triangles", 6}}));
  }
}

TEST(Vtk, ColoursOfTextsAreBytes) {
  const std::string path = test::write_text(
      "colours.vtk",
      "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
      "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nPOINT_DATA 4\nCOLOR_SCALARS colour 2\n0 .5 1 .3 1.2 -1 .999 .7\n");
  const mesh::MeshTables tables = read_tables(world(), path);
  ASSERT_EQ(tables.tags.size(), 1U);
  EXPECT_EQ(tables.tags[0].info.type, mesh::TagType::int32);
  EXPECT_EQ(tables.tags[0].info.n_components, 2);
  const auto& bytes = tables.tags[0].columns.at(0).items.bytes;
  std::vector<std::int32_t> mine(bytes.size() / sizeof(std::int32_t));
  if (!mine.empty()) std::memcpy(mine.data(), bytes.data(), bytes.size());
  EXPECT_EQ(test::collect(world(), mine), (std::vector<std::int32_t>{0, 128, 255, 77, 255, 0, 255, 178}))
      << "as in VTK";
}

TEST(VtkWords, LinesMeanNothing) {
  const std::string neat =
      "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
      "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"
      "CELL_DATA 1\nSCALARS heat double 1\nLOOKUP_TABLE default\n7\n"
      "POINT_DATA 4\nFIELD FieldData 2\na 1 4 int\n1 2 3 4\nb 2 4 int\n1 2 3 4 5 6 7 8\nVECTORS v float\n"
      "1 2 3 4 5 6 7 8 9 1 2 3\n";
  const std::string odd =
      "# vtk DataFile Version 3.0\ntitle\n\nASCII\n\nDATASET\n UNSTRUCTURED_GRID\nPOINTS\n4\r\n double 0 0 0\r\n"
      "1 0 0 0 1 0 0 0 1 CELLS 1 5 4 0 1\n\n2 3 CELL_TYPES\n\n1 10 CELL_DATA 1 SCALARS heat double 1 "
      "LOOKUP_TABLE default 7 POINT_DATA 4 FIELD FieldData 2 a 1 4\nint 1 2 3 4 b\n\n2 4 int 1 2 3\n4 5 6 7 8 VECTORS "
      "v\nfloat 1 2 3 4 5 6 7 8 9 1 2 3";
  std::vector<mesh::MeshTables> tables;
  for (const std::string& text : {neat, odd}) {
    const auto path = test::scratch() / (text == neat ? "neat.vtk" : "odd.vtk");
    if (world().rank() == 0) std::ofstream(path, std::ios::binary) << text;
    mpi::barrier(world());
    tables.push_back(read_tables(world(), path.string()));
  }
  EXPECT_TRUE(test::WholeFile(world(), tables[0]) == test::WholeFile(world(), tables[1]));
  for (const mesh::MeshTables& one : tables) {
    EXPECT_EQ(values<double>(one, "heat", 0), (std::vector<double>{7}));
    EXPECT_EQ(values<std::int32_t>(one, "a", -1), (std::vector<std::int32_t>{1, 2, 3, 4}));
    EXPECT_EQ(values<std::int32_t>(one, "b", -1), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(values<double>(one, "v", -1), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}));
  }
}

TEST(VtkWords, NumbersMayBeginInTheLineOfTheirKeyword) {
  const auto path = test::interop("foreign/dec.vtk");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no foreign/dec.vtk";
  const mesh::MeshTables tables = read_tables(world(), path->string());
  EXPECT_EQ(tables.vertices.n_rows, 347);
  EXPECT_EQ(tables.n_global(mesh::Dim::edge), 346);
  EXPECT_EQ(values<double>(tables, "volume", -1).size(), 347U);
}

/// Expect the common mesh of the grids below: 3 x 2 x 2 points, 2 x 1 x 1 hexes.
void expect_two_hexes(const std::string& path, const std::vector<double>& coordinates) {
  const mesh::MeshTables tables = read_tables(world(), path);
  const test::WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, coordinates);
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(found.cells, (std::vector<Cell>{{CellType::hex, {0, 1, 4, 3, 6, 7, 10, 9}},
                                            {CellType::hex, {1, 2, 5, 4, 7, 8, 11, 10}}}));
  EXPECT_EQ(values<double>(tables, "heat", 0), (std::vector<double>{7, 8}));
}

std::vector<double> grid(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& z) {
  std::vector<double> all;
  for (const double c : z)
    for (const double b : y)
      for (const double a : x) all.insert(all.end(), {a, b, c});
  return all;
}

TEST_P(Vtk, StructuredDatasetsAreHexes) {
  const auto with_data = [&](Legacy legacy) {
    return legacy.line("CELL_DATA 2")
        .line("SCALARS heat double")
        .line("LOOKUP_TABLE default")
        .numbers<double>({7, 8})
        .write();
  };
  const Legacy start = file;
  expect_two_hexes(
      with_data(Legacy(start).line("DATASET STRUCTURED_POINTS\nDIMENSIONS 3 2 2\nORIGIN 1 2 3\nSPACING 0.5 1 2")),
      grid({1, 1.5, 2}, {2, 3}, {3, 5}));
  expect_two_hexes(with_data(Legacy(start)
                                 .line("DATASET RECTILINEAR_GRID\nDIMENSIONS 3 2 2\nX_COORDINATES 3 double")
                                 .numbers<double>({1, 2, 4})
                                 .line("Y_COORDINATES 2 float")
                                 .numbers<float>({5, 6})
                                 .line("Z_COORDINATES 2 int")
                                 .numbers<int>({-1, 1})),
                   grid({1, 2, 4}, {5, 6}, {-1, 1}));
  expect_two_hexes(
      with_data(Legacy(start).line("DATASET STRUCTURED_GRID\nDIMENSIONS 3 2 2\nPOINTS 12 double").numbers(points(12))),
      points(12));
}

TEST_P(Vtk, FlatStructuredDatasetsAreQuadsAcrossAnyAxis) {
  using Cell = test::WholeFile::Cell;
  for (const char* dimensions : {"1 3 2", "3 1 2", "3 2 1"}) {
    SCOPED_TRACE(dimensions);
    const mesh::MeshTables tables = read_tables(
        world(), Legacy(file).line(fmt::format("DATASET STRUCTURED_POINTS\nDIMENSIONS {}", dimensions)).write());
    EXPECT_EQ(test::WholeFile(world(), tables).cells,
              (std::vector<Cell>{{CellType::quad, {0, 1, 4, 3}}, {CellType::quad, {1, 2, 5, 4}}}));
  }
}

TEST_P(Vtk, CurvedCellsKeepTheirNodesInOurOrder) {
  std::vector<int> hex(20);
  std::vector<int> prism(15);
  for (int i = 0; i < 20; ++i) hex[i] = i;
  for (int i = 0; i < 15; ++i) prism[i] = i;
  file.line("DATASET UNSTRUCTURED_GRID").line("POINTS 20 double").numbers(points(20)).cells("CELLS", {hex, prism});
  const std::string path = file.line("CELL_TYPES 2").numbers<int>({25, 26}).write();
  using Cell = test::WholeFile::Cell;
  // Ours: edges of the base, upright edges, edges of the top.
  EXPECT_EQ(
      test::WholeFile(world(), read_tables(world(), path)).cells,
      (std::vector<Cell>{{CellType::prism, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11}},
                         {CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15}}}));
}

TEST(VtkMesh, OwnedCellsAndGhostsEqualTheSerialOracle) {
  const auto path = test::scratch() / "row.vtk";
  if (world().rank() == 0) std::ofstream(path, std::ios::binary) << row_of_tets(5, true, 60);
  mpi::barrier(world());
  mesh::MeshTables tables = read_tables(world(), path.string());
  tables.n_parts = 5;
  for (const GlobalId id : mesh::top_ids(world(), tables))
    tables.parts.push_back(static_cast<std::int32_t>(value(id) / 12));
  test::expect_equals_oracle(world(), tables);
}

TEST(VtkMesh, TooManyMaterialsAndWrongPartsStayTags) {
  std::string text = row_of_tets(3, false, 2) + "material 1 2 vtktypeint64\n1 5000000000\npart 1 2 int\n0 2\n";
  const auto path = test::scratch() / "wide.vtk";
  if (world().rank() == 0) std::ofstream(path) << with(text, "FIELD data 1", "FIELD data 3");
  mpi::barrier(world());
  const mesh::MeshTables tables = read_tables(world(), path.string());
  EXPECT_EQ(tables.n_parts, 0);
  EXPECT_TRUE(tables.sets.empty());
  EXPECT_EQ(values<double>(tables, "material", 0), (std::vector<double>{1, 5e9}));
  EXPECT_EQ(values<std::int32_t>(tables, "part", 0), (std::vector<std::int32_t>{0, 2}));
}

TEST(VtkMesh, NumbersBeyondTheirTypesAreTheNearest) {
  const std::string text = row_of_tets(3, false, 2) +
                           "high 1 2 int\n99999999999999999999 1\nsmall 1 2 double\n-1e-400 0.1e-99999999999999999999\n"
                           "low 1 2 double\n1e-300 2\n";
  const auto path = test::scratch() / "beyond.vtk";
  if (world().rank() == 0) std::ofstream(path) << with(text, "FIELD data 1", "FIELD data 4");
  mpi::barrier(world());
  const mesh::MeshTables tables = read_tables(world(), path.string());
  EXPECT_EQ(values<double>(tables, "small", 0), (std::vector<double>{0, 0}));
  EXPECT_EQ(values<double>(tables, "low", 0), (std::vector<double>{1e-300, 2}));
  // `high` becomes the largest integer of 64 bits. No tag can hold it, so it is dropped with a notice.
  EXPECT_EQ(tables.tags.size(), 3U);
}

TEST(VtkMesh, TagsHaveNamesOfTheirOwn) {
  const std::string cells =
      "MATERIAL_SET 1 2 double\n1 2\nNAME 1 2 int\n1 2\nPARALLEL_PARTITION 1 2 double\n0 1\na 1 2 int\n3 4\n"
      "a_of_cells 1 2 int\n5 6\n";
  const std::string text = row_of_tets(3, false, 2) + cells + "POINT_DATA 5\nFIELD data 1\na 1 5 double\n1 2 3 4 5\n";
  const auto path = test::scratch() / "names.vtk";
  if (world().rank() == 0) std::ofstream(path) << with(text, "FIELD data 1", "FIELD data 6");
  mpi::barrier(world());
  const mesh::MeshTables tables = read_tables(world(), path.string());
  std::vector<std::string> names;
  for (const mesh::TagTable& tag : tables.tags) names.push_back(tag.info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "heat", "a_of_cells", "a_of_cells_of_cells"}));
  EXPECT_EQ(values<double>(tables, "a", -1), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(values<std::int32_t>(tables, "a_of_cells", 0), (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(values<std::int32_t>(tables, "a_of_cells_of_cells", 0), (std::vector<std::int32_t>{5, 6}));
}

TEST(VtkMesh, VastGridsAreCountedAndNotMade) {
  if (world().rank() != 0) return;
  const auto path = test::scratch() / "vast_grid.vtk";
  std::ofstream(path)
      << "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 60000 60000 60000\n";
  const Json shown = inspect(path.string());
  EXPECT_EQ(shown["vertices"], 216000000000000);
  EXPECT_EQ(shown["entities"], (Json{{"hexes", 215989200179999}}));
  EXPECT_FALSE(shown.contains("quality"));
}

TEST(VtkMesh, TagsCanBeLeftOut) {
  const auto path = test::scratch() / "out.vtk";
  if (world().rank() == 0) std::ofstream(path) << row_of_tets(3, false, 2);
  mpi::barrier(world());
  EXPECT_EQ(read_tables(world(), path.string()).tags.size(), 1U);
  EXPECT_TRUE(read_tables(world(), path.string(), {.without_tags = {"heat"}}).tags.empty());
  EXPECT_TRUE(read_tables(world(), path.string(), {.without_tags = {"*"}}).tags.empty());
}

// Counts of cell types, found in the text by awk.
TEST(VtkMesh, RealFilesHaveTheirCells) {
  using enum CellType;
  using test::OtherSample;
  for (const OtherSample& sample : {OtherSample{"brick1.vtk", 27, {{edge, 48}, {quad, 24}, {hex, 8}}},
                                    OtherSample{"brick2.vtk", 27, {{edge, 48}, {quad, 24}, {hex, 8}}},
                                    OtherSample{"hexes_mixed.vtk", 18, {{edge, 1}, {quad, 4}, {hex, 4}}},
                                    OtherSample{"sphere_quads_5.vtk", 152, {{quad, 150}}},
                                    OtherSample{"tet_brick.vtk", 274, {{edge, 602}, {triangle, 420}, {tet, 1086}}}}) {
    if (!test::expect_sample(world(), sample))
      GTEST_SKIP() << "the collection of sample files is not there: no " << sample.file;
  }
}

}  // namespace
}  // namespace barrio::io
