// Gmsh 4.1 after a partition, groups of points in every version, and what is left out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::expect_bad;
using test::with;
using test::world;
using test::write_text;

/// A file in either encoding. Integers of 8 bytes are counts and tags of nodes and elements, as Gmsh defines.
class GmshText {
 public:
  explicit GmshText(bool is_binary) : is_binary_(is_binary) {
    text_ = fmt::format("$MeshFormat\n4.1 {} 8\n", is_binary ? 1 : 0);
    if (is_binary) {
      put(1);
      text_ += '\n';
    }
    text_ += "$EndMeshFormat\n";
  }
  GmshText& raw(const std::string& text) {
    text_ += text;
    return *this;
  }
  GmshText& begin(const char* section) { return raw(fmt::format("${}\n", section)); }
  GmshText& end(const char* section) { return raw(fmt::format("{}$End{}\n", is_binary_ ? "\n" : "", section)); }
  template <class... Items>
  GmshText& line(Items... items) {
    (put(items), ...);
    if (!is_binary_) text_ += '\n';
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class Item>
  void put(Item item) {
    if (is_binary_)
      text_.append(reinterpret_cast<const char*>(&item), sizeof item);
    else
      text_ += fmt::format("{} ", item);
  }
  bool is_binary_;
  std::string text_;
};

using Count = std::int64_t;

/// A square of four quads in two parts, with a wall in two lines, an interface of the parts in two more, and two pins.
/// Nodes 1 to 9 are rows of three, from below.
std::string square(bool is_binary) {
  GmshText file(is_binary);
  file.raw(
      "$PhysicalNames\n4\n0 10 \"pins\"\n1 5 \"wall\"\n1 6 \"nobody\"\n2 7 \"body\"\n$EndPhysicalNames\n"
      "$Comments\nof no account\n$EndComments\n");
  const Count none = 0;
  const Count one = 1;
  const Count two = 2;
  file.begin("Entities").line(two, one, one, none);
  file.line(1, 0.0, 0.0, 0.0, one, 10).line(2, 1.0, 1.0, 0.0, one, 10);
  file.line(1, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, one, 5, two, 1, 2);
  file.line(1, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, one, -7, one, 1).end("Entities");
  file.begin("PartitionedEntities").line(two).line(one).line(9, 1);
  file.line(two, two, two, none);
  file.line(3, 0, 1, one, 1, 0.0, 0.0, 0.0, one, 10).line(4, 0, 2, one, 2, 1.0, 1.0, 0.0, one, 10);
  file.line(2, 1, 1, one, 1, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, one, 5, two, 3, 4);
  file.line(3, 2, 1, two, 1, 2, 0.5, 0.0, 0.0, 0.5, 1.0, 0.0, none, none);
  file.line(2, 2, 1, one, 1, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, one, -7, one, 2);
  file.line(3, 2, 1, one, 2, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0, one, -7, one, 3).end("PartitionedEntities");
  file.begin("Nodes").line(one, Count{9}, one, Count{9}).line(2, 2, 0, Count{9});
  for (Count n = 1; n <= 9; ++n) file.line(n);
  for (int n = 0; n < 9; ++n) file.line(n % 3 / 2.0, n / 3 / 2.0, 0.0);
  file.end("Nodes").begin("Elements").line(Count{6}, Count{10}, one, Count{10});
  file.line(0, 3, 15, one).line(one, one).line(0, 4, 15, one).line(two, Count{9});
  file.line(1, 2, 1, two).line(Count{3}, one, Count{4}).line(Count{4}, Count{4}, Count{7});
  file.line(1, 3, 1, two).line(Count{5}, two, Count{5}).line(Count{6}, Count{5}, Count{8});
  file.line(2, 2, 3, two).line(Count{7}, one, two, Count{5}, Count{4});
  file.line(Count{8}, Count{4}, Count{5}, Count{8}, Count{7});
  file.line(2, 3, 3, two).line(Count{9}, two, Count{3}, Count{6}, Count{5});
  file.line(Count{10}, Count{5}, Count{6}, Count{9}, Count{8}).end("Elements");
  file.begin("GhostElements").line(one).line(Count{9}, 2, one, 1).end("GhostElements");
  return file.raw("$Periodic\n1\n1 1 1\n1\n1 3\n$EndPeriodic\n").text();
}

using Set = std::tuple<SetKind, std::int32_t, std::string>;
using RowSet = std::set<std::pair<int, std::int64_t>>;

TEST(GmshParts, EntitiesOfAPartitionHaveGroupsAndParts) {
  for (const bool is_binary : {false, true}) {
    SCOPED_TRACE(is_binary);
    const std::string path = write_text(is_binary ? "parts_binary.msh" : "parts.msh", square(is_binary));
    const mesh::MeshTables tables = read_tables(world(), path);
    const test::WholeFile found(world(), tables);
    EXPECT_EQ(found.sets,
              (std::vector<Set>{
                  {SetKind::dirichlet, 10, "pins"}, {SetKind::neumann, 5, "wall"}, {SetKind::material, 7, "body"}}));
    EXPECT_EQ(found.members,
              (std::vector<RowSet>{{{0, 0}, {0, 8}}, {{1, 0}, {1, 1}}, {{2, 0}, {2, 1}, {2, 2}, {2, 3}}}));
    EXPECT_EQ(tables.n_parts, 2);
    EXPECT_EQ(found.parts, (std::vector<std::int32_t>{0, 0, 1, 1}));
    EXPECT_EQ(found.cells.size(), 8U);
    const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1});
    mesh.validate();
    EXPECT_EQ(test::count_owned(mesh, mesh.set(SetKind::dirichlet, "pins"))[0], 2);
    if (world().rank() != 0) continue;
    const Json shown = inspect(path);
    EXPECT_EQ(shown["sets"], (Json{{"total", 3}, {"parts", 2}, {"material", 1}, {"dirichlet", 1}, {"neumann", 1}}));
    EXPECT_EQ(shown["unsupported"], (Json{"$GhostElements", "$Periodic"}));
  }
}

