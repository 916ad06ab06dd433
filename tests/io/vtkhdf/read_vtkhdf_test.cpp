// VTKHDF files by barrio's own writer and by hand. tests/cli/test_vtk_files.py has those of VTK itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using test::expect_refusal;
using test::verdict;
using test::verdict_after;
using test::WholeFile;
using test::world;
namespace fs = std::filesystem;
using VtkhdfCell = WholeFile::Cell;

mesh::MeshTables wing_of(int n_parts) {
  mesh::MeshTables tables = read_tables(world(), test::data("wing/wing_coarse.msh").string());
  mesh::partition_cells(world(), tables, n_parts);
  return tables;
}

std::string write_as(const mesh::MeshTables& tables, const std::string& name, Pieces pieces = Pieces::parts) {
  const mesh::Mesh mesh(world(), tables, {.ghost_layers = 1});
  const std::string path = (test::scratch() / name).string();
  VtkhdfWriter writer(mesh, path, {.pieces = pieces, .with_tags = true});
  writer.close();
  return path;
}

/// Expect the vertices, cells, parts and materials of a mesh in the order of their ids. Other sets and sides are lost.
void expect_same_mesh(const mesh::MeshTables& wanted, const mesh::MeshTables& found) {
  EXPECT_EQ(mesh::Mesh(world(), found).checksum(), mesh::Mesh(world(), wanted).checksum());
  EXPECT_EQ(WholeFile(world(), found).parts, WholeFile(world(), wanted).parts);
  const auto materials = [](const WholeFile& all) {
    std::map<std::int32_t, std::set<std::pair<int, std::int64_t>>> of_id;
    for (std::size_t s = 0; s < all.sets.size(); ++s)
      if (std::get<0>(all.sets[s]) == mesh::SetKind::material) of_id[std::get<1>(all.sets[s])] = all.members[s];
    return of_id;
  };
  EXPECT_EQ(materials(WholeFile(world(), found)), materials(WholeFile(world(), wanted)));
}

TEST(ReadVtkhdf, PiecesBecomeTheMeshThatWasWritten) {
  for (const int n_parts : {1, 6}) {
    const mesh::MeshTables tables = wing_of(n_parts);
    testing::internal::CaptureStderr();
    const mesh::MeshTables found = read_tables(world(), write_as(tables, fmt::format("wing{}.vtkhdf", n_parts)));
    const std::string said = testing::internal::GetCapturedStderr();
    expect_same_mesh(tables, found);
    EXPECT_EQ(said.find("are one mesh") != std::string::npos, n_parts > 1 && world().rank() == 0) << said;
  }
}

TEST(ReadVtkhdf, GhostsAreDropped) {
  const mesh::MeshTables tables = wing_of(5);
  const std::string path = write_as(tables, "wing_with_ghosts.vtkhdf", Pieces::ranks_with_ghosts);
  testing::internal::CaptureStderr();
  const mesh::MeshTables found = read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  expect_same_mesh(tables, found);
  EXPECT_EQ(said.find("ghost cell(s)") != std::string::npos, world().size() > 1 && world().rank() == 0) << said;
}

TEST(ReadVtkhdf, TagsComeBack) {
  mesh::MeshTables tables = wing_of(3);
  std::vector<double> heights;
  for (std::int64_t row = 0; row < std::ssize(tables.coordinates) / 3; ++row)
    heights.push_back(1e-3 * static_cast<double>(tables.vertices.first(world().rank()) + row));
  std::vector<std::int32_t> pairs;
  const std::int32_t block = static_cast<std::int32_t>(tables.blocks.size()) - 1;
  const Slabs& cells = tables.slabs_of(block);
  for (std::int64_t row = cells.first(world().rank()); row < cells.first(world().rank() + 1); ++row)
    for (const std::int64_t k : {3 * row, -row}) pairs.push_back(static_cast<std::int32_t>(k));
  tables.tags.push_back({.info = {.name = "height", .type = mesh::TagType::float64}, .columns = {}});
  tables.tags.back().columns.push_back(detail::dense_column(-1, heights));
  tables.tags.push_back({.info = {.name = "pair", .type = mesh::TagType::int32, .n_components = 2}, .columns = {}});
  tables.tags.back().columns.push_back(detail::dense_column(block, pairs));
  const mesh::MeshTables found = read_tables(world(), write_as(tables, "tagged.vtkhdf"));
  ASSERT_EQ(found.tags.size(), 2U);  // ids that say no more than the rows are none
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(found.tags[t].info.name, tables.tags[t].info.name);
    EXPECT_EQ(found.tags[t].info.n_components, tables.tags[t].info.n_components);
    EXPECT_EQ(found.tags[t].columns[0].items.bytes, tables.tags[t].columns[0].items.bytes);
  }
}

