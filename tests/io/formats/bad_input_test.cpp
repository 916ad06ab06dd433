// Damaged and wrong files: every rank gets the same error, with a code, the file's name and a helpful cause.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/gmsh/gmsh_binary.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::expect_refusal;
using test::verdict;
using test::verdict_after;
using test::with;
using test::world;
namespace fs = std::filesystem;

/// Return a file with a box of hexes in 4 parts, with boundary faces and sets.
const fs::path& good_box() {
  static const fs::path path = [] {
    mesh::MeshTables tables = mesh::make_box(world(), {.n = {5, 4, 3}});
    mesh::partition_cells(world(), tables, 4);
    tables = mesh::reorder_by_part(world(), std::move(tables));
    fs::path made = test::scratch() / "good.h5m";
    write_h5m(world(), tables, made.string());
    return made;
  }();
  return path;
}

void damage_box(const std::string& name, const std::string& cause, const std::function<void(const fs::path&)>& damage) {
  SCOPED_TRACE(name);
  expect_refusal(verdict_after(good_box(), name + ".h5m", damage), "3", cause);
}

TEST(BadH5m, TheFileItselfIsSound) {
  EXPECT_EQ(verdict(good_box()), "sound");
  EXPECT_EQ(verdict_after(good_box(), "polygons.h5m",
                          [](const fs::path& p) { test::make_polygons(p, "/tstt/elements/Quad4"); }),
            "sound");
}

TEST(BadH5m, TruncatedAnywhere) {
  const auto size = fs::file_size(good_box());
  for (const auto n : {size / 10, size / 2, size * 9 / 10, size - 1})
    damage_box("cut" + std::to_string(n), "is damaged: truncated file", [&](const fs::path& p) { test::cut(p, n); });
}

TEST(BadH5m, NoMeshAtAll) {
  damage_box("text", "is not an HDF5 file",
             [](const fs::path& p) { std::ofstream(p) << "this is a text, not a mesh\n"; });
  damage_box("empty", "is empty", [](const fs::path& p) { std::ofstream(p).flush(); });
  damage_box("root", "no group /tstt", [](const fs::path& p) { test::remove_link(p, "/tstt"); });
  expect_refusal(verdict(test::scratch() / "nothing.h5m"), "1", "cannot be read: No such file or directory");
  expect_refusal(verdict(test::scratch()), "1", "is a folder");
}

TEST(BadH5m, TablesAreMissing) {
  damage_box("coordinates", "has no vertex coordinates",
             [](const fs::path& p) { test::remove_link(p, "/tstt/nodes/coordinates"); });
  damage_box("connectivity", "element table Hex8 has no connectivity",
             [](const fs::path& p) { test::remove_link(p, "/tstt/elements/Hex8/connectivity"); });
  damage_box("contents", "points outside the contents of sets",
             [](const fs::path& p) { test::remove_link(p, "/tstt/sets/contents"); });
  damage_box("elements", "has no elements", [](const fs::path& p) { test::remove_link(p, "/tstt/elements"); });
}

TEST(BadH5m, PartitionIsWrong) {
  // The first part set is one pair: first id, count.
  const long n = 15;
  damage_box("missing", "the partition leaves out 1 element(s), the first is element 14",
             [&](const fs::path& p) { test::set_value(p, "/tstt/sets/contents", 1, n - 1); });
  damage_box("twice", "element 15 (0-based) is in part 0 and in part 1",
             [&](const fs::path& p) { test::set_value(p, "/tstt/sets/contents", 1, n + 1); });
}

TEST(BadH5m, ElementsHaveVerticesThatDoNotExist) {
  const auto table = "/tstt/elements/Hex8/connectivity";
  damage_box("high", "hex 0 has vertex 120, but there are 120 vertices",
             [&](const fs::path& p) { test::set_value(p, table, 3, 121); });
  damage_box("zero", "hex 59 has vertex -1", [&](const fs::path& p) { test::set_value(p, table, -1, 0); });
  damage_box("far", "has vertex 4611686018427387903",
             [&](const fs::path& p) { test::set_value(p, table, 200, 4611686018427387904.0); });
  damage_box("face", "quad 3 has vertex 999",
             [&](const fs::path& p) { test::set_value(p, "/tstt/elements/Quad4/connectivity", 12, 1000); });
}

