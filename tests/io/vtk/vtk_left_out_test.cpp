// Data of VTK files that barrio does not read are named, and what follows them is read. Data in unusual places are
// read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "tests/io/refusal.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::with;
using test::world;

/// As VTK writes it: a text stands on a line of its own, which may be empty; blanks and percent signs are encoded.
const std::string texts = R"(# vtk DataFile Version 5.1
vtk output
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 2
title 1 2 string
hello%20world

TimeValue 1 1 double
7.5
POINTS 5 float
0 0 0 1 0 0 0 1 0 0 0 1 1 1 1
CELLS 3 8
OFFSETS vtktypeint64
0 4 8
CONNECTIVITY vtktypeint64
0 1 2 3 1 2 3 4
CELL_TYPES 2
10
10

CELL_DATA 2
FIELD FieldData 3
names 1 2 string
POINT_DATA

mat 1 2 int
1 2
METADATA
INFORMATION 0

last 2 2 string


b%20b
c

POINT_DATA 5
FIELD FieldData 2
bits 1 5 bit
1 0 1 1 0
heat 1 5 double
0 1 2 3 4
)";

std::vector<std::string> tags_of(const std::string& path) {
  std::vector<std::string> names;
  for (const mesh::TagTable& tag : read_tables(world(), path).tags) names.push_back(tag.info.name);
  return names;
}

using Names = std::vector<std::string>;
const Json left_out{"arrays without numbers 'names', 'last', 'bits'",
                    "field data of the whole file 'title', 'TimeValue'"};

TEST(VtkLeftOut, PointsInNoSetAreNamed) {
  const std::string path = test::write_text(
      "vertex.vtk",
      "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
      "CELLS 2 7\n4 0 1 2 3\n1 2\nCELL_TYPES 2\n10\n1\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_tables(world(), path).n_global(mesh::Dim::volume), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() == 0) {
    EXPECT_NE(said.find("1 cell(s) that are points are left out"), std::string::npos) << said;
  }
}

/// A tet, two points and two edges, of which one is a bar beside the tet.
std::string with_bar(const std::string& numbers) {
  return "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0 0 0 1 "
         "5 5 5\nCELLS 5 15\n4 0 1 2 3\n1 2\n1 4\n2 0 1\n2 0 4\nCELL_TYPES 5\n10\n1\n1\n3\n3\nCELL_DATA 5\n"
         "SCALARS MaterialID int\nLOOKUP_TABLE default\n" +
         numbers + "\n";
}

TEST(VtkLeftOut, CellsOfNegativeMaterialAreToldAndPointsInSetsAreNot) {
  const auto said_of = [](const std::string& name, const std::string& numbers) {
    const std::string path = test::write_text(name, with_bar(numbers));
    testing::internal::CaptureStderr();
    static_cast<void>(read_tables(world(), path));
    return testing::internal::GetCapturedStderr();
  };
  const std::string negative = said_of("negative.vtk", "1 7 7 -1 -1");
  const std::string in_sets = said_of("in_sets.vtk", "1 7 7 2 3");
  const std::string partly = said_of("partly.vtk", "1 7 -1 2 3");
  if (world().rank() != 0) return;
  EXPECT_NE(negative.find("2 cell(s) are in no set: their number in 'MaterialID' is negative"), std::string::npos)
      << negative;
  EXPECT_EQ(in_sets.find("in no set"), std::string::npos) << in_sets;
  EXPECT_NE(partly.find("1 cell(s) that are points are left out: they are in no set"), std::string::npos) << partly;
}

TEST(VtkLeftOut, SetsThatLoseEntitiesAreNamed) {
  const std::string path = test::write_text("bar.vtk", with_bar("1 7 7 3 3"));
  testing::internal::CaptureStderr();
  const mesh::Mesh mesh = read(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string other = test::write_text("bars.vtk", with_bar("1 6 7 3 4"));
  testing::internal::CaptureStderr();
  static_cast<void>(read(world(), other));
  const std::string said_of_other = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("1 vertices belong to no volume and are left out: of the sets dirichlet 7 (1)"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("1 of 2 listed entities of dimension 1 are not sides of a cell and are left out: of the sets "
                      "neumann 3 (1)"),
            std::string::npos)
      << said;
  EXPECT_NE(said_of_other.find("are left out: of the sets dirichlet 7 (all)"), std::string::npos) << said_of_other;
  EXPECT_NE(said_of_other.find("are left out: of the sets neumann 4 (all)"), std::string::npos) << said_of_other;
}

TEST(VtkLeftOut, TextsOfLegacyFilesArePassedOver) {
  const std::string path = test::write_text("texts.vtk", texts);
  EXPECT_EQ(tags_of(path), (Names{"heat", "mat"}));
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["unsupported"], left_out);
  }
  test::expect_bad("few.vtk", texts.substr(0, texts.find("b%20b")), "ends early");
}