/// Remove the marks of the ids on rank 0.
void forget_ids(const fs::path& path) {
  if (world().rank() == 0)
    for (const char* name : {"/VTKHDF/PointData/GlobalPointIds", "/VTKHDF/CellData/GlobalCellIds"})
      test::remove_link(path, name);
  mpi::barrier(world());
}

TEST(ReadVtkhdf, WithoutIdsEqualPlacesAreMerged) {
  const mesh::MeshTables tables = wing_of(6);
  const std::string path = write_as(tables, "without_ids.vtkhdf");
  forget_ids(path);
  const mesh::MeshTables found = read_tables(world(), path);
  EXPECT_EQ(found.vertices.n_rows, tables.vertices.n_rows);
  EXPECT_EQ(found.n_global(mesh::Dim::volume), tables.n_global(mesh::Dim::volume));
  const mesh::Mesh wanted(world(), tables);
  const mesh::Mesh mesh(world(), found);
  EXPECT_EQ(mesh.n_global(mesh::Dim::vertex), wanted.n_global(mesh::Dim::vertex));
  if (world().rank() != 0) return;
  const Json shown = inspect(path);
  EXPECT_EQ(shown["vertices"], tables.vertices.n_rows);
  EXPECT_EQ(shown["pieces"], 6);
  EXPECT_EQ(shown["entities"]["tets"], tables.n_global(mesh::Dim::volume));
}

TEST(ReadVtkhdf, IdsThatAreNoneAreNotUsed) {
  const mesh::MeshTables tables = wing_of(6);
  const std::string path = write_as(tables, "wrong_ids.vtkhdf");
  if (world().rank() == 0)  // points of one id at different places
    test::set_value(path, "/VTKHDF/PointData/GlobalPointIds", 0, static_cast<double>(tables.vertices.n_rows - 1));
  mpi::barrier(world());
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_tables(world(), path).vertices.n_rows, tables.vertices.n_rows);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("is marked as global ids of points, but") != std::string::npos, world().rank() == 0) << said;
}

TEST(ReadVtkhdf, PolyhedraComeBackWithTheirFaces) {
  mesh::MeshTables tables = test::as_polyhedra(wing_of(1));
  for (const int n_parts : {1, 3}) {
    mesh::partition_cells(world(), tables, n_parts);
    expect_same_mesh(tables, read_tables(world(), write_as(tables, fmt::format("polyhedra{}.vtkhdf", n_parts))));
  }
}