TEST(BadH5m, CoordinatesAreNoNumbers) {
  const double bad = std::numeric_limits<double>::quiet_NaN();
  damage_box("nan", "a coordinate of vertex 119 is not a finite number",
             [&](const fs::path& p) { test::set_value(p, "/tstt/nodes/coordinates", -1, bad); });
  damage_box("infinite", "a coordinate of vertex 0 is not a finite number", [&](const fs::path& p) {
    test::set_value(p, "/tstt/nodes/coordinates", 0, std::numeric_limits<double>::infinity());
  });
}

// Only the rank that reads the wrong row sees the fault; the others continue to read.
TEST(BadH5m, PolygonsHaveWrongLengths) {
  const auto lengths = "/tstt/elements/Quad4/poly_indices";
  const std::string cause = "does not ascend within the 376 entries of connectivity";
  int i = 0;
  const auto damage_lengths = [&](long place, double value, const std::string& expected) {
    damage_box("lengths" + std::to_string(++i), expected, [&](const fs::path& p) {
      test::make_polygons(p, "/tstt/elements/Quad4");
      test::set_value(p, lengths, place, value);
    });
  };
  damage_lengths(0, 1000, cause);
  damage_lengths(0, -2, cause);
  damage_lengths(47, 5, cause);
  damage_lengths(93, 376, cause);
  damage_lengths(93, 1e15, cause);
  damage_lengths(60, -9e18, cause);
  damage_lengths(0, 1, "polygon 0 has 2 vertices, but needs at least 3");
}

TEST(BadH5m, TypesDoNotFit) {
  damage_box("hexes", "hex 60 has 4 vertices, but needs at least 8",
             [](const fs::path& p) { test::set_type(p, "/tstt/elements/Quad4", "Hex"); });
  damage_box("polyhedra", "polyhedron 0 has face 1, but that is not the id of a face",
             [](const fs::path& p) { test::set_type(p, "/tstt/elements/Hex8", "Polyhedron"); });
}

TEST(BadH5m, TagsDoNotFit) {
  // The box has 7 named sets and 4 parts.
  const std::string name = "/tstt/tags/NAME/";
  damage_box("id_pairs", "must be a list of 7 integers",
             [&](const fs::path& p) { test::replace(p, name + "id_list", {7, 2}, false); });
  damage_box("id_reals", "does not hold integers",
             [&](const fs::path& p) { test::replace(p, name + "id_list", {7}, true); });
  damage_box("few_values", "has 3 rows, but must have 7",
             [&](const fs::path& p) { test::replace(p, name + "values", {3}, false); });
  damage_box("other_values", "has values of another type than the tag",
             [&](const fs::path& p) { test::replace(p, name + "values", {7}, false); });
  damage_box("no_values", "is missing in the file", [&](const fs::path& p) { test::remove_link(p, name + "values"); });
  damage_box("dense_values", "has 5 rows, but must have 60",
             [&](const fs::path& p) { test::replace(p, "/tstt/elements/Hex8/tags/NAME", {5}, false); });
  damage_box("parts", "has 99 values for 11 sets",
             [&](const fs::path& p) { test::replace(p, "/tstt/sets/tags/PARALLEL_PARTITION", {99}, false); });
}

TEST(BadH5m, NamesOfTagsMayBeAnyBytes) {
  const std::string found = verdict_after(
      good_box(), "latin.h5m", [](const fs::path& p) { test::rename(p, "/tstt/tags/NAME", "/tstt/tags/NA\xE9 \x01"); });
  EXPECT_EQ(found, "sound");
}

TEST(BadH5m, SetsPointOutside) {
  const auto list = "/tstt/sets/list";
  damage_box("beyond", "set 10 points outside the contents of sets",
             [&](const fs::path& p) { test::set_value(p, list, -4, 1e6); });
  damage_box("behind", "set 1 points outside the contents of sets",
             [&](const fs::path& p) { test::set_value(p, list, 4, -1); });
  damage_box("below", "set 0 points outside the contents of sets",
             [&](const fs::path& p) { test::set_value(p, list, 0, -7e18); });
}

