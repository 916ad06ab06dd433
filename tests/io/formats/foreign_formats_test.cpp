// Files of other programs: they are recognised by their contents, under any name, and a program that converts them is
// named.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/exodus/netcdf_writer.hpp"
#include "tests/io/refusal.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::expect_refusal;
using test::verdict;
using test::world;
using test::write_text;

struct ForeignSample {
  const char* name;  // of the file, which says nothing
  std::string contents;
  const char* cause;
};

/// Return a surface of one triangle in binary STL.
std::string stl_of_one_facet() {
  std::string text(84 + 50, '\0');
  text.replace(0, 5, "solid");  // some programs begin so even if the file is binary
  const std::uint32_t n = 1;
  std::memcpy(text.data() + 80, &n, sizeof n);
  return text;
}

/// Return one tet with four triangles in AFLR3's binary format.
std::string aflr3_of_one_tet(bool is_big) {
  std::string text;
  const auto put = [&](std::uint32_t word) {
    for (int k = 0; k < 4; ++k) text.push_back(static_cast<char>(word >> (8 * (is_big ? 3 - k : k))));
  };
  for (const std::uint32_t n : {4U, 4U, 0U, 1U, 0U, 0U, 0U}) put(n);
  text.append(4 * 3 * sizeof(double), '\0');
  for (std::uint32_t k = 0; k < 4 * 3 + 4 + 4; ++k) put(1 + k % 4);
  return text;
}