TEST(ReadVtkhdf, AStepIsChosenAlsoOfAMeshThatChanges) {
  const std::string path = (test::scratch() / "changes.vtkhdf").string();
  std::vector<std::uint64_t> sums;
  {
    mesh::Mesh mesh(world(), wing_of(4), {.ghost_layers = 1});
    auto count = mesh.add_field<std::int64_t>("count", mesh::Dim::volume);
    for (std::size_t c = 0; c < mesh.cells().size(); ++c) count.values()[c] = 7 * value(mesh.cells().global_ids[c]);
    VtkhdfWriter writer(mesh, path, {.fields = {"count"}, .has_steps = true});
    writer.write_step(0.0);
    mesh::LocalMesh local = std::move(mesh).release();
    mesh::Range kept;
    for (std::size_t c = 0; c < local.size(mesh::Dim::volume); ++c)
      if (value(local.entities[3].ids[c]) % 5 != 0) kept.insert(local_id(c));
    keep_cells(local, kept);
    mesh = adopt(world(), std::move(local));
    writer.write_step(1.0);
    writer.write_step(2.0);
    writer.close();
  }
  const std::int64_t n = wing_of(4).n_global(mesh::Dim::volume);
  const auto cells_at = [&](int step) {
    const mesh::MeshTables tables = read_tables(world(), path, {.step = step});
    const auto count = std::ranges::find(tables.tags, "count", [](const auto& tag) { return tag.info.name; });
    EXPECT_NE(count, tables.tags.end());
    // Ids of cells have gaps after the change, so the values follow the order of the ids.
    std::vector<std::int32_t> values(count->columns[0].items.bytes.size() / 4);
    std::memcpy(values.data(), count->columns[0].items.bytes.data(), count->columns[0].items.bytes.size());
    EXPECT_TRUE(std::ranges::is_sorted(values));
    for (const std::int32_t one : values) EXPECT_TRUE(step == 1 || one % 35 != 0);
    return tables.n_global(mesh::Dim::volume);
  };
  EXPECT_EQ(cells_at(1), n);
  EXPECT_EQ(cells_at(2), n - (n + 4) / 5);
  EXPECT_EQ(cells_at(0), n - (n + 4) / 5);
  try {
    read_tables(world(), path, {.step = 4});
    ADD_FAILURE() << "step 4 was read";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("steps 1 to 3"), std::string::npos) << error.what();
  }
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(path)["time_steps"], 3);
  EXPECT_EQ(inspect(path)["times"], Json({0.0, 1.0, 2.0}));
}

using VtkhdfNumbers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// Write two pieces of polygonal data, each with a point, poly-lines, polygons and strips.
std::string write_polygons(const std::string& name) {
  const std::string path = (test::scratch() / name).string();
  files::FileWriter file(world(), path, 1 << 16);
  file.make_group("/VTKHDF");
  file.write_attribute("/VTKHDF", "Type", "PolyData");
  file.write_attribute("/VTKHDF", "Version", std::vector<std::int64_t>{2, 0});
  const Reals points{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, /* second */ 1, 0, 0, 2, 0, 0, 2, 1, 0, 1, 1, 0, 3, 3, 3};
  file.write_small<double>("/VTKHDF/Points", points, 3);
  file.write_small<std::int64_t>("/VTKHDF/NumberOfPoints", VtkhdfNumbers{4, 5});
  const auto list = [&](const std::string& group, const VtkhdfNumbers& cells, const VtkhdfNumbers& n_nodes,
                        const VtkhdfNumbers& offsets, const VtkhdfNumbers& nodes) {
    const std::string at = "/VTKHDF/" + group;
    file.make_group(at);
    file.write_small<std::int64_t>(at + "/NumberOfCells", cells);
    file.write_small<std::int64_t>(at + "/NumberOfConnectivityIds", n_nodes);
    file.write_small<std::int64_t>(at + "/Offsets", offsets);
    file.write_small<std::int64_t>(at + "/Connectivity", nodes);
  };
  list("Vertices", {0, 1}, {0, 1}, {0, 0, 1}, {4});
  list("Lines", {1, 0}, {3, 0}, {0, 3, 0}, {0, 1, 2});
  list("Polygons", {1, 1}, {4, 3}, {0, 4, 0, 3}, {0, 1, 2, 3, 0, 1, 2});
  list("Strips", {0, 1}, {0, 4}, {0, 0, 4}, {0, 1, 3, 2});
  file.make_group("/VTKHDF/CellData");
  file.write_small<double>("/VTKHDF/CellData/load", Reals{10, 20, 30, 40, 50});
  file.make_group("/VTKHDF/FieldData");
  file.write_small<double>("/VTKHDF/FieldData/time", Reals{1});
  file.close();
  return path;
}

