// Medit files: the same mesh as text and in every binary form, and round trips.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/medit/medit_sample.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::flat_medit_sample;
using test::medit_file;
using test::medit_sample;
using test::WholeFile;
using test::with;
using test::world;
using MeditCell = WholeFile::Cell;
using MeditSet = std::tuple<SetKind, std::int32_t, std::string>;
using MeditRowSet = std::set<std::pair<int, std::int64_t>>;

std::string put(const std::string& name, const std::string& contents) {
  const auto path = test::scratch() / name;
  if (world().rank() == 0) std::ofstream(path, std::ios::binary) << contents;
  mpi::barrier(world());
  return path.string();
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Read a text by read_tables. Collective.
WholeFile read_text(const std::string& name, const std::string& text) {
  return {world(), read_tables(world(), put(name, text))};
}

void expect_sample(const WholeFile& found) {
  EXPECT_EQ(found.cells, (std::vector<MeditCell>{{CellType::edge, {0, 1}},
                                                 {CellType::edge, {1, 2}},
                                                 {CellType::edge, {9, 10}},
                                                 {CellType::triangle, {4, 5, 8}},
                                                 {CellType::triangle, {1, 9, 2}},
                                                 {CellType::triangle, {5, 10, 6}},
                                                 {CellType::quad, {0, 1, 2, 3}},
                                                 {CellType::quad, {1, 9, 10, 5}},
                                                 {CellType::tet, {4, 5, 8, 11}},
                                                 {CellType::pyramid, {4, 5, 6, 7, 8}},
                                                 {CellType::prism, {1, 9, 2, 5, 10, 6}},
                                                 {CellType::hex, {0, 1, 2, 3, 4, 5, 6, 7}}}));
  EXPECT_EQ(found.sets, (std::vector<MeditSet>{{SetKind::neumann, 5, ""},
                                               {SetKind::neumann, 6, ""},
                                               {SetKind::neumann, 3, ""},
                                               {SetKind::neumann, 4, ""},
                                               {SetKind::material, 40, ""},
                                               {SetKind::material, 50, ""},
                                               {SetKind::dirichlet, -2, ""},
                                               {SetKind::dirichlet, 7, ""},
                                               {SetKind::other, 0, "Corners"},
                                               {SetKind::other, 0, "Ridges"},
                                               {SetKind::other, 0, "RequiredVertices"},
                                               {SetKind::other, 0, "RequiredEdges"},
                                               {SetKind::other, 0, "RequiredTriangles"},
                                               {SetKind::other, 0, "RequiredQuadrilaterals"},
                                               {SetKind::other, 0, "RequiredTetrahedra"}}));
  EXPECT_EQ(found.members, (std::vector<MeditRowSet>{{{1, 0}},
                                                     {{1, 2}},
                                                     {{2, 0}, {2, 2}, {2, 3}},
                                                     {{2, 4}},
                                                     {{3, 1}, {3, 3}},
                                                     {{3, 2}},
                                                     {{0, 6}},
                                                     {{0, 2}, {0, 3}},
                                                     {{0, 0}, {0, 1}, {0, 11}},
                                                     {{1, 0}, {1, 2}},
                                                     {{0, 2}},
                                                     {{1, 1}},
                                                     {{2, 0}, {2, 2}},
                                                     {{2, 4}},
                                                     {{3, 0}}}));
  EXPECT_EQ(found.coordinates.size(), 36U);
  EXPECT_EQ(std::vector(found.coordinates.end() - 3, found.coordinates.end()), (std::vector<double>{0.25, 0.25, 2.5}));
}

TEST(Medit, TextAndBinaryOfAllVersionsHoldTheSame) {
  for (int version = 1; version <= 4; ++version) {
    for (const auto& [is_binary, is_swapped] :
         {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
      SCOPED_TRACE(fmt::format("version {}, binary {}, swapped {}", version, is_binary, is_swapped));
      const std::string path =
          put(fmt::format("all{}{}{}.mesh", version, is_binary, is_swapped),
              medit_file(medit_sample(), {.is_binary = is_binary, .version = version, .is_swapped = is_swapped}));
      const mesh::MeshTables tables = read_tables(world(), path);
      expect_sample(WholeFile(world(), tables));
      EXPECT_TRUE(tables.tags.empty());
      EXPECT_EQ(tables.n_parts, 0);
      if (world().rank() != 0) continue;
      const Json shown = inspect(path);
      EXPECT_EQ(shown["format"], fmt::format("Medit {}, {}{}", version, is_binary ? "binary" : "text",
                                             is_swapped ? ", bytes swapped" : ""));
      EXPECT_EQ(shown["vertices"], 12);
      EXPECT_EQ(shown["entities"]["prisms"], 1);
      EXPECT_EQ(shown["sets"], (Json{{"total", 15}, {"parts", 0}, {"material", 2}, {"dirichlet", 2}, {"neumann", 4}}));
      EXPECT_EQ(shown["box"]["high"], (Json{2.0, 1.0, 2.5}));
      EXPECT_FALSE(shown.contains("unsupported"));
      EXPECT_EQ(shown["quality"]["inverted"], 0);
    }
  }
}

TEST(Medit, TwoDimensionsHaveThirdCoordinatesOfZero) {
  for (const bool is_binary : {false, true}) {
    const std::string contents = medit_file(flat_medit_sample(), {.is_binary = is_binary}, 2);
    const std::string path = put(is_binary ? "flat.meshb" : "flat.mesh", contents);
    const WholeFile found(world(), read_tables(world(), path));
    EXPECT_EQ(found.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0.5, 0}));
    EXPECT_EQ(found.sets, (std::vector<MeditSet>{{SetKind::neumann, 4, ""},
                                                 {SetKind::neumann, 8, ""},
                                                 {SetKind::material, 1, ""},
                                                 {SetKind::material, 2, ""},
                                                 {SetKind::dirichlet, 9, ""},
                                                 {SetKind::other, 0, "Corners"},
                                                 {SetKind::other, 0, "RequiredTriangles"}}));
    // Written again, it has two dimensions.
    const std::string again = (test::scratch() / (is_binary ? "flat2.meshb" : "flat2.mesh")).string();
    write_medit(world(), read_tables(world(), path), again);
    EXPECT_EQ(WholeFile(world(), read_tables(world(), again)), found);
    if (is_binary) {
      EXPECT_EQ(contents_of(again), contents);
    } else {
      EXPECT_NE(contents_of(again).find("Dimension 2\n"), std::string::npos);
    }
  }
}

