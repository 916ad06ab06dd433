// VTU files as text: the same on any rank count, and faulty files. tests/cli/test_vtk_files.py has the binary forms of
// VTK itself.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using test::expect_bad;
using test::with;
using test::world;

/// A file with two tets in one piece, one in another.
const std::string good = R"(<?xml version="1.0"?>
<!-- two > one -->
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid>
<Piece NumberOfPoints="5" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1 1 1 1</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3 1 2 3 4</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4 8</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10 10</DataArray></Cells>
<CellData><DataArray type="Int32" Name="part" format="ascii">1 0</DataArray></CellData>
</Piece>
<Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">5 0 0 6 0 0 5 1 0 5 0 1</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells>
<CellData><DataArray type="Int32" Name="part" format="ascii">2</DataArray></CellData>
</Piece>
</UnstructuredGrid>
</VTKFile>
)";

TEST(Vtu, PiecesFollowEachOther) {
  const auto path = test::scratch() / "good.vtu";
  if (world().rank() == 0) std::ofstream(path) << good;
  mpi::barrier(world());
  const mesh::MeshTables tables = read_tables(world(), path.string());
  const test::WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates,
            (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1}));
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(
      found.cells,
      (std::vector<Cell>{{CellType::tet, {0, 1, 2, 3}}, {CellType::tet, {1, 2, 3, 4}}, {CellType::tet, {5, 6, 7, 8}}}));
  EXPECT_EQ(found.parts, (std::vector<std::int32_t>{1, 0, 2}));
  if (world().rank() != 0) return;
  const Json shown = inspect(path.string());
  EXPECT_EQ(shown["entities"]["tets"], 3);
  EXPECT_EQ(shown["sets"]["parts"], 3);
}

/// A piece of one tet on the other side of a face of a tet, as a file.
std::string one_piece(const std::string& points, const std::string& part, const std::string& ghost) {
  return R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid>
<Piece NumberOfPoints="5" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">)" +
         points + R"(</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3 1 2 3 4</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4 8</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10 10</DataArray></Cells>
<CellData><DataArray type="UInt8" Name="vtkGhostType" format="ascii">)" +
         ghost + R"(</DataArray><DataArray type="Int32" Name="part" format="ascii">)" + part +
         R"(</DataArray></CellData>
</Piece>
</UnstructuredGrid>
</VTKFile>
)";
}

const std::string heads_of_pieces = R"(<?xml version="1.0"?>
<VTKFile type="PUnstructuredGrid" version="0.1" byte_order="LittleEndian">
<PUnstructuredGrid GhostLevel="1">
<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>
<PCellData><PDataArray type="Int32" Name="part"/><PDataArray type="UInt8" Name="vtkGhostType"/></PCellData>
<Piece Source="pieces/0.vtu"/>
<Piece Source="pieces/1.vtu"/>
</PUnstructuredGrid>
</VTKFile>
)";

TEST(Pvtu, ItsFilesAreOneMeshWithoutGhosts) {
  const auto path = test::scratch() / "two.pvtu";
  if (world().rank() == 0) {
    std::filesystem::create_directory(test::scratch() / "pieces");
    std::ofstream(path) << heads_of_pieces;
    // Each piece has a tet of the other as a ghost.
    std::ofstream(test::scratch() / "pieces/0.vtu") << one_piece("0 0 0 1 0 0 0 1 0 0 0 1 1 1 1", "0 1", "0 1");
    std::ofstream(test::scratch() / "pieces/1.vtu") << one_piece("0 0 0 1 0 0 0 1 0 0 0 1 1 1 1", "0 1", "1 0");
  }
  mpi::barrier(world());
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), path.string());
  const std::string said = testing::internal::GetCapturedStderr();
  const test::WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}));
  using Cell = test::WholeFile::Cell;
  EXPECT_EQ(found.cells, (std::vector<Cell>{{CellType::tet, {0, 1, 2, 3}}, {CellType::tet, {1, 2, 3, 4}}}));
  EXPECT_EQ(found.parts, (std::vector<std::int32_t>{0, 1}));
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("2 ghost cell(s)"), std::string::npos) << said;
  EXPECT_NE(said.find("3 copies of points were merged"), std::string::npos) << said;
  const Json shown = inspect(path.string());
  EXPECT_EQ(shown["vertices"], 5);
  EXPECT_EQ(shown["entities"]["tets"], 2);
  EXPECT_EQ(shown["pieces"], 2);
}

