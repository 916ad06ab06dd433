// Damaged and wrong Medit files: every rank gets the same error, with the file's name and a helpful cause.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "barrio/io/inspect.hpp"
#include "tests/io/medit/medit_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::expect_bad;
using test::flat_medit_sample;
using test::medit_file;
using test::medit_sample;
using test::with;

TEST(BadMedit, TextsEndEarlyAnywhere) {
  const std::string text = medit_file(medit_sample(), {});
  for (std::size_t n = text.find("Dimension"); n < text.rfind("End"); n += 37) {
    std::string cut = text.substr(0, n);
    while (cut.ends_with('\n')) cut.pop_back();  // a whole last line may end a file
    expect_bad("cut.mesh", cut, "cut.mesh: ");
  }
  expect_bad("half_end.mesh", text.substr(0, text.rfind("nd")), "ends early");
}

TEST(BadMedit, BinaryFilesEndEarlyAnywhere) {
  for (const int version : {1, 3, 4}) {
    for (const bool is_swapped : {false, true}) {
      const std::string bytes =
          medit_file(medit_sample(), {.is_binary = true, .version = version, .is_swapped = is_swapped});
      for (std::size_t n = 12; n < bytes.size(); n += 41) expect_bad("cut.meshb", bytes.substr(0, n), "cut.meshb: ");
      expect_bad("last.meshb", bytes.substr(0, bytes.size() - 1), "ends early");
    }
  }
}

TEST(BadMedit, HeadsAreWrong) {
  const std::string text = medit_file(medit_sample(), {});
  expect_bad("word.mesh", with(text, "MeshVersionFormatted", "MeshVersion"), "is not in a format that barrio reads");
  expect_bad("version.mesh", with(text, "Formatted 2", "Formatted 5"), "is of version 5; barrio reads 0 to 4");
  expect_bad("version_word.mesh", with(text, "Formatted 2", "Formatted two"), "a number was expected in 'two'");
  expect_bad("dimension.mesh", with(text, "Dimension\n3", "Dimension\n4"), "has 4 dimensions, but must have 2 or 3");
  expect_bad("none.mesh", with(text, "Dimension\n3", ""), "must have its Dimension before Vertices");
  const std::string bytes = medit_file(medit_sample(), {.is_binary = true});
  const auto changed = [&](std::size_t at, std::int32_t to) {
    std::string bad = bytes;
    std::memcpy(&bad[at], &to, sizeof to);
    return bad;
  };
  expect_bad("magic.meshb", changed(0, 2), "is not in a format that barrio reads");
  expect_bad("version.meshb", changed(4, 9), "is of version 9; barrio reads 0 to 4");
  expect_bad("dimension.meshb", changed(16, 1), "has 1 dimensions, but must have 2 or 3");
  expect_bad("back.meshb", changed(12, 4), "has a keyword that refers to byte 4 as the next one");
  expect_bad("far.meshb", changed(12, 1 << 20), "ends early");
  expect_bad("next.meshb", changed(24, 20), "announces 12 Vertices, which do not fit");
  expect_bad("loop.meshb", changed(24, -4), "announces 12 Vertices, which do not fit");
}

TEST(BadMedit, CountsMakeNoSense) {
  const std::string text = medit_file(medit_sample(), {});
  expect_bad("negative.mesh", with(text, "Triangles\n3", "Triangles\n-3"), "a count of -3 makes no sense");
  expect_bad("large.mesh", with(text, "Triangles\n3", "Triangles\n99999999999999999999"), "makes no sense");
  expect_bad("more.mesh", with(text, "Triangles\n3", "Triangles\n281474976710656"), "ends early");
  expect_bad("one_more.mesh", with(text, "Triangles\n3", "Triangles\n4"), "near byte");
  expect_bad("one_less.mesh", with(text, "Triangles\n3", "Triangles\n2"), "has '6' where a keyword was expected");
  expect_bad("twice.mesh", with(text, "Corners", "Corners 1 1\nCorners"), "has Corners twice");
  expect_bad("no_vertices.mesh", "MeshVersionFormatted 2 Dimension 3 Vertices 0 End", "has no vertices");
  expect_bad("points.mesh", "MeshVersionFormatted 2 Dimension 3 Vertices 1 0 0 0 0 End",
             "has no cells other than points");
  for (const int version : {2, 4}) {
    const std::string bytes = medit_file(medit_sample(), {.is_binary = true, .version = version});
    const std::size_t at = version == 2 ? 28 : 36;
    for (const std::int64_t n : {-1, 11, 13, 0x7fffffff}) {
      std::string bad = bytes;
      std::memcpy(&bad[at], &n, version == 2 ? 4 : 8);
      expect_bad("count.meshb", bad, n < 0 ? "a count of -1" : n == 11 ? "bytes for 11 Vertices" : "which do not fit");
    }
  }
}

TEST(BadMedit, NumbersNameNothing) {
  const std::string text = medit_file(medit_sample(), {});
  expect_bad("zero.mesh", with(text, "5 6 9 12 0", "5 6 0 12 0"),
             "has Tetrahedra with number 0, but there are 12 vert");
  expect_bad("past.mesh", with(text, "5 6 9 12 0", "5 6 13 12 0"), "has Tetrahedra with number 13, but there are 12");
  expect_bad("corner.mesh", with(text, "Corners\n3\n1", "Corners\n3\n-1"), "has Corners with number -1");
  expect_bad("ridge.mesh", with(text, "Ridges\n2\n1", "Ridges\n2\n4"),
             "has Ridges with number 4, but there are 3 edges");
  expect_bad("word.mesh", with(text, "0.25 0.25 2.5", "0.25 x 2.5"), "a number was expected in 'x'");
  expect_bad("real.mesh", with(text, "5 6 9 12 0", "5 6 9.5 12 0"), "a number was expected in '9.5'");
  expect_bad("nan.mesh", with(text, "0.25 0.25 2.5", "0.25 nan 2.5"), "nan.mesh: ");
  expect_bad("reference.mesh", with(text, "0.25 0.25 2.5 0", "0.25 0.25 2.5 9007199254740994"), "has references that");
  std::vector<test::MeditRows> contents = medit_sample();
  contents[7].rows[0][3] = 13;
  for (const bool is_swapped : {false, true})
    expect_bad("past.meshb", medit_file(contents, {.is_binary = true, .is_swapped = is_swapped}),
               "has Tetrahedra with number 13, but there are 12 vertices");
}

TEST(BadMedit, CellsThatBarrioLacksAreNamed) {
  const std::string text = medit_file(flat_medit_sample(), {}, 2);
  expect_bad("curved.mesh", with(text, "Triangles\n1\n2 5 3 1", "TrianglesP3\n1\n2 5 3 1 1 1 1 1 1 1 1"),
             "has TrianglesP3, which barrio does not read from Medit files");
  std::vector<test::MeditRows> contents = flat_medit_sample();
  contents.push_back({"EdgesP3", 92, 0, {{1, 2, 3, 4, 0}}});
  expect_bad("curved.meshb", medit_file(contents, {.is_binary = true}, 2), "has EdgesP3, which barrio does not");
  if (test::world().rank() == 0) {
    EXPECT_THROW(inspect((test::scratch() / "curved.meshb").string()), Error);
  }
}

}  // namespace
}  // namespace barrio::io