TEST(GmshParts, LeftOutSectionsAndEmptyGroupsAreNamed) {
  const std::string path = write_text("named.msh", square(false));
  testing::internal::CaptureStderr();
  (void)read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("named.msh: left out: $GhostElements, $Periodic"), std::string::npos) << said;
  EXPECT_NE(said.find("named.msh: groups without elements are left out: 'nobody'"), std::string::npos) << said;
  EXPECT_EQ(said.find("$Comments"), std::string::npos) << said;
}

// A program may keep the list of parts, and write elements on the entities that were cut.
TEST(GmshParts, ElementsInNoPartHaveNoPartition) {
  std::string text = square(false);
  for (const char* block : {"2 2 3 2 ", "2 3 3 2 "})
    text = with(text, std::string("\n") + block + "\n", "\n2 1 3 2 \n");
  const mesh::MeshTables tables = read_tables(world(), write_text("no_part.msh", text));
  EXPECT_EQ(tables.n_parts, 0);
  EXPECT_EQ(tables.n_global(mesh::Dim::face), 4);
}

TEST(GmshParts, BadPartsAreRefused) {
  const std::string text = square(false);
  expect_bad("above.msh", with(text, "\n3 2 1 1 2 0.5", "\n3 2 1 1 3 0.5"), "has an entity in part 3 of 2");
  expect_bad("zero.msh", with(text, "\n3 2 1 1 2 0.5", "\n3 2 1 1 0 0.5"), "has an entity in part 0 of 2");
  expect_bad("node.msh", with(text, "\n2 9 \n", "\n2 99 \n"), "has node 99, which is not in the file");
}

// Files of single partitions have the ghosts of others, which are in no partition.
TEST(GmshParts, APartitionOfSomeCellsIsNotUsed) {
  const std::string text = square(false);
  const std::string path = write_text("some.msh", with(text, "\n3 2 1 1 2 0.5", "\n3 2 1 0 0.5"));
  testing::internal::CaptureStderr();
  const test::WholeFile found(world(), read_tables(world(), path));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(found.parts.empty());
  EXPECT_EQ(found.cells, test::WholeFile(world(), read_tables(world(), write_text("all.msh", text))).cells);
  if (world().rank() == 0) {
    EXPECT_NE(said.find("2 element(s) are in no partition"), std::string::npos) << said;
  }
}

// A partition of one part, entities that are not partitioned, groups that points share, a point in no group.
TEST(GmshParts, GroupsOfPointsAreSetsOfVertices) {
  const std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n3 0 1 0\n1 0 0 0 2 4 9\n2 1 0 0 1 4\n3 0 1 0 0\n"
      "1 0 0 0 1 1 0 0 0\n$EndEntities\n$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n$EndNodes\n"
      "$Elements\n4 5 1 5\n0 1 15 1\n1 1\n0 2 15 1\n2 4\n0 3 15 1\n3 3\n2 1 2 2\n4 1 2 3\n5 2 4 3\n$EndElements\n";
  const test::WholeFile found(world(), read_tables(world(), write_text("points.msh", text)));
  EXPECT_EQ(found.sets, (std::vector<Set>{{SetKind::dirichlet, 4, ""}, {SetKind::dirichlet, 9, ""}}));
  EXPECT_EQ(found.members, (std::vector<RowSet>{{{0, 0}, {0, 3}}, {{0, 0}}}));
  EXPECT_TRUE(found.parts.empty());
}

}  // namespace
}  // namespace barrio::io
