// CGNS files on HDF5: small files written here, structured and unstructured, damaged ones, and a real one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/cgns/cgns_writer.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::expect_refusal;
using test::verdict;
using test::WholeFile;
using test::world;
using Cells = std::vector<WholeFile::Cell>;
using Rows = std::set<std::pair<int, std::int64_t>>;
using Integers = std::vector<int>;

std::filesystem::path written(const test::CgnsNode& root) {
  static int n_written = 0;  // a refused file remains open in HDF5, so each file needs a new name
  auto path = test::scratch() / ("file" + std::to_string(n_written++) + ".cgns");
  if (world().rank() == 0) test::write(root, path);
  mpi::barrier(world());
  return path;
}

TEST(Cgns, SectionsAndConditionsOfAnUnstructuredZone) {
  const auto path = written(test::cgns_unstructured());
  const WholeFile whole(world(), read_tables(world(), path.string()));
  EXPECT_EQ(std::vector(whole.coordinates.begin() + 24, whole.coordinates.end()),
            (std::vector<double>{2, 0, 0, 2, 0, 1}));
  EXPECT_EQ(whole.cells, (Cells{{CellType::quad, {0, 4, 6, 2}},
                                {CellType::quad, {0, 1, 5, 4}},
                                {CellType::prism, {1, 8, 3, 5, 9, 7}},
                                {CellType::hex, {0, 1, 3, 2, 4, 5, 7, 6}}}));
  EXPECT_EQ(whole.sets, (decltype(whole.sets){{SetKind::material, 1, "Hexes"},
                                              {SetKind::material, 2, "Prisms"},
                                              {SetKind::other, 1, "Wall"},
                                              {SetKind::neumann, 1, "all"},
                                              {SetKind::dirichlet, 1, "fixed"},
                                              {SetKind::neumann, 2, "Side"}}));
  EXPECT_EQ(
      whole.members,
      (std::vector<Rows>{{{3, 1}}, {{3, 0}}, {{2, 0}, {2, 1}}, {{2, 0}, {2, 1}}, {{0, 0}, {0, 8}, {0, 9}}, {{2, 1}}}));
  if (world().rank() != 0) return;
  const Json found = inspect(path.string());
  EXPECT_EQ(found["format"], "CGNS, HDF5");
  EXPECT_EQ(found["entities"], (Json{{"quads", 2}, {"prisms", 1}, {"hexes", 1}}));
  EXPECT_EQ(found["sets"]["neumann"], 2);
  EXPECT_EQ(found["quality"]["inverted"], 0);
}

TEST(Cgns, CellsAndFacesOfStructuredZones) {
  const WholeFile whole(world(), read_tables(world(), written(test::cgns_structured()).string()));
  ASSERT_EQ(whole.coordinates.size(), 3U * 48);
  for (std::size_t v = 0; v < 48; ++v) {
    const std::array<double, 3> x{2.0 * static_cast<double>(v / 24) + static_cast<double>(v % 3),
                                  static_cast<double>(v % 12 / 3), static_cast<double>(v % 24 / 12)};
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(whole.coordinates[3 * v + k], x[k]) << v;
  }
  ASSERT_EQ(whole.cells.size(), 34U);
  EXPECT_EQ(whole.cells[0], (WholeFile::Cell{CellType::quad, {18, 19, 7, 6}}));    // inside of A, looking along j
  EXPECT_EQ(whole.cells[2], (WholeFile::Cell{CellType::quad, {12, 15, 3, 0}}));    // left of A, looking out
  EXPECT_EQ(whole.cells[5], (WholeFile::Cell{CellType::quad, {12, 13, 16, 15}}));  // its roof
  EXPECT_EQ(whole.cells[22], (WholeFile::Cell{CellType::hex, {0, 1, 4, 3, 12, 13, 16, 15}}));
  EXPECT_EQ(whole.cells[33], (WholeFile::Cell{CellType::hex, {31, 32, 35, 34, 43, 44, 47, 46}}));
  std::vector<std::size_t> n_members;
  std::vector<std::string> names;
  for (std::size_t s = 0; s < whole.sets.size(); ++s) {
    names.push_back(std::get<2>(whole.sets[s]));
    n_members.push_back(whole.members[s].size());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"A", "B", "inside", "left", "Roof", "inside", "left"}));
  EXPECT_EQ(n_members, (std::vector<std::size_t>{6, 6, 2, 3, 12, 2, 3}));
  EXPECT_EQ(whole.members[5], (Rows{{2, 11}, {2, 12}}));
}

