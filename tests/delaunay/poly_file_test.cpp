#include "barrio/delaunay/poly_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

std::string write(const std::string& name, const std::string& text) {
  const std::string path = barrio::test::scratch() / name;
  std::ofstream(path) << text;
  return path;
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(read_poly(write("bad.poly", text)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "none";
}

TEST(PolyFile, ReadsWhatTriangleReads) {
  const PolyFile file = read_poly(write("box.poly",
                                        "# a box with a hole\n"
                                        "4 2 1 1   # points\n"
                                        "1 0 0 3.5 1\n2 +1 0.0 3.5 2\n3 1 1 0 3\n\n4 0 1e0 0 4\n"
                                        "4 1\n1 1 2 5\n2 2 3 6\n3 3 4 7\n4 4 1 8\n"
                                        "1\n1 0.5 0.5\n"
                                        "2\n1 0.1 0.1 7 0.25\n2 0.9 0.9 8 -1\n"));
  EXPECT_EQ(file.first_number, 1);
  ASSERT_EQ(file.graph.points.size(), 4U);
  EXPECT_EQ(file.graph.points[3], (Point{0, 1}));
  EXPECT_EQ(file.graph.point_markers, (std::vector<std::int32_t>{1, 2, 3, 4}));
  ASSERT_EQ(file.graph.segments.size(), 4U);
  EXPECT_EQ(file.graph.segments[3].ends, (std::array<std::int32_t, 2>{3, 0}));
  EXPECT_EQ(file.graph.segments[3].marker, 8);
  EXPECT_EQ(file.graph.holes, (std::vector<Point>{{0.5, 0.5}}));
  ASSERT_EQ(file.graph.regions.size(), 2U);
  EXPECT_EQ(file.graph.regions[0].max_area, 0.25);
  EXPECT_EQ(file.graph.regions[1].max_area, 0.0);
  ASSERT_EQ(file.graph.attributes.size(), 1U);
  EXPECT_EQ(file.graph.attribute_values, (std::vector<double>{3.5, 3.5, 0, 0}));
}

TEST(PolyFile, TakesPointsFromTheNodeFile) {
  write("apart.node", "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n");
  const PolyFile file = read_poly(write("apart.poly", "0 2 0 0\n3 0\n0 0 1\n1 1 2\n2 2 0\n0\n"));
  EXPECT_EQ(file.graph.points.size(), 3U);
  EXPECT_EQ(file.graph.segments.size(), 3U);
}

TEST(PolyFile, TheFolderMayHaveADot) {
  std::filesystem::create_directory(barrio::test::scratch() / "run.1");
  write("run.1/apart.node", "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n");
  EXPECT_EQ(read_poly(write("run.1/apart", "0 2 0 0\n0 0\n0\n")).graph.points.size(), 3U);
}

TEST(PolyFile, NamesTheLine) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(complaint(text).find(part), std::string::npos) << complaint(text);
  };
  expect("", "ends before the number of points");
  expect("3 2 0 0\n0 0 0\n1 x 0\n", "bad.poly:3: x is 'x', not a number");
  expect("3 2 0 0\n0 0 0\n1 nan 0\n", "bad.poly:3: x is");
  expect("3 2 0 0\n0 0 0\n1 1 0\n", "ends before point 3 of 3");
  expect("1 3 0 0\n0 0 0 0\n", "not in the plane");
  expect("2 2 0 0\n0 0 0\n5 1 0\n", "has point 5 where 1 was expected");
  expect("2 2 0 0\n0 0 0\n1 1 0\n1 0\n0 0 7\n", "an end of a segment is 7");
  expect("2 2 0 0\n0 0 0\n1 1 0\n1 0\n0 1 1\n", "begins and ends in one point");
  expect("99999999999 2 0 0\n", "the number of points");
  expect("1 2 0 0\n0 0 0\n0 0\n0\n0\nmore\n", "has lines after the regions");
}

TEST(PolyFile, WritesWhatItReads) {
  PlanarGraph graph = pipe_section(20, 8);
  graph.regions = {{.place = {0, 0}, .attribute = 2.5, .max_area = 0.125}};
  const std::string path = barrio::test::scratch() / "again.poly";
  write_poly(graph, path);
  const PlanarGraph again = read_poly(path).graph;
  EXPECT_EQ(again.points, graph.points);
  EXPECT_EQ(again.holes, graph.holes);
  ASSERT_EQ(again.segments.size(), graph.segments.size());
  for (std::size_t s = 0; s < graph.segments.size(); ++s) {
    EXPECT_EQ(again.segments[s].ends, graph.segments[s].ends);
    EXPECT_EQ(again.segments[s].marker, graph.segments[s].marker);
  }
  ASSERT_EQ(again.regions.size(), 1U);
  EXPECT_EQ(again.regions[0].max_area, 0.125);
}

TEST(PolyFile, TriangleFilesPassTheAudit) {
  const PlanarGraph graph = pipe_section(20, 8);
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 0.01});
  compact(mesh);
  const std::string stem = barrio::test::scratch() / "pipe";
  write_triangle_files(mesh, stem);
  const AuditedMesh read = read_audited(stem + ".ele");
  EXPECT_EQ(std::ssize(read.triangles), mesh.n_triangles());
  const Audit found = audit(read, graph, {.min_angle = 20, .max_area = 0.01});
  for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
}

}  // namespace
}  // namespace barrio::delaunay