TEST(Medit, WordsCountNotLines) {
  const std::string good = medit_file(flat_medit_sample(), {}, 2);
  const WholeFile expected = read_text("lines.mesh", good);
  std::string blanks = good;
  std::ranges::replace(blanks, '\n', ' ');
  EXPECT_EQ(read_text("one_line.mesh", blanks), expected);
  std::string lines = good;
  std::ranges::replace(lines, ' ', '\n');
  EXPECT_EQ(read_text("many_lines.mesh", lines), expected);
  std::string returns;
  for (const char c : good) returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(read_text("returns.mesh", returns), expected);
  std::string upper = good;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  EXPECT_EQ(read_text("upper.mesh", upper), expected);
  // Comments may precede any word, also the first, and may contain words of Medit.
  std::string comments = "  # MeshVersionFormatted 3\n#" + std::string(200, '-') + "\n" + good;
  comments = with(comments, "Triangles\n1\n", "Triangles # End\n 1 # one\n # Vertices 3\n");
  comments = with(comments, "0 1 0", "0 #x\n1\n#y\n0");
  EXPECT_EQ(read_text("comments.mesh", comments), expected);
  EXPECT_EQ(read_text("fortran.mesh", with(good, "2 0.5 9", "+2.0D+00 5d-1 +9")), expected);
  EXPECT_EQ(read_text("old_names.mesh", with(medit_file(medit_sample(), {}), "Hexahedra", "Hexaedra")),
            read_text("names.mesh", medit_file(medit_sample(), {})));
}

TEST(Medit, UnknownKeywordsAreNamedAndSkipped) {
  std::string text = medit_file(flat_medit_sample(), {}, 2);
  const WholeFile expected = read_text("known.mesh", text);
  text = with(text, "\nEdges", "\nNormals\n2\n0 1\nnan -inf\nSubDomainFromGeom 1\n2 1 1\nEdges");
  text = with(text, "\nCorners", "\nTrianglesP2 0\nNormals\n0\nCorners\n0\n\nTangents\n0\nRidges 0\nCorners");
  text = with(text, "Corners\n0\n", "");
  EXPECT_EQ(read_text("unknown.mesh", text), expected);
  if (world().rank() == 0) {
    EXPECT_EQ(inspect((test::scratch() / "unknown.mesh").string())["unsupported"],
              (Json{"Normals", "SubDomainFromGeom", "Tangents"}));
  }
  std::vector<test::MeditRows> contents = flat_medit_sample();
  contents.insert(contents.begin() + 1, {"Normals", 61, 3, {{0, 0, 1}}});
  contents.insert(contents.begin() + 3, {"?", 4711, 0, {{1, 2, 3}}});
  const std::string path = put("unknown.meshb", medit_file(contents, {.is_binary = true, .version = 3}, 2));
  EXPECT_EQ(WholeFile(world(), read_tables(world(), path)), expected);
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["unsupported"], (Json{"keyword 61", "keyword 4711"}));
  }
}