/// Some programs write zeros, and the cell of each side.
TEST(Cgns, SidesWithoutNodesAreNamedAndLeftOut) {
  test::CgnsNode root = test::cgns_unstructured();
  root.at("Base/Zone/Wall/ElementConnectivity").data = Integers(8, 0);
  root.at("Base/Zone/Wall").children.push_back({"ParentElements", "DataArray_t", Integers{1, 1, 0, 0}, {2, 2}});
  const auto path = written(root);
  testing::internal::CaptureStderr();
  const WholeFile whole(world(), read_tables(world(), path.string()));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(whole.cells.size(), 2U);
  std::vector<std::string> names;
  for (const auto& set : whole.sets) names.push_back(std::get<2>(set));
  EXPECT_EQ(names, (std::vector<std::string>{"Hexes", "Prisms", "fixed"}));
  if (world().rank() != 0) return;
  for (const char* what : {"section 'Wall' of zone 'Zone': it has the cells of its sides (ParentElements)",
                           "boundary condition 'all' of zone 'Zone': its sides have no nodes",
                           "boundary condition 'Side' of zone 'Zone': its sides have no nodes"})
    EXPECT_NE(said.find(what), std::string::npos) << said;
  EXPECT_EQ(inspect(path)["unsupported"].size(), 3U);
}

TEST(Cgns, StructuredLines) {
  const auto reals = [](const std::string& name, std::vector<double> x) {
    return test::CgnsNode{name, "DataArray_t", std::move(x)};
  };
  const test::CgnsNode range{"PointRange", "IndexRange_t", Integers{4, 4}, {2, 1}};
  const test::CgnsNode zone{
      "line",
      "Zone_t",
      Integers{4, 3, 0},
      {3, 1},
      {{"ZoneType", "ZoneType_t", std::string("Structured")},
       {"GridCoordinates",
        "GridCoordinates_t",
        {},
        {},
        {reals("CoordinateX", {0, 1, 2, 4}), reals("CoordinateY", {0, 0, 1, 1}), reals("CoordinateZ", {5, 5, 5, 6})}},
       {"ZoneBC", "ZoneBC_t", {}, {}, {{"end", "BC_t", std::string("BCWall"), {}, {range}}}}}};
  const test::CgnsNode root{"",
                            "",
                            {},
                            {},
                            {{"CGNSLibraryVersion", "CGNSLibraryVersion_t", std::vector<double>{4.2}},
                             {"Base", "CGNSBase_t", Integers{1, 3}, {}, {zone}}}};
  const auto path = written(root);
  const WholeFile whole(world(), read_tables(world(), path.string()));
  EXPECT_EQ(whole.cells, (Cells{{CellType::edge, {0, 1}}, {CellType::edge, {1, 2}}, {CellType::edge, {2, 3}}}));
  EXPECT_EQ(whole.coordinates, (std::vector<double>{0, 0, 5, 1, 0, 5, 2, 1, 5, 4, 1, 6}));
  ASSERT_EQ(whole.sets.size(), 2U);
  EXPECT_EQ(std::get<0>(whole.sets[1]), SetKind::dirichlet);
  EXPECT_EQ(whole.members[1], (Rows{{0, 3}}));
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["entities"], (Json{{"edges", 3}}));
    EXPECT_EQ(inspect(path)["sets"]["dirichlet"], 1);
  }
}

