// Gmsh files with elements in no group, names without a dimension, and surplus numbers.
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::SetKind;
using test::with;
using test::world;
using test::write_text;

/// Three triangles on surfaces 1, 2 and 2, of which only the first is in a group; two curves in none.
const std::string old =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"body\"\n$EndPhysicalNames\n"
    "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n5 2 0 0\n$EndNodes\n"
    "$Elements\n5\n1 2 2 7 1 1 2 3\n2 2 2 0 2 2 4 3\n3 2 2 0 2 2 5 4\n4 1 2 0 8 1 2\n5 1 2 0 9 2 5\n$EndElements\n";

const std::string current =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"body\"\n$EndPhysicalNames\n"
    "$Entities\n0 2 2 0\n8 0 0 0 1 0 0 0 0\n9 1 0 0 2 0 0 0 0\n1 0 0 0 1 1 0 1 7 0\n2 0 0 0 2 1 0 0 0\n$EndEntities\n"
    "$Nodes\n1 5 1 5\n2 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 0 0\n$EndNodes\n"
    "$Elements\n4 5 1 5\n2 1 2 1\n1 1 2 3\n2 2 2 2\n2 2 4 3\n3 2 5 4\n1 8 1 1\n4 1 2\n1 9 1 1\n5 2 5\n$EndElements\n";

/// Read a file. @return what rank 0 said; collective
std::string said_of(const std::string& path) {
  testing::internal::CaptureStderr();
  (void)read_tables(world(), path);
  return testing::internal::GetCapturedStderr();
}

TEST(GmshGroupless, EntitiesInNoGroupAreNamedWhereOthersAreInOne) {
  const std::string expected = "surfaces 2 in no physical group (2 elements)";
  for (const auto& [name, text] : {std::pair("old.msh", old), std::pair("current.msh", current)}) {
    const std::string path = write_text(name, text);
    const std::string said = said_of(path);
    if (world().rank() != 0) continue;
    EXPECT_NE(said.find(expected), std::string::npos) << said;
    EXPECT_EQ(said.find("curves"), std::string::npos) << "no curve is in a group: " << said;
    EXPECT_EQ(inspect(path)["unsupported"], Json{expected});
  }
  const std::string none = write_text("none.msh", with(old, "1 2 2 7 1", "1 2 2 0 1"));
  const std::string said = said_of(none);
  if (world().rank() == 0) {
    EXPECT_EQ(said.find("in no physical group"), std::string::npos) << said;
    EXPECT_FALSE(inspect(none).contains("unsupported"));
  }
}

TEST(GmshGroupless, ManyEntitiesAreNamedInPart) {
  std::string elements = "1 2 2 7 1 1 2 3\n";
  for (int e = 2; e <= 200; ++e) elements += std::to_string(e) + " 2 2 0 " + std::to_string(e) + " 2 4 3\n";
  const std::string first = old.substr(0, old.find("$Elements"));
  const std::string path = write_text("many.msh", first + "$Elements\n200\n" + elements + "$EndElements\n");
  const std::string said = said_of(path);
  if (world().rank() != 0) return;
  EXPECT_NE(said.find(" and more in no physical group (199 elements)"), std::string::npos) << said;
}

TEST(GmshGroupless, NamesWithoutADimensionAreRead) {
  for (const auto& [name, text] : {std::pair("old_name.msh", old), std::pair("name.msh", current)}) {
    const std::string path = write_text(name, with(text, "2 7 \"body\"", " 7  \"the body\""));
    const test::WholeFile found(world(), read_tables(world(), path));
    using Set = std::tuple<SetKind, std::int32_t, std::string>;
    EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::material, 7, "the body"}}));
    const std::string said = said_of(path);
    EXPECT_EQ(said.find("groups without elements"), std::string::npos) << said;
    if (world().rank() == 0) {
      EXPECT_EQ(inspect(path)["named_sets"][0]["name"], "the body");
    }
  }
}

TEST(GmshGroupless, SurplusNumbersOfElementsAreNamed) {
  const std::string path =
      write_text("surplus.msh", with(with(old, "1 1 2 3\n", "1 1 2 3 17 18\n"), "9 2 5", "9 2 5 4"));
  const test::WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.cells, test::WholeFile(world(), read_tables(world(), write_text("exact.msh", old))).cells);
  const std::string said = said_of(path);
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("surplus numbers on the lines of 2 element(s) are ignored"), std::string::npos) << said;
  EXPECT_EQ(inspect(path)["unsupported"][1], "surplus numbers on the lines of 2 element(s)");
}

}  // namespace
}  // namespace barrio::io