std::vector<ForeignSample> foreign_samples() {
  return {
      {"a.dat", "** made by hand\n*Heading\n cube\n*Node\n 1, 0., 0., 0.\n", "Abaqus or CalculiX"},
      {"b.dat", "*NODE, NSET=Nall\n 1, 0., 0., 0.\n*ELEMENT, TYPE=C3D4\n 1, 1, 2, 3, 4\n", "Abaqus or CalculiX"},
      {"c.dat", "# a comment\n4 1 0 0 0\n1 0. 0. 0.\n2 1. 0. 0.\n3 0. 1. 0.\n4 0. 0. 1.\n1 1 tet 1 2 3 4\n", "AVS"},
      {"d.dat", "    -1\n  2411\n         1         1         1        11\n", "I-deas"},
      {"e.dat", "$ comment\nSOL 101\nCEND\nBEGIN BULK\nGRID,1,,0.0,0.0,0.0\nENDDATA\n", "Nastran"},
      {"f.dat", "GRID           1        0.000000  0.0000  0.0000\nCTRIA3         1       1       1       2       3\n",
       "Nastran"},
      {"g.dat", "MFEM mesh v1.0\n\ndimension\n3\n\nelements\n1\n", "MFEM"},
      {"h.dat", "3 1 3\n0 0 1\n1 0 1\n0 1 1\n1 2 3 0\n1 2 1\n2 3 1\n3 1 1\n", "FreeFem"},
      {"i.dat", "(0 \"GAMBIT to Fluent File\")\n\n(2 3)\n(10 (0 1 8 0))\n", "Fluent"},
      {"j.dat", "(2 3)\n(10 (0 1 8 0 3))\n", "Fluent"},
      {"k.dat", "# Created by COMSOL Multiphysics.\n\n# Major & minor version\n0 1 \n", "COMSOL"},
      {"l.dat", "mesh3d\ndimension\n3\ngeomtype\n0\n", "Netgen"},
      {"m.dat", "ply\nformat ascii 1.0\nelement vertex 3\n", "PLY"},
      {"n.dat", "solid cube\nfacet normal 0 0 1\nouter loop\n", "STL"},
      {"o.dat", stl_of_one_facet(), "STL"},
      {"p.dat", "# made by hand\nmtllib a.mtl\no cube\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "Wavefront"},
      {"q.dat", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "OFF"},
      {"r.dat", "TITLE = \"a\"\nVARIABLES = \"X\", \"Y\"\nZONE N=3, E=1\n", "Tecplot"},
      {"s.dat", "#!TDV112 and bytes", "binary file of Tecplot"},
      {"t.dat", "FORMAT\ntype:  ensight gold\n\nGEOMETRY\nmodel: a.geo\n", "EnSight"},
      {"u.dat", std::string("C Binary") + std::string(72, '\0'), "EnSight"},
      {"v.dat", "<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\">\n", ".vtm"},
      {"w.dat", "FoamFile\n{\n    version 2.0;\n    class vectorField;\n    object points;\n}\n", "OpenFOAM"},
      {"x.dat", "mesh = {\n  dimension = 3\n  use-index-zero = false\n", "PyLith"},
      {"y.dat", "<?xml version=\"1.0\"?>\n<dolfin xmlns:dolfin=\"http://fenicsproject.org\">\n", "DOLFIN"},
      {"z.dat", std::string("\x1f\x8b\x08") + std::string(20, '\1'), "gzip"},
      {"A.dat", "ISO-10303-21;\nHEADER;\n", "STEP"},
      {"B.dat", "* FLAC3D grid produced by hand\n* GRIDPOINTS\nG 1 0 0 0\n", "FLAC3D"},
      {"D.dat", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS"},
      {"E.dat", "#lake.msh geometry, created by JIGSAW\nmshid=1\nndims=2\npoint=1\n0;0;0\n", "JIGSAW"},
      {"F.dat", "4 4 0 1 0 0 0\n 0.0 0.0 0.0\n 1.0 0.0 0.0\n", "AFLR3"},
      {"G.dat", aflr3_of_one_tet(false), "AFLR3"},
      {"H.dat", aflr3_of_one_tet(true), "AFLR3"},
      {"I.dat", std::string("\3\0\0\0\2\0\0\0\6\0\0\0\7\0\0\0\7\0\0\0\1", 21) + std::string(60, '\0'), "GiD"},
      {"K.dat", std::string(8, '\0') + std::string("\x10\0\0\0GID_MESHSET 1.2", 19) + std::string(40, '\0'), "GiD"},
      {"J.dat", "    2    4    4   12\n    1    3    4    4\n 0.0 0.0 0.0 1.0 0.0 0.0\n", "BYU"},
      {"C.dat", "Begin ModelPartData\nEnd ModelPartData\nBegin Nodes\n 1 0 0 0\nEnd Nodes\n", "Kratos"},
  };
}

TEST(ForeignFormats, AreRecognisedByTheirContents) {
  for (const ForeignSample& sample : foreign_samples())
    expect_refusal(verdict(write_text(sample.name, sample.contents)), "3", sample.cause);
}

TEST(ForeignFormats, AProgramThatConvertsThemIsNamed) {
  for (const ForeignSample& sample : foreign_samples()) {
    const std::string path = write_text(sample.name, sample.contents);
    try {
      (void)inspect(path);
      ADD_FAILURE() << sample.cause;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(error.cause().find(sample.cause), std::string::npos) << error.cause();
      EXPECT_FALSE(error.remedy().empty()) << sample.cause;
      EXPECT_EQ(error.cause().find('\n'), std::string::npos);
    }
  }
}

TEST(ForeignFormats, OtherTextIsNot) {
  for (const char* text : {"hello\nworld\n", "1 2 3\n", "3\n0 0 0\n", "{\"type\": \"FeatureCollection\"}\n", "v\n",
                           "(a)\n", "# only a comment\n", "* a list\n* of things\n", "", "4 2 0 0\n1 0 0\n2 1 0\n",
                           "1 2 3 4\n1 9\n", "1 2 3 4 5 6 7\n1 2\n"}) {
    const std::string found = verdict(write_text("other.txt", text));
    EXPECT_EQ(found.find("which barrio does not read"), std::string::npos) << text << ": " << found;
  }
}

test::NetcdfContents netcdf_with(const std::vector<std::string>& names) {
  test::NetcdfContents contents;
  for (const std::string& name : names) contents.variables.push_back({name, {3}, std::vector<double>{0.0, 1.0, 2.0}});
  return contents;
}

TEST(ForeignFormats, GridsInNetcdf) {
  test::NetcdfContents ugrid = netcdf_with({"lon", "lat"});
  ugrid.variables.push_back({"Mesh2", {1}, std::vector<int>{0}, {{"cf_role", "mesh_topology"}}});
  const std::vector<std::pair<test::NetcdfContents, const char*>> cases{
      {ugrid, "UGRID"},
      {netcdf_with({"grid_center_lat", "grid_corner_lat", "grid_corner_lon"}), "SCRIP"},
      {netcdf_with({"verticesOnCell", "cellsOnVertex", "latCell"}), "MPAS"},
      {netcdf_with({"elementConn", "nodeCoords"}), "ESMF"}};
  for (const auto& [contents, cause] : cases)
    for (const test::NetcdfFormat format : {test::NetcdfFormat::cdf1, test::NetcdfFormat::hdf5})
      expect_refusal(verdict(test::write_anew(contents, format, ".nc")), "3", cause);
}

TEST(ForeignFormats, AFolderOfOpenFoam) {
  const std::filesystem::path folder = test::scratch() / "case";
  if (world().is_root()) std::filesystem::create_directories(folder / "constant" / "polyMesh");
  mpi::barrier(world());
  expect_refusal(verdict(folder), "3", "OpenFOAM");
  expect_refusal(verdict(test::scratch()), "1", "is a folder");
}

TEST(ForeignFormats, PointsAloneAreToldByInspect) {
  const std::string path = write_text("points.vtk",
                                      "# vtk DataFile Version 3.0\npoints\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 2 "
                                      "double\n0 0 0\n1 0 0\nCELLS 0 0\nCELL_TYPES 0\n");
  EXPECT_NE(verdict(path), "sound");
  ASSERT_TRUE(inspect(path).contains("unsupported"));
  EXPECT_NE(inspect(path)["unsupported"].back().get<std::string>().find("without cells"), std::string::npos);
}

}  // namespace
}  // namespace barrio::io