TEST(Cgns, ConditionsOfOneFamilyAreOneSet) {
  test::CgnsNode root = test::cgns_unstructured();
  const auto of_side = [](const std::string& name, test::CgnsNode where) {
    return test::CgnsNode{name,
                          "BC_t",
                          std::string("BCWall"),
                          {},
                          {std::move(where), {"FamilyName", "FamilyName_t", std::string("Side")}}};
  };
  auto& conditions = root.at("Base/Zone/ZoneBC").children;  // "second", of element 4, is of the family, too
  conditions.push_back(of_side("third", {"ElementList", "IndexArray_t", Integers{3, 4}, {2, 1}}));
  conditions.push_back(of_side("nodes", {"PointList", "IndexArray_t", Integers{1, 2, 9}, {3, 1}}));
  conditions.push_back(of_side("more", {"PointRange", "IndexRange_t", Integers{2, 5}, {2, 1}}));
  const auto path = written(root);
  const mesh::Mesh mesh = read(world(), path.string(), {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(test::count_owned(mesh, mesh.set(SetKind::neumann, "Side"))[2], 2);
  EXPECT_EQ(test::count_owned(mesh, mesh.set(SetKind::dirichlet, "Side"))[0], 6);
  EXPECT_EQ(mesh.sets().size(), 7U);  // three sections, "all", "fixed", and the two of the family
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(path)["sets"]["neumann"], 2);
  EXPECT_EQ(inspect(path)["sets"]["dirichlet"], 2);
}

/// Gather the values of a tag on a block (-1: the vertices) by row. Collective.
std::map<std::int64_t, double> values_of(const mesh::MeshTables& tables, const std::string& name, std::int32_t block) {
  std::vector<double> values;
  std::vector<std::int64_t> rows;
  for (const mesh::TagTable& tag : tables.tags) {
    if (tag.info.name != name) continue;
    for (const mesh::TagColumn& column : tag.columns) {
      if (column.block != block) continue;
      values.resize(column.items.bytes.size() / sizeof(double));
      if (!values.empty()) std::memcpy(values.data(), column.items.bytes.data(), column.items.bytes.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        rows.push_back(tables.slabs_of(block).first(world().rank()) +
                       (column.is_dense ? static_cast<std::int64_t>(i) : column.rows[i]));
    }
  }
  const std::vector<double> all = test::collect(world(), values);
  const std::vector<std::int64_t> at = test::collect(world(), rows);
  std::map<std::int64_t, double> found;
  for (std::size_t i = 0; i < all.size(); ++i) found[at[i]] = all[i];
  return found;
}

std::vector<double> numbers_from(double first, int n) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i) all.push_back(first + i);
  return all;
}

std::map<std::int64_t, double> rows_from(std::int64_t row, const std::vector<double>& values) {
  std::map<std::int64_t, double> all;
  for (const double x : values) all[row++] = x;
  return all;
}

test::CgnsNode solution(const std::string& name, const char* location, std::vector<test::CgnsNode> arrays) {
  if (location != nullptr) arrays.push_back({"GridLocation", "GridLocation_t", std::string(location)});
  return {name, "FlowSolution_t", {}, {}, std::move(arrays)};
}

TEST(Cgns, SolutionsOfStructuredZonesAreTags) {
  test::CgnsNode root = test::cgns_structured();
  const auto array = [](const char* name, double first, std::vector<unsigned long long> shape) {
    int n = 1;
    for (const auto length : shape) n *= static_cast<int>(length);
    return test::CgnsNode{name, "DataArray_t", numbers_from(first, n), std::move(shape)};
  };
  // Both zones have heat on vertices, in three steps; only B has Mach on its 2 x 3 x 1 cells. Of A's others one has
  // rind and one is on faces.
  for (const auto& [zone, first] : {std::pair("Base/A", 0.0), std::pair("Base/B", 500.0)})
    for (const int step : {10, 9, 1})
      root.at(zone).children.push_back(
          solution("Step" + std::to_string(step), nullptr, {array("heat", first + 1000.0 * step, {2, 4, 3})}));
  root.at("Base/B").children.push_back(solution("Cells", "CellCenter", {array("Mach", 7.0, {1, 3, 2})}));
  root.at("Base/A").children.push_back(solution(
      "Rinded", "CellCenter", {array("wide", 0.0, {3, 5, 4}), {"Rind", "Rind_t", Integers{1, 1, 1, 1, 1, 1}}}));
  root.at("Base/A").children.push_back(solution("Faces", "IFaceCenter", {array("flux", 0.0, {1, 3, 3})}));
  root.at("Base").children.push_back(
      {.name = "Iterations",
       .label = "BaseIterativeData_t",
       .data = Integers{3},
       .shape = {1},
       .children = {{"TimeValues", "DataArray_t", std::vector<double>{0.5, 1.0, 2.0}, {3}}}});
  const auto path = written(root);
  for (const auto& [step, times] : {std::pair(0, 10.0), std::pair(1, 1.0), std::pair(2, 9.0), std::pair(3, 10.0)}) {
    SCOPED_TRACE(step);
    testing::internal::CaptureStderr();
    const mesh::MeshTables tables = read_tables(world(), path.string(), {.step = step});
    const std::string said = testing::internal::GetCapturedStderr();
    auto heat = rows_from(0, numbers_from(1000 * times, 24));
    heat.merge(rows_from(24, numbers_from(500 + 1000 * times, 24)));
    EXPECT_EQ(values_of(tables, "heat", -1), heat);
    EXPECT_EQ(values_of(tables, "Mach", 1), rows_from(6, numbers_from(7, 6)));
    EXPECT_EQ(tables.tags.size(), 2U);
    if (world().rank() != 0) continue;
    EXPECT_NE(said.find("solution 'Faces' of zone 'A': it is on IFaceCenter"), std::string::npos) << said;
    EXPECT_NE(said.find("'wide' of solution 'Rinded' of zone 'A': it has rind"), std::string::npos) << said;
    EXPECT_EQ(said.find("the last of 3 time steps") != std::string::npos, step == 0) << said;
  }
  root.at("Base/Iterations/TimeValues").data = std::string("now");
  root.at("Base/Iterations/TimeValues").shape = {};
  const auto without_times = written(root);
  if (world().rank() != 0) return;
  const Json found = inspect(path.string());
  EXPECT_EQ(found["time_steps"], 3);
  EXPECT_EQ(found["times"], Json({0.5, 1.0, 2.0}));
  EXPECT_FALSE(inspect(without_times.string()).contains("times"));
  EXPECT_EQ(found["tags"].size(), 2U);
  EXPECT_EQ(found["unsupported"].size(), 2U);
}