TEST(Medit, ReferencesThatAreNoIdsBecomeATag) {
  for (const std::int64_t wide : {std::int64_t{1} << 40U, std::int64_t{5}}) {
    const std::string text =
        with(medit_file(flat_medit_sample(), {.version = 4}, 2), "2 0.5 9", fmt::format("2 0.5 {}", wide));
    const mesh::MeshTables tables = read_tables(world(), put("wide.mesh", text));
    if (wide == 5) {
      EXPECT_TRUE(tables.tags.empty());
      continue;
    }
    ASSERT_EQ(tables.tags.size(), 1U);
    EXPECT_EQ(tables.tags[0].info.name, "reference");
    EXPECT_EQ(tables.tags[0].info.type, mesh::TagType::float64);
    ASSERT_EQ(tables.tags[0].columns.size(), 1U);
    EXPECT_EQ(tables.tags[0].columns[0].block, -1);
    EXPECT_EQ(tables.sets.size(), 6U);
    if (world().rank() == 0) {
      const Json shown = inspect((test::scratch() / "wide.mesh").string());
      EXPECT_EQ(shown["sets"]["total"], 6);
      EXPECT_EQ(shown["tags"][0]["type"], "double");
      EXPECT_EQ(shown["tags"][0]["dense_on"], Json{"vertices"});
    }
  }
}

TEST(Medit, TooManyReferencesOfCellsBecomeATag) {
  constexpr int n = 100'002;  // of edges in a row
  std::string text = fmt::format("MeshVersionFormatted 2 Dimension 2 Vertices {} ", n + 1);
  for (int v = 0; v <= n; ++v) text += fmt::format("{} 0 1\n", v);
  text += fmt::format("Edges {}\n", n);
  for (int e = 0; e < n; ++e) text += fmt::format("{} {} {}\n", e + 1, e + 2, e - 5);
  const std::string path = put("many.mesh", text + "End");
  const mesh::MeshTables tables = read_tables(world(), path);
  ASSERT_EQ(tables.tags.size(), 1U);
  EXPECT_EQ(tables.tags[0].info.type, mesh::TagType::int32);
  ASSERT_EQ(tables.tags[0].columns.size(), 1U);
  EXPECT_EQ(tables.tags[0].columns[0].block, 0);
  EXPECT_EQ(tables.tags[0].columns[0].items.bytes.size(), 4 * tables.blocks[0].rows.size(world().rank()));
  ASSERT_EQ(tables.sets.size(), 1U);
  EXPECT_EQ(tables.sets[0].kind, SetKind::dirichlet);
  if (world().rank() == 0) {
    EXPECT_EQ(inspect(path)["tags"][0]["dense_on"], Json{"cells"});
  }
}

TEST(Medit, WhatIsWrittenIsTheSameOnAnyNumberOfRanks) {
  const std::string in = put("in.mesh", medit_file(medit_sample(), {}));
  for (const char* name : {"out.mesh", "out.meshb"}) {
    SCOPED_TRACE(name);
    const std::string out = (test::scratch() / name).string();
    write_medit(world(), read_tables(world(), in), out);
    expect_sample(WholeFile(world(), read_tables(world(), out)));
    // Blocks are written in the order of types, as in a file of one rank.
    std::vector<test::MeditRows> sorted = medit_sample();
    const std::vector<std::string> order{"Vertices", "Edges",  "Triangles", "Quadrilaterals", "Tetrahedra",
                                         "Pyramids", "Prisms", "Hexahedra", "Corners"};
    std::ranges::stable_sort(sorted, {}, [&](const test::MeditRows& rows) {
      return std::ranges::find(order, rows.keyword) - order.begin();
    });
    const bool is_binary = out.ends_with('b');
    const std::string expected = medit_file(sorted, {.is_binary = is_binary});
    if (is_binary) {
      EXPECT_EQ(contents_of(out), expected);
    } else {
      const auto words = [](const std::string& text) {
        std::istringstream in_words(text);
        return std::vector<std::string>(std::istream_iterator<std::string>(in_words), {});
      };
      EXPECT_EQ(words(contents_of(out)), words(expected));
    }
  }
}