// Sums and differences with a number at an end of its range must not overflow.
TEST(BadH5m, NumbersAtTheEndsOfTheirRange) {
  const std::string senseless = ", which makes no sense";
  damage_box("start", "table /tstt/nodes/coordinates begins with the id -1" + senseless,
             [&](const fs::path& p) { test::set_attribute(p, "/tstt/nodes/coordinates", "start_id", -1); });
  damage_box("start_of_sets", "table /tstt/sets/list begins with the id 9223372036854775807" + senseless,
             [&](const fs::path& p) { test::set_attribute(p, "/tstt/sets/list", "start_id", 1e19); });
  damage_box("node", "hex 0 has vertex 9223372036854775807",
             [&](const fs::path& p) { test::set_value(p, "/tstt/elements/Hex8/connectivity", 0, -1e19); });
  damage_box("set", "set 0 points outside the contents of sets",
             [&](const fs::path& p) { test::set_value(p, "/tstt/sets/list", 0, 1e19); });
  damage_box("first_in_part", "the partition leaves out 15 element(s)",
             [&](const fs::path& p) { test::set_value(p, "/tstt/sets/contents", 0, 1e19); });
  damage_box("count_in_part", "the partition leaves out 15 element(s)",
             [&](const fs::path& p) { test::set_value(p, "/tstt/sets/contents", 1, -1e19); });
  for (const double end : {1e19, -1e19}) {
    const auto name_nothing = [&](const fs::path& p) { test::set_value(p, "/tstt/tags/NAME/id_list", 0, end); };
    EXPECT_EQ(verdict_after(good_box(), "name" + std::to_string(end > 0) + ".h5m", name_nothing), "sound");
    const auto make = [&](const fs::path& p) {
      test::make_polygons(p, "/tstt/elements/Quad4");
      test::remove_link(p, "/tstt/elements/Hex8");
      test::set_value(p, "/tstt/elements/Quad4/poly_indices", 47, end);
    };
    const std::string name = "polygon" + std::to_string(end > 0);
    damage_box(name, "does not ascend within the 376 entries of connectivity", make);
    if (world().rank() == 0) {
      EXPECT_THROW(inspect((test::scratch() / (name + ".h5m")).string()), Error);
    }
  }
}

TEST(BadH5m, ValuesOfVaryingLengthAreWrong) {
  const fs::path good = test::scratch() / "tagged.h5m";
  write_h5m(world(), test::tagged_box(world()), good.string());
  for (const double end : {-9e18, 9e18, -2.0, 1e6}) {
    expect_refusal(
        verdict_after(good, "tag" + std::to_string(end) + ".h5m",
                      [&](const fs::path& p) { test::set_value(p, "/tstt/tags/lists/var_indices", 5, end); }),
        "3", "/tstt/tags/lists/var_indices: does not ascend within the values");
  }
}

// --- Gmsh