TEST(Pvtu, InspectingCountsTheVerticesThatReadingHas) {
  const auto piece = [](const std::string& points, const std::string& ids) {
    return R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1">
<PointData GlobalIds="ids"><DataArray type="Int64" Name="ids" format="ascii">)" +
           ids + R"(</DataArray></PointData>
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">)" +
           points + R"(</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>)";
  };
  const std::string path = test::write_text("ids.pvtu", R"(<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid>
<PPointData GlobalIds="ids"><PDataArray type="Int64" Name="ids"/></PPointData>
<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>
<Piece Source="ids_0.vtu"/><Piece Source="ids_1.vtu"/></PUnstructuredGrid></VTKFile>)");
  struct Case {
    const char* of_second;
    std::int64_t n_vertices;
    bool fits;
  };
  // By their places, three points of the two tets are copies.
  for (const Case& one :
       {Case{"1 2 3 4", 5, true}, Case{"11 12 13 14", 8, true}, Case{"1 1 3 4", 5, false}, Case{"0 1 2 3", 5, false}}) {
    SCOPED_TRACE(one.of_second);
    test::write_text("ids_0.vtu", piece("0 0 0 1 0 0 0 1 0 0 0 1", "0 1 2 3"));
    test::write_text("ids_1.vtu", piece("1 0 0 0 1 0 0 0 1 1 1 1", one.of_second));
    EXPECT_EQ(read_tables(world(), path).vertices.n_rows, one.n_vertices);
    if (world().rank() == 0) {
      const Json shown = inspect(path);
      EXPECT_EQ(shown["vertices"], one.n_vertices);
      EXPECT_EQ(shown.contains("unsupported"), !one.fits);
      if (!one.fits) {
        EXPECT_EQ(shown["unsupported"], (Json{"array 'ids', marked as global ids of points, which do not fit"}));
      }
    }
    mpi::barrier(world());
  }
}

TEST(Pvtu, FilesThatAreMissingOrDifferentAreNamed) {
  const auto path = test::scratch() / "missing.pvtu";
  const auto other = test::scratch() / "other.pvtu";
  if (world().rank() == 0) {
    std::ofstream(path) << with(heads_of_pieces, "pieces/1.vtu", "nowhere/1.vtu");
    std::ofstream(other) << with(with(heads_of_pieces, "pieces/0.vtu", "alone.vtu"), "\"part\"", "\"colour\"");
    std::ofstream(test::scratch() / "alone.vtu") << one_piece("0 0 0 1 0 0 0 1 0 0 0 1 1 1 1", "0 1", "0 1");
  }
  mpi::barrier(world());
  test::expect_refusal(test::verdict(path), "1", "nowhere/1.vtu: cannot be read: No such file or directory");
  test::expect_refusal(test::verdict(other), "3", "has no array 'colour' of 1 integer(s)");
}

TEST(Vtu, ArraysWithoutANameAreLeftOut) {
  const auto path = test::scratch() / "nameless.vtu";
  const std::string text = with(with(good, "Name=\"part\"", "Name=\"\""), "Name=\"part\"", "Name=\"\"");
  if (world().rank() == 0) std::ofstream(path) << text;
  mpi::barrier(world());
  EXPECT_TRUE(read_tables(world(), path.string()).tags.empty());
}

TEST(BadVtu, MarkupIsWrong) {
  expect_bad("cut.vtu", good.substr(0, good.find("<Cells>") + 4), "has markup that ends early");
  expect_bad("open.vtu", good.substr(0, good.find("</UnstructuredGrid>")), "has markup that cannot be understood");
  expect_bad("poly.vtu", with(good, "\"UnstructuredGrid\"", "\"PolyData\""), "is an XML file of type 'PolyData'");
  expect_bad("p.vtu", with(good, "\"UnstructuredGrid\"", "\"PUnstructuredGrid\""), "names no files of pieces");
  expect_bad("lzma.vtu", with(good, " version=\"0.1\"", " compressor=\"vtkLZMADataCompressor\""),
             "is compressed by vtkLZMADataCompressor; barrio knows vtkZLibDataCompressor");
  expect_bad("form.vtu", with(good, "format=\"ascii\"", "format=\"morse\""), "of the unknown format 'morse'");
  expect_bad("appended.vtu", with(good, "format=\"ascii\"", "format=\"appended\" offset=\"0\""),
             "has no appended data");
  expect_bad("name.vtu", with(good, "Name=\"types\"", "Name=\"kinds\""), "has a piece without 'types' of its cells");
  expect_bad("count.vtu", with(good, "NumberOfPoints=\"5\"", "NumberOfPoints=\"-5\""), "which makes no sense");
  expect_bad("other.vtu", with(good, "\"part\" format=\"ascii\">2", "\"p\" format=\"ascii\">2"),
             "has pieces with other data than the first one");
}