/// Polygons that stay while their points move: each step repeats the sizes of the pieces, but not the cells.
TEST(ReadVtkhdf, PolygonsThatStayInASeries) {
  const std::string path = (test::scratch() / "moving.vtkhdf").string();
  files::FileWriter file(world(), path, 1 << 16);
  file.make_group("/VTKHDF");
  file.write_attribute("/VTKHDF", "Type", "PolyData");
  file.write_attribute("/VTKHDF", "Version", std::vector<std::int64_t>{2, 0});
  Reals points;
  for (const double z : {0.0, 1.0, 2.0})
    for (const double x : {0.0, 2.0})
      for (const auto& corner : {std::array{0.0, 0.0}, std::array{1.0, 0.0}, std::array{1.0, 1.0}})
        points.insert(points.end(), {x + corner[0], corner[1], z});
  file.write_small<double>("/VTKHDF/Points", points, 3);
  file.write_small<std::int64_t>("/VTKHDF/NumberOfPoints", VtkhdfNumbers(6, 3));
  file.make_group("/VTKHDF/Polygons");
  file.write_small<std::int64_t>("/VTKHDF/Polygons/NumberOfCells", VtkhdfNumbers(6, 1));
  file.write_small<std::int64_t>("/VTKHDF/Polygons/NumberOfConnectivityIds", VtkhdfNumbers(6, 3));
  file.write_small<std::int64_t>("/VTKHDF/Polygons/Offsets", VtkhdfNumbers{0, 3, 0, 3});
  file.write_small<std::int64_t>("/VTKHDF/Polygons/Connectivity", VtkhdfNumbers{0, 1, 2, 0, 1, 2});
  file.make_group("/VTKHDF/Steps");
  file.write_attribute("/VTKHDF/Steps", "NSteps", std::int64_t{3});
  file.write_small<double>("/VTKHDF/Steps/Values", Reals{0, 1, 2});
  file.write_small<std::int64_t>("/VTKHDF/Steps/PartOffsets", VtkhdfNumbers{0, 2, 4});
  file.write_small<std::int64_t>("/VTKHDF/Steps/NumberOfParts", VtkhdfNumbers{2, 2, 2});
  file.write_small<std::int64_t>("/VTKHDF/Steps/PointOffsets", VtkhdfNumbers{0, 6, 12});
  file.write_small<std::int64_t>("/VTKHDF/Steps/CellOffsets", VtkhdfNumbers(12, 0), 4);
  file.write_small<std::int64_t>("/VTKHDF/Steps/ConnectivityIdOffsets", VtkhdfNumbers(12, 0), 4);
  file.close();
  for (const int step : {1, 2, 3}) {
    const WholeFile found(world(), read_tables(world(), path, {.step = step}));
    EXPECT_EQ(found.cells, (std::vector<VtkhdfCell>{{CellType::triangle, {0, 1, 2}}, {CellType::triangle, {3, 4, 5}}}));
    EXPECT_EQ(found.coordinates, Reals(points.begin() + 18 * (step - 1), points.begin() + 18 * step)) << step;
  }
}