TEST(Cgns, DiscreteDataAreTags) {
  test::CgnsNode root = test::cgns_unstructured();
  test::CgnsNode data = solution("Data", "CellCenter", {{"PID", "DataArray_t", numbers_from(20, 2)}});
  data.label = "DiscreteData_t";
  root.at("Base/Zone").children.push_back(data);
  const mesh::MeshTables tables = read_tables(world(), written(root).string());
  EXPECT_EQ(values_of(tables, "PID", 2), rows_from(0, {20.0}));
  EXPECT_EQ(values_of(tables, "PID", 1), rows_from(0, {21.0}));
}

TEST(Cgns, SolutionsOfUnstructuredZonesAreTags) {
  test::CgnsNode root = test::cgns_unstructured();
  root.at("Base/Zone")
      .children.push_back(solution("OnNodes", "Vertex",
                                   {{"T", "DataArray_t", numbers_from(1, 10)}, {"n", "DataArray_t", Integers(10, 4)}}));
  root.at("Base/Zone")
      .children.push_back(solution("OnCells", "CellCenter", {{"T", "DataArray_t", numbers_from(20, 2)}}));
  const mesh::MeshTables tables = read_tables(world(), written(root).string());
  EXPECT_EQ(values_of(tables, "T", -1), rows_from(0, numbers_from(1, 10)));
  EXPECT_EQ(values_of(tables, "n", -1), rows_from(0, std::vector<double>(10, 4.0)));
  // The hex is the first cell of the zone, the prism the second; prisms are the block before.
  EXPECT_EQ(values_of(tables, "T", 2), rows_from(0, {20.0}));
  EXPECT_EQ(values_of(tables, "T", 1), rows_from(0, {21.0}));
  EXPECT_TRUE(values_of(tables, "T", 0).empty());
}

TEST(Cgns, NamesThatAreNoUtf8AreFoundAndReplacedForPeople) {
  test::CgnsNode root = test::cgns_unstructured();
  test::CgnsNode& zone = root.at("Base/Zone");
  zone.at("Hexes").name =
      "He\xfe"
      "es";
  zone.at("ZoneBC/fixed").name =
      "fi\xff"
      "ed";
  zone.name = "Zon\xe9";
  const auto path = written(root);
  const WholeFile whole(world(), read_tables(world(), path.string()));
  EXPECT_EQ(whole.cells.size(), 4U);
  EXPECT_EQ(std::get<2>(whole.sets[0]),
            "He\xEF\xBF\xBD"
            "es");
  EXPECT_EQ(whole.members[4], (Rows{{0, 0}, {0, 8}, {0, 9}}));
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(path.string())["vertices"], 10);
}