std::string coarse_text() {
  std::ifstream file(test::data("wing/wing_coarse.msh"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_gmsh(const std::string& name, const std::string& text, const std::string& cause) {
  test::expect_bad(name + ".msh", text, cause);
}

TEST(BadGmsh, TextEndsEarly) {
  const std::string text = coarse_text();
  const std::size_t size = text.size();
  expect_gmsh("entities", text.substr(0, text.find("$Nodes") - 400), "ends early");
  expect_gmsh("no_nodes", text.substr(0, text.find("$Nodes")), "ends without nodes");
  expect_gmsh("nodes", text.substr(0, text.find("$EndNodes") - 1000), "ends early");
  expect_gmsh("no_elements", text.substr(0, text.find("$Elements")), "ends without elements");
  expect_gmsh("half", text.substr(0, size / 2), "ends early");
  expect_gmsh("nearly", text.substr(0, size * 9 / 10), "ends early");
  expect_gmsh("last", text.substr(0, size - 4), "$EndElements was expected");
}

TEST(BadGmsh, BinaryEndsEarly) {
  const fs::path good = test::scratch() / "binary.msh";
  if (world().rank() == 0) test::write_gmsh_binary(test::data("wing/wing_coarse.msh"), good);
  mpi::barrier(world());
  EXPECT_EQ(verdict(good), "sound");
  const auto size = fs::file_size(good);
  for (const std::uintmax_t n : {size / 50, size / 10, size / 4, size / 2, size * 3 / 4, size * 9 / 10, size - 20}) {
    SCOPED_TRACE(n);
    expect_refusal(verdict_after(good, "cut.msh", [&](const fs::path& p) { test::cut(p, n); }), "3",
                   "cut.msh: ends early");
  }
}

TEST(BadGmsh, VersionsAndEncodings) {
  const std::string text = coarse_text();
  expect_gmsh("version", with(text, "4.1 0 8", "3.0 0 8"), "is of format 3.0; barrio reads 4.1, 2.2 and 1.0");
  expect_gmsh("four", with(text, "4.1 0 8", "4 0 8"), "is of format 4.0; barrio reads 4.1, 2.2 and 1.0");
  expect_gmsh("narrow", with(text, "4.1 0 8", "4.1 1 4"), "has numbers of 4 bytes, but they must have 8");
  EXPECT_EQ(verdict(test::write_text("narrow_text.msh", with(text, "4.1 0 8", "4.1 0 4"))), "sound");
  expect_gmsh("word", with(text, "4.1 0 8", "four"), "a number was expected in 'four'");
  expect_gmsh("order", "$MeshFormat\n4.1 1 8\n" + std::string("\0\0\0\1\n", 5) + "$EndMeshFormat\n",
              "was written with another byte order");
}

TEST(BadGmsh, NumbersMakeNoSense) {
  const std::string text = coarse_text();
  expect_gmsh("nan", with(text, "\n0 1 0 1\n1\n0 0 0\n", "\n0 1 0 1\n1\n0 nan 0\n"),
              "a coordinate of vertex 0 is not a finite number");
  expect_gmsh("letters", with(text, "\n0 1 0 1\n1\n0 0 0\n", "\n0 1 0 1\n1\n0 zero 0\n"),
              "a number was expected in '0 zero 0'");
  expect_gmsh("twice", with(text, "\n0 2 0 1\n2\n", "\n0 2 0 1\n1\n"), "has node 1 twice");
  expect_gmsh("negative", with(text, "\n0 2 0 1\n2\n", "\n0 2 0 1\n-2\n"), "has a node with number -2");
  expect_gmsh("count", with(text, "67 1053 1 1053", "67 1054 1 1053"), "announces 1054 nodes and has 1053");
  expect_gmsh("less", with(text, "67 1053 1 1053", "67 1000 1 1053"), "has more nodes than it announces");
  expect_gmsh("absurd", with(text, "67 1053 1 1053", "67 4611686018427387904 1 1053"),
              "a count of 4611686018427387904 makes no sense");
  expect_gmsh("below", with(text, "67 1053 1 1053", "67 -3 1 1053"), "a count of -3 makes no sense");
  expect_gmsh("group",
              "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 0 0 0\n1 0 0 0 1 -2147483648\n$EndEntities\n",
              "has an entity in physical group -2147483648");
  expect_gmsh("many", with(text, "12 5625 1 5625", "12 5626 1 5626"), "announces 5626 elements and has 5625");
}

TEST(BadGmsh, ElementsAreWrong) {
  const std::string text = coarse_text();
  expect_gmsh("unknown", with(text, "\n1 21 1 46 \n", "\n1 21 1 460000 \n"),
              "an element has node 460000, which is not in the file");
  expect_gmsh("minus", with(text, "\n1 21 1 46 \n", "\n1 21 -1 46 \n"),
              "an element has node -1, which is not in the file");
  expect_gmsh("short", with(text, "\n1 21 1 46 \n", "\n1 21 1\n"), "a number was expected in '1 21 1'");
  expect_gmsh("third_order", with(text, "\n2 1 2 128\n", "\n2 1 21 128\n"),
              "has elements of Gmsh type 21, which is not supported");
  expect_gmsh("dimension", with(text, "\n2 1 2 128\n", "\n3 1 2 128\n"),
              "has elements of Gmsh type 2 on an entity of dimension 3");
}

}  // namespace
}  // namespace barrio::io