TEST(BadVtu, ValuesAreWrong) {
  expect_bad("more.vtu", with(good, "NumberOfPoints=\"5\"", "NumberOfPoints=\"5000000000\""), "ends early");
  expect_bad("short.vtu", with(good, "NumberOfPoints=\"5\"", "NumberOfPoints=\"6\""), "ends early");
  expect_bad("node.vtu", with(good, "1 2 3 4<", "1 2 3 5<"), "has a cell with point 5 in a piece of 5 points");
  expect_bad("ends.vtu", with(good, ">4 8<", ">-4 8<"), "has offsets of cells that do not ascend");
  // One block that claims a gigabyte in eight bytes.
  const std::string packed = with(good, "format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1 1 1 1<",
                                  "format=\"binary\">AQAAAAAAAEAAAAAACAAAAA==eJwDAAAAAAE=<");
  expect_bad("claims.vtu", with(packed, " version=\"0.1\"", " compressor=\"vtkZLibDataCompressor\""),
             "has 8 bytes in the array '");
  expect_bad("letters.vtu", with(good, ">0 0 0 1", ">0 x 0 1"), "a number was expected in 'x'");
}

TEST(Vtu, SizesMayBeEncodedApartFromTheValues) {
  // base64 of the size, padded, and of 1.5, 2.5 .. 5.5; together, and apart with sizes of 4 and 8 bytes
  struct Case {
    const char* name;
    const char* head;
    const char* values;
  };
  for (const Case& one : {Case{"together.vtu", "", "KAAAAAAAAAAAAPg/AAAAAAAABEAAAAAAAAAMQAAAAAAAABJAAAAAAAAAFkA="},
                          Case{"apart.vtu", "", "KAAAAA==AAAAAAAA+D8AAAAAAAAEQAAAAAAAAAxAAAAAAAAAEkAAAAAAAAAWQA=="},
                          Case{"apart8.vtu", " header_type=\"UInt64\"",
                               "KAAAAAAAAAA=AAAAAAAA+D8AAAAAAAAEQAAAAAAAAAxAAAAAAAAAEkAAAAAAAAAWQA=="}}) {
    SCOPED_TRACE(one.name);
    const std::string text =
        std::string("<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"") + one.head +
        "><UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0 0.5 0.5 1</DataArray></Points><Cells>"
        "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 4</DataArray>"
        "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">5</DataArray>"
        "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">14</DataArray></Cells>"
        "<PointData><DataArray type=\"Float64\" Name=\"u\" format=\"binary\">" +
        one.values + "</DataArray></PointData></Piece></UnstructuredGrid></VTKFile>";
    const mesh::MeshTables tables = read_tables(world(), test::write_text(one.name, text));
    std::vector<double> u;
    for (const mesh::TagTable& tag : tables.tags)
      for (const mesh::TagColumn& column : tag.columns)
        for (std::size_t i = 0; tag.info.name == "u" && i < column.items.bytes.size() / sizeof(double); ++i)
          std::memcpy(&u.emplace_back(), &column.items.bytes[i * sizeof(double)], sizeof(double));
    EXPECT_EQ(test::collect(world(), u), (std::vector<double>{1.5, 2.5, 3.5, 4.5, 5.5}));
  }
}

TEST(Pvtu, IdsOfCellsOfSeveralTypesStay) {
  // Barrio numbers cells type by type, so only where all are of one type do their rows say the same as the ids.
  const auto piece = [](const char* types, const char* ends, const char* nodes, const char* ids) {
    return std::string(
               R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="5" NumberOfCells="2">
<CellData GlobalIds="cid"><DataArray type="Int64" Name="cid" format="ascii">)") +
           ids + R"(</DataArray></CellData>
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0 2 0 0</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">)" +
           nodes + R"(</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">)" +
           ends + R"(</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">)" +
           types + R"(</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>)";
  };
  const std::string path = test::write_text("cids.pvtu", R"(<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid>
<PCellData GlobalIds="cid"><PDataArray type="Int64" Name="cid"/></PCellData>
<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>
<Piece Source="cids_0.vtu"/><Piece Source="cids_1.vtu"/></PUnstructuredGrid></VTKFile>)");
  test::write_text("cids_0.vtu", piece("9 5", "4 7", "0 1 2 3 1 4 2", "0 3"));
  test::write_text("cids_1.vtu", piece("9 5", "4 7", "0 1 2 3 1 4 2", "2 1"));
  const mesh::MeshTables mixed = read_tables(world(), path);
  ASSERT_EQ(mixed.tags.size(), 1U);
  EXPECT_EQ(mixed.tags[0].info.name, "cid");
  mpi::barrier(world());
  test::write_text("cids_0.vtu", piece("5 5", "3 6", "0 1 2 1 4 2", "3 0"));
  test::write_text("cids_1.vtu", piece("5 5", "3 6", "0 1 2 1 4 2", "1 2"));
  EXPECT_TRUE(read_tables(world(), path).tags.empty());
}

}  // namespace
}  // namespace barrio::io