TEST(BadCgns, EachFaultHasItsMessage) {
  const auto expect = [](const std::string& cause, const std::function<void(test::CgnsNode & zone)>& spoil) {
    SCOPED_TRACE(cause);
    test::CgnsNode root = test::cgns_unstructured();
    spoil(root.at("Base/Zone"));
    expect_refusal(verdict(written(root)), "3", cause);
  };
  expect("element 2 of zone 'Zone', in section 'Prisms', has node 11, but the nodes are 1 to 10",
         [](auto& zone) { std::get<Integers>(zone.at("Prisms/ElementConnectivity").data)[5] = 11; });
  expect("section 'Wall' of zone 'Zone' must have as many nodes as its range of elements needs",
         [](auto& zone) { zone.at("Wall/ElementRange").data = Integers{3, 2000000000}; });
  expect("zone 'Zone' must have as many coordinates as vertices",
         [](auto& zone) { zone.data = Integers{2000000000, 2, 0}; });
  expect("zone 'Zone' has 2 sizes, but must have 3", [](auto& zone) {
    zone.data = Integers{10, 2};
    zone.shape = {2, 1};
  });
  expect("zone 'Zone' has the ZoneType 'U', but it must be Structured or Unstructured",
         [](auto& zone) { zone.at("ZoneType").data = std::string("U"); });
  expect("zone 'Zone' has cells of dimension 2 in a base of dimension 3", [](auto& zone) {
    zone.at("ZoneType").data = std::string("Structured");
    zone.data = Integers{5, 2, 4, 1, 0, 0};
    zone.shape = {3, 2};
  });
  expect("boundary condition 'all' of zone 'Zone' has element 5, but they are 1 to 4",
         [](auto& zone) { zone.at("ZoneBC/all/PointRange").data = Integers{3, 5}; });
  expect("boundary condition 'Side' of zone 'Zone' has element 0, but they are 1 to 4",
         [](auto& zone) { zone.at("ZoneBC/second/ElementList").data = Integers{0}; });
  expect("boundary condition 'fixed' of zone 'Zone' has node 11, but they are 1 to 10",
         [](auto& zone) { zone.at("ZoneBC/fixed/PointList").data = Integers{9, 11, 1}; });
  expect("a coordinate of vertex 9 is not a finite number", [](auto& zone) {
    std::get<std::vector<double>>(zone.at("GridCoordinates/CoordinateY").data)[9] = std::nan("");
  });
  expect("zone 'Zone' must have as many coordinates as vertices, along y", [](auto& zone) {
    std::get<std::vector<double>>(zone.at("GridCoordinates/CoordinateY").data).resize(6);  // rank 0 has its rows
  });
  expect("announces 1073741824 rows, but the file holds only 0 bytes of it", [](auto& zone) {
    zone.data = Integers{1 << 30, 2, 0};
    for (const char* name : {"CoordinateX", "CoordinateY", "CoordinateZ"}) {
      zone.at("GridCoordinates").at(name).data = std::vector<double>{};
      zone.at("GridCoordinates").at(name).shape = {1U << 30U};
    }
  });
  expect("announces 2147483648 rows, but the file holds only 0 bytes of it", [](auto& zone) {
    zone.at("Hexes/ElementRange").data = Integers{1, 1 << 28};
    zone.at("Hexes/ElementConnectivity").data = Integers{};
    zone.at("Hexes/ElementConnectivity").shape = {1U << 31U};
  });
  test::CgnsNode root = test::cgns_structured();
  root.at("Base/A/ZoneBC/inside/PointRange").data = Integers{1, 2, 1, 2, 3, 1};
  expect_refusal(verdict(written(root)), "3",
                 "boundary condition 'inside' of zone 'A' is on faces of JFaceCenter, but reaches from j = 2 to 3");
  root = test::cgns_structured();
  root.at("Base/A/ZoneBC/left/PointRange").data = Integers{1, 1, 1, 2, 4, 2};
  expect_refusal(verdict(written(root)), "3", "boundary condition 'left' of zone 'A' is not on one face of the zone");
  root.at("Base/A/ZoneBC/left/PointRange").data = Integers{1, 1, 1, 1, 9, 2};
  expect_refusal(verdict(written(root)), "3", "boundary condition 'left' of zone 'A' lies outside of the zone");
}

TEST(BadCgns, OldFormatsAreRefusedWithARemedy) {
  const auto path = test::scratch() / "old.cgns";
  for (const char* version : {"A02011", "B02012", "C00001"}) {
    if (world().rank() == 0) std::ofstream(path) << "@(#)ADF Database Version " << version << ">";
    mpi::barrier(world());
    expect_refusal(verdict(path), "3", "is a CGNS file in the old ADF format");
  }
}

TEST(CgnsInterop, AnAirfoilOfAnotherProgram) {
  const auto path = test::interop("other/2d_naca0012.cgns");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no 2d_naca0012.cgns";
  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  mesh.validate();
  std::map<std::string, std::array<std::int64_t, 4>> n;
  for (const mesh::MeshSet& set : mesh.sets())
    if (set.info.kind == SetKind::neumann) n[set.info.name] = test::count_owned(mesh, set);
  EXPECT_EQ(n, (decltype(n){{"FFIELD", {0, 50, 0, 0}}, {"LIVE", {0, 0, 6944, 0}}, {"WALL", {0, 116, 0, 0}}}));
}

}  // namespace
}  // namespace barrio::io