TEST(VtkLeftOut, TextsAndFieldDataOfVtuFilesAreNamed) {
  const std::string path = test::write_text("texts.vtu", R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid>
<FieldData><Array type="String" Name="title" NumberOfTuples="1" format="ascii">104 105 0</Array>
<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">7.5</DataArray></FieldData>
<Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells>
<CellData><Array type="String" Name="names" format="ascii">0</Array>
<DataArray type="Int32" Name="mat" format="ascii">1</DataArray></CellData>
<PointData><DataArray type="Float64" Name="heat" format="ascii">0 1 2 3</DataArray></PointData>
<CellData><Array type="String" Name="last" format="ascii">0</Array>
<DataArray type="Bit" Name="bits" format="ascii">1</DataArray>
<DataArray type="Int32" Name="second" format="ascii">2</DataArray></CellData>
</Piece></UnstructuredGrid></VTKFile>
)");
  EXPECT_EQ(tags_of(path), (Names{"heat", "mat", "second"})) << "both elements of data of cells are read";
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["unsupported"], left_out);
  }
}

TEST(VtkLeftOut, DataOfThePiecesOfAPvtuFileAreNamed) {
  for (const char* name : {"0", "1", "2"})
    test::write_text(fmt::format("piece_{}.vtu", name),
                     fmt::format(R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid>
<FieldData><DataArray type="Float64" Name="ip_{}" NumberOfTuples="1" format="ascii">7.5</DataArray>
<DataArray type="Float64" Name="time" NumberOfTuples="1" format="ascii">7.5</DataArray></FieldData>
<Piece NumberOfPoints="3" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{} 0 0 9 0 0 0 9 0</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">3</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">5</DataArray></Cells>
<CellData><DataArray type="Int32" Name="mat" format="ascii">1</DataArray>
<DataArray type="Int32" Name="own_{}" format="ascii">1</DataArray></CellData>
</Piece></UnstructuredGrid></VTKFile>)",
                                 name, name, name));
  const std::string path = test::write_text("pieces.pvtu", R"(<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid>
<PFieldData><PDataArray type="Float64" Name="whole"/></PFieldData>
<PCellData><PDataArray type="Int32" Name="mat"/></PCellData>
<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>
<Piece Source="piece_0.vtu"/><Piece Source="piece_1.vtu"/><Piece Source="piece_2.vtu"/></PUnstructuredGrid></VTKFile>)");
  const Json expected{"array 'own_0' of pieces, which the .pvtu file does not declare",
                      "array 'own_1' of pieces, which the .pvtu file does not declare",
                      "array 'own_2' of pieces, which the .pvtu file does not declare",
                      "field data of the whole file 'whole', 'ip_0', 'time', 'ip_1', 'ip_2'"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(tags_of(path), (Names{"mat"}));
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(path)["unsupported"], expected);
  for (const auto& what : expected) EXPECT_NE(said.find(what.get<std::string>()), std::string::npos) << said;
}

TEST(VtkLeftOut, BothSectionsOfDataOfCellsAreRead) {
  const std::string twice = texts + "CELL_DATA 2\nSCALARS more int\nLOOKUP_TABLE default\n8 9\n";
  EXPECT_EQ(tags_of(test::write_text("twice.vtk", twice)), (Names{"heat", "mat", "more"}));
}

TEST(VtkLeftOut, TypesWithANumberBehindAreRead) {
  const std::string old = texts + "CELL_DATA 2\nScalars  Label int1\nLOOKUP_TABLE FreeFempp_table\n8 9\n" +
                          "LOOKUP_TABLE FreeFempp_table 2\n0.2 0.2 0.2 1 1 0 0 1\n";
  EXPECT_EQ(tags_of(test::write_text("old.vtk", old)), (Names{"heat", "mat", "Label"}));
  test::expect_bad("digits.vtk", with(old, "int1", "128"), "has numbers of the unknown type '128'");
}

TEST(VtkLeftOut, AnEarlierArrayOfTheSameNameIsNamed) {
  const std::string twice = with(texts, "heat 1 5 double\n", "heat 1 5 double\n9 9 9 9 9\nheat 1 5 double\n");
  const std::string path =
      test::write_text("twice.vtk", with(twice, "FIELD FieldData 2\nbits", "FIELD FieldData 3\nbits"));
  testing::internal::CaptureStderr();
  (void)read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("an earlier array 'heat'"), std::string::npos) << said;
}

}  // namespace
}  // namespace barrio::io
