// Damaged and wrong VTK files: every rank gets the same error, with the file's name and a helpful cause.
#include <gtest/gtest.h>

#include "tests/io/refusal.hpp"
#include "tests/io/vtk/legacy_vtk.hpp"

namespace barrio::io {
namespace {

using test::expect_bad;
using test::row_of_tets;
using test::with;

TEST(BadVtk, EndsEarlyAnywhere) {
  for (const int version : {3, 5}) {
    for (const bool is_binary : {false, true}) {
      const std::string text = row_of_tets(version, is_binary, 9);
      const std::size_t last = text.rfind(is_binary ? "double" : "0.5");
      for (std::size_t n = text.find("POINTS") + 10; n < last; n += 151)
        expect_bad("cut.vtk", text.substr(0, n), n < text.find("CELL_TYPES") ? "cut.vtk: " : "near byte");
      expect_bad("end.vtk", text.substr(0, last), "near byte");
    }
  }
}

TEST(BadVtk, HeadsAreWrong) {
  const std::string text = row_of_tets(3, false, 2);
  expect_bad("version.vtk", with(text, "3.0", "6.1"), "is of version '6.1'; barrio reads up to 5");
  expect_bad("word.vtk", with(text, "3.0", "three"), "is of version 'three'");
  expect_bad("encoding.vtk", with(text, "ASCII", "EBCDIC"), "has the encoding 'ebcdic', but must be ASCII or BINARY");
  expect_bad("table.vtk", with(text, "UNSTRUCTURED_GRID", "TABLE"),
             "has a dataset of type 'table'; barrio reads unstructured_grid, polydata");
  expect_bad("none.vtk", text.substr(0, text.find("DATASET")), "has no dataset");
  expect_bad("keyword.vtk", with(text, "CELL_TYPES", "CELL_TIPES"), "has 'CELL_TIPES 2' where a keyword of VTK");
  expect_bad("empty_grid.vtk", text.substr(0, text.find("POINTS")), "has no points");
  expect_bad("points_only.vtk", text.substr(0, text.find("CELLS")), "has no cells other than points");
}

TEST(BadVtk, NumbersMakeNoSense) {
  const std::string text = row_of_tets(3, false, 2);
  expect_bad("nan.vtk", with(text, "double\n0 ", "double\nnan "), "a coordinate of vertex 0 is not a finite number");
  expect_bad("letters.vtk", with(text, "double\n0 ", "double\nzero "), "a number was expected in 'zero'");
  expect_bad("many.vtk", with(text, "POINTS 5", "POINTS 5000000000"), "ends early");
  expect_bad("absurd.vtk", with(text, "POINTS 5", "POINTS 4611686018427387904"), "makes no sense");
  expect_bad("below.vtk", with(text, "POINTS 5", "POINTS -5"), "a count of -5 makes no sense");
  expect_bad("type.vtk", with(text, "5 double", "5 quadruple"), "has numbers of the unknown type 'quadruple'");
  expect_bad("rows.vtk", with(text, "heat 1 2", "heat 1 3"), "has an array 'heat' of 3 rows, 2 were expected");
  expect_bad("wide.vtk", with(text, "heat 1 2", "heat 0 2"), "has an array 'heat' of 0 components");
  expect_bad("data.vtk", with(text, "CELL_DATA 2", "CELL_DATA 3"), "has data of 3 cells, but 2 cells");
  expect_bad("scalars.vtk", with(text, "FIELD data 1", "SCALARS a int"), "has no LOOKUP_TABLE for the scalars 'a'");
}

TEST(BadVtk, CellsAreWrong) {
  const std::string text = row_of_tets(3, false, 2);
  expect_bad("count.vtk", with(text, "CELLS 2 10", "CELLS 11 10"), "announces 11 cells in 10 numbers");
  expect_bad("size.vtk", with(text, "CELLS 2 10", "CELLS 1 10"), "announces 10 numbers for its cells and has 5");
  expect_bad("long.vtk", with(text, "\n4 0 1 2 3", "\n40 0 1 2 3"), "has a cell of 40 nodes");
  expect_bad("minus.vtk", with(text, "\n4 0 1 2 3", "\n-4 0 1 2 3"), "has a cell of -4 nodes");
  expect_bad("beyond.vtk", with(text, "\n4 0 1 2 3", "\n4 0 1 2 7"), "tet 0 has vertex 7, but there are 5 vertices");
  expect_bad("negative.vtk", with(text, "\n4 0 1 2 3", "\n4 0 1 2 -1"), "tet 0 has vertex -1");
  expect_bad("types.vtk", with(text, "CELL_TYPES 2", "CELL_TYPES 1"), "has 1 cell types for 2 cells");
  expect_bad("poly.vtk", with(text, "\n10 10 ", "\n10 41 "),
             "has cells of VTK type 41 (convex point set), which barrio does not support");
  expect_bad("hex.vtk", with(text, "\n10 10 ", "\n12 10 "), "has a cell of VTK type 12 with 4 nodes, but must have 8");
  expect_bad("huge.vtk", with(text, "\n10 10 ", "\n10 1000 "), "has a cell of type 1000");
  expect_bad("no_types.vtk", text.substr(0, text.find("CELL_TYPES")), "has no cell types");
  const std::string apart = row_of_tets(5, false, 2);
  expect_bad("offsets.vtk", with(apart, "\n0 4 8 ", "\n0 9 8 "), "do not ascend");
  expect_bad("start.vtk", with(apart, "\n0 4 8 ", "\n1 4 8 "), "do not ascend from 0 to 8");
  expect_bad("word.vtk", with(apart, "OFFSETS", "STARTS"), "where offsets were expected");
  expect_bad("reals.vtk", with(apart, "OFFSETS vtktypeint64", "OFFSETS double"), "has offsets that are not integers");
}

TEST(BadVtk, OrderAndGrids) {
  const std::string start = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET ";
  expect_bad("order.vtk",
             start + "POLYDATA\nPOINTS 3 int\n0 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\nLINES 1 3\n2 0 1\n",
             "has lines out of VTK's order");
  const std::string list = start + "POLYDATA\nPOINTS 3 int\n0 0 0 1 0 0 0 1 0\n";
  expect_bad("polyline.vtk", list + "LINES 1 2\n1 0\n", "has a cell of VTK type 4 with 1 nodes, but must have 2");
  expect_bad("strip.vtk", list + "TRIANGLE_STRIPS 1 3\n2 0 1\n",
             "has a cell of VTK type 6 with 2 nodes, but must have 3");
  std::string values;
  for (int i = 0; i < 65; ++i) values += " 1";
  expect_bad("wide.vtk", list + "LINES 1 4\n3 0 1 2\nCELL_DATA 1\nFIELD f 1\nwide 65 1 int\n" + values + "\n",
             "array 'wide' has 65 values per cell, which each piece of a poly-line or strip would get");
  expect_bad("zero.vtk", start + "STRUCTURED_POINTS\nDIMENSIONS 0 2 2\n", "has 0 points along an axis");
  expect_bad("vast.vtk", start + "STRUCTURED_POINTS\nDIMENSIONS 9999999 9999999 9999999\n",
             "has 9999999 points along an axis, which makes no sense");
  expect_bad("no_axis.vtk", start + "RECTILINEAR_GRID\nDIMENSIONS 2 1 1\nX_COORDINATES 2 int\n0 1\n",
             "has coordinates of 1 axes, but must have 3");
  expect_bad("axis.vtk", start + "RECTILINEAR_GRID\nDIMENSIONS 2 1 1\nX_COORDINATES 3 int\n0 1 2\n",
             "has 3 coordinates along an axis of 2 points");
  expect_bad("grid.vtk", start + "STRUCTURED_GRID\nDIMENSIONS 2 1 1\nPOINTS 3 int\n0 0 0 1 1 1 2 2 2\n",
             "has 3 points for a grid of 2");
  expect_bad("dimensionless.vtk", start + "STRUCTURED_POINTS\nORIGIN 0 0 0\n", "has no dimensions");
}

TEST(BadVtk, KeywordsHaveTheirPlace) {
  const std::string start = "# vtk DataFile Version 3.0\nt\nASCII\n";
  const std::string set = start + "DATASET ";
  const std::string text = row_of_tets(3, false, 2);
  expect_bad("types_of_grid.vtk", set + "STRUCTURED_POINTS\nDIMENSIONS 3 3 3\nCELL_TYPES 8\n12 12 12 12 12 12 12 12\n",
             "has cell_types, which does not belong to its type of dataset");
  expect_bad("axes.vtk",
             set +
                 "RECTILINEAR_GRID\nDIMENSIONS 2 2 2\nX_COORDINATES 2 int\n0 1\nX_COORDINATES 2 int\n0 1\n"
                 "X_COORDINATES 2 int\n0 1\n",
             "has x_coordinates twice");
  expect_bad("late_grid.vtk", set + "STRUCTURED_GRID\nPOINTS 2 int\n0 0 0 1 1 1\nDIMENSIONS 50 50 50\n",
             "has points before dimensions");
  expect_bad("late_cells.vtk", with(text, "CELLS 2 10", "CELL_DATA 0\nCELLS 2 10"),
             "has cells after the data of points or cells");
  expect_bad("grids.vtk", set + "STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nDIMENSIONS 3 3 3\n", "has dimensions twice");
  expect_bad("types_first.vtk", set + "UNSTRUCTURED_GRID\nPOINTS 1 int\n0 0 0\nCELL_TYPES 0\n",
             "has cell_types before cells");
  expect_bad("headless.vtk", start + "POINTS 1 int\n0 0 0\n", "has points before its dataset");
  expect_bad("data_first.vtk", start + "CELL_DATA 0\n", "has data of cells before its dataset");
  expect_bad("datasets.vtk", set + "STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nDATASET POLYDATA\n", "has a second dataset");
}

TEST(BadVtk, GridsThatNoRankCanHold) {
  const std::string vast =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 60000 60000 60000\n";
  expect_bad("vast_grid.vtk", vast,
             "has a grid of 216000000000000 points and 215989200179999 cells, but a rank holds at most 2147483647");
}

TEST(BadVtk, NumbersBeyondTheirTypes) {
  const std::string text = row_of_tets(3, false, 2);
  for (const char* number : {"1e400 ", "-1e99999999999999999999 "})
    expect_bad("large.vtk", with(text, "double\n0 ", std::string("double\n") + number), "is too large");
}

}  // namespace
}  // namespace barrio::io