TEST(ReadVtkhdf, PolygonalDataInPieces) {
  const std::string path = write_polygons("polygons.vtkhdf");
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  const WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, (Reals{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0, 0, 2, 1, 0, 3, 3, 3}));
  EXPECT_EQ(found.cells, (std::vector<VtkhdfCell>{{CellType::edge, {0, 1}},
                                                  {CellType::edge, {1, 2}},
                                                  {CellType::triangle, {1, 4, 5}},
                                                  {CellType::quad, {0, 1, 2, 3}},
                                                  {CellType::triangle, {1, 4, 2}},
                                                  {CellType::triangle, {2, 4, 5}}}));
  if (world().rank() != 0) return;
  for (const char* part :
       {"left out: field data of the whole file 'time'", "its 2 pieces are one mesh: 2 copies of points were merged",
        "1 poly-line(s) were cut", "1 triangle strip(s) were cut"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  const Json shown = inspect(path);
  EXPECT_EQ(shown["vertices"], 7);
  EXPECT_EQ(shown["format"], "VTKHDF 2.0 PolyData");
  EXPECT_EQ(shown["unsupported"], (Json{"field data of the whole file 'time'"}));
}

TEST(ReadVtkhdf, ACrackStaysOpen) {
  const std::string path = write_polygons("crack.vtkhdf");
  constexpr std::array again{1.0, 0.0, 0.0};  // the last point gets the place of another of its piece
  for (std::size_t k = 0; k < 3 && world().rank() == 0; ++k) test::set_value(path, "/VTKHDF/Points", 24 + k, again[k]);
  mpi::barrier(world());
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(tables.vertices.n_rows, 8);
  EXPECT_EQ(said.find("at 1 place(s) a piece has several points") != std::string::npos, world().rank() == 0) << said;
}

TEST(BadVtkhdf, TypesThatAreNoMesh) {
  for (const std::string type : {"ImageData", "OverlappingAMR", "MultiBlockDataSet", "PartitionedDataSetCollection"}) {
    const std::string path = (test::scratch() / (type + ".vtkhdf")).string();
    files::FileWriter file(world(), path, 1 << 16);
    file.make_group("/VTKHDF");
    file.write_attribute("/VTKHDF", "Type", type);
    file.close();
    expect_refusal(verdict(path), "3", "is a VTKHDF file of the type '" + type + "'");
  }
}

TEST(BadVtkhdf, TheTypeMayBeMissing) {
  const std::string path = (test::scratch() / "no_type.vtkhdf").string();
  files::FileWriter file(world(), path, 1 << 16);
  file.make_group("/VTKHDF");
  file.close();
  expect_refusal(verdict(path), "3", "is a VTKHDF file that does not state its type");
}

TEST(BadVtkhdf, FaultsAreNamed) {
  const std::string good = write_polygons("good.vtkhdf");
  const auto spoil = [&](const std::string& name, const std::function<void(const fs::path&)>& damage,
                         const std::string& cause) {
    expect_refusal(verdict_after(good, name + ".vtkhdf", damage), "3", cause);
  };
  const auto set = [](const std::string& dataset, long place, double value) {
    return [=](const fs::path& path) { test::set_value(path, "/VTKHDF/" + dataset, place, value); };
  };
  spoil("node", set("Polygons/Connectivity", 2, 4), "has a cell with point 4 in a piece of 4 points");
  spoil("offsets", set("Polygons/Offsets", 1, -1), "has offsets of cells that do not ascend");
  spoil("beyond", set("Polygons/Offsets", 3, 9), "has offsets of cells that do not ascend, or exceed");
  spoil("points", set("NumberOfPoints", 1, 6), "has 9 rows in '/VTKHDF/Points', but rows 0 to 10 are announced");
  spoil("negative", set("NumberOfPoints", 1, -6), "has -6 in '/VTKHDF/NumberOfPoints', which makes no sense");
  spoil("cells", set("Lines/NumberOfCells", 0, 3), "has 5 rows in '/VTKHDF/CellData/load'");
  spoil(
      "table", [](const fs::path& path) { test::replace(path, "/VTKHDF/Polygons/NumberOfCells", {2, 3}, false); },
      "has 6 numbers for 2 pieces in '/VTKHDF/Polygons/NumberOfCells'");
  spoil(
      "empty_rows",
      [](const fs::path& path) { test::replace(path, "/VTKHDF/Lines/NumberOfConnectivityIds", {2, 0}, false); },
      "has 0 numbers for 2 pieces");
  spoil(
      "no_points", [](const fs::path& path) { test::remove_link(path, "/VTKHDF/NumberOfPoints"); },
      "lacks a list 'NumberOfPoints'");
  spoil(
      "no_nodes", [](const fs::path& path) { test::remove_link(path, "/VTKHDF/Lines/Connectivity"); },
      "is missing in the file");
}

}  // namespace
}  // namespace barrio::io