TEST(Medit, MeshesGoRound) {
  for (const bool has_tets : {false, true}) {
    mesh::MeshTables tables =
        mesh::make_box(world(), {.n = {5, 4, 3}, .high = {1.0 / 3, 2.0 / 7, 1e-17}, .tets = has_tets});
    WholeFile before(world(), tables);
    std::ranges::stable_sort(before.cells, {}, &MeditCell::first);  // sides first
    mesh::partition_cells(world(), tables, 5);
    const mesh::Mesh mesh(world(), tables);
    for (const char* name : {"box.mesh", "box.meshb"}) {
      SCOPED_TRACE(name);
      const std::string path = (test::scratch() / name).string();
      write(mesh, path);
      WholeFile after(world(), read_tables(world(), path));
      EXPECT_EQ(after.coordinates, before.coordinates);
      EXPECT_EQ(after.cells, before.cells);
      // Sets lose their names and their order, but keep their ids and members.
      const auto by_id = [](const WholeFile& file) {
        std::map<std::pair<SetKind, std::int32_t>, MeditRowSet> sets;
        for (std::size_t s = 0; s < file.sets.size(); ++s)
          sets[{std::get<0>(file.sets[s]), std::get<1>(file.sets[s])}] = file.members[s];
        return sets;
      };
      EXPECT_EQ(by_id(after), by_id(before));
      EXPECT_EQ(read(world(), path).checksum(), mesh.checksum());
    }
  }
}

/// Make two blocks of triangles around one of quads, and nested sets. Collective.
mesh::MeshTables tables_of_three_blocks() {
  const int n_ranks = world().size();
  const Rank rank = world().rank();
  mesh::MeshTables tables;
  tables.vertices = {7, n_ranks};
  for (std::int64_t v = tables.vertices.first(rank); v < tables.vertices.first(rank + 1); ++v)
    for (const std::int64_t x : {v, v % 2, v % 3}) tables.coordinates.push_back(static_cast<double>(x));
  const auto add = [&](CellType type, const std::vector<std::vector<std::int64_t>>& cells) {
    mesh::CellBlock block{type, {std::ssize(cells), n_ranks}, mesh::topology(type).n_corners, {}, {}};
    for (std::int64_t c = block.rows.first(rank); c < block.rows.first(rank + 1); ++c)
      for (const std::int64_t vertex : cells[c]) block.nodes.push_back(GlobalId{vertex});
    tables.blocks.push_back(std::move(block));
  };
  add(CellType::triangle, {{0, 1, 2}, {1, 2, 3}});
  add(CellType::quad, {{0, 1, 4, 5}});
  add(CellType::triangle, {{2, 3, 6}, {3, 4, 6}, {4, 5, 6}});
  tables.sets.push_back({SetKind::other, 0, "RequiredTriangles"});
  tables.sets.push_back({SetKind::geometry, 8, "volume"});
  tables.sets.push_back({SetKind::material, 9, "steel"});
  tables.sets.push_back({SetKind::material, 4, ""});
  tables.sets.push_back({SetKind::dirichlet, 6, ""});
  tables.sets[2].contained = {{1}};
  if (rank == 0)
    tables.members = {{0, mesh::Dim::face, 1, 3},  // a triangle, the quad, a triangle
                      {1, mesh::Dim::face, 4, 2},  // steel, through its contained set
                      {3, mesh::Dim::face, 2, 3},  // one is also in steel
                      {4, mesh::Dim::face, 0, 1},  // Dirichlet sets do not apply to faces
                      {4, mesh::Dim::vertex, 3, 1}};
  return tables;
}

TEST(Medit, BlocksOfOneTypeFollowEachOtherAndTheFirstSetCounts) {
  const std::string path = (test::scratch() / "blocks.mesh").string();
  write_medit(world(), tables_of_three_blocks(), path);
  const WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.cells, (std::vector<MeditCell>{{CellType::triangle, {0, 1, 2}},
                                                 {CellType::triangle, {1, 2, 3}},
                                                 {CellType::triangle, {2, 3, 6}},
                                                 {CellType::triangle, {3, 4, 6}},
                                                 {CellType::triangle, {4, 5, 6}},
                                                 {CellType::quad, {0, 1, 4, 5}}}));
  EXPECT_EQ(found.sets, (std::vector<MeditSet>{{SetKind::material, 4, ""},
                                               {SetKind::material, 9, ""},
                                               {SetKind::dirichlet, 6, ""},
                                               {SetKind::other, 0, "RequiredTriangles"}}));
  EXPECT_EQ(found.members, (std::vector<MeditRowSet>{{{2, 2}, {2, 5}}, {{2, 3}, {2, 4}}, {{0, 3}}, {{2, 1}, {2, 2}}}));
}

TEST(Medit, CellsWithoutAPlaceAreRefused) {
  const std::string path = (test::scratch() / "refused.mesh").string();
  const auto refusal = [&](const mesh::MeshTables& tables) {
    try {
      write_medit(world(), tables, path);
      return std::string("written");
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.cause();
    }
  };
  EXPECT_EQ(refusal(test::honeycomb(world(), 2, 2, 1)), "has polyhedra, which Medit files cannot hold");
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {1, 1, 1}, .tets = true});
  for (mesh::CellBlock& block : tables.blocks)
    if (block.type == CellType::tet) block.nodes_per_cell = 10;
  EXPECT_EQ(refusal(tables), "has tets of 10 nodes, which barrio does not write to Medit files");
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace barrio::io
