#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::world;
namespace fs = std::filesystem;

mesh::MeshTables wing(mpi::Context& context) {
  mesh::MeshTables tables = read_tables(context, test::data("wing/wing_coarse.msh").string());
  mesh::partition_cells(context, tables, 6);
  return tables;
}

/// Write a series of three steps with fields that depend only on global ids.
void write_series(mpi::Context& context, const fs::path& path) {
  mesh::Mesh mesh(context, wing(context), {.ghost_layers = 1});
  auto heat = mesh.add_field<double>("heat", Dim::vertex);
  auto speed = mesh.add_field<float>("speed", Dim::vertex, 3);
  auto count = mesh.add_field<std::int64_t>("count", Dim::volume);
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) count.values()[c] = 7 * value(mesh.cells().global_ids[c]);
  VtkhdfWriter writer(mesh, path.string(), {.fields = {"heat", "speed", "count"}, .has_steps = true});
  for (int step = 0; step < 3; ++step) {
    for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
      const auto id = static_cast<double>(value(mesh.vertices().global_ids[v]));
      heat.values()[v] = id + 0.25 * step;
      for (std::size_t k = 0; k < 3; ++k)
        speed.values()[3 * v + k] = static_cast<float>(id * step + static_cast<double>(k));
    }
    writer.write_step(0.5 * step);
  }
  writer.close();
}

TEST(Vtkhdf, ContentsDoNotDependOnTheRankCount) {
  const fs::path by_all = test::scratch() / "by_all.vtkhdf";
  const fs::path by_one = test::scratch() / "by_one.vtkhdf";
  write_series(world(), by_all);
  const mpi::Comm split = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : MPI_UNDEFINED, 0);
  if (world().rank() != 0) return;
  mpi::Context alone(split.get());
  write_series(alone, by_one);
  EXPECT_EQ(test::digest(by_all), test::digest(by_one));
  EXPECT_GT(test::digest(by_all).size(), 25U);
  EXPECT_FALSE(fs::exists(by_all.string() + ".part"));
}

/// Write a series without every fifth cell from step 1 on, and without changes between steps 1 and 2.
void write_changing(mpi::Context& context, const fs::path& path) {
  mesh::Mesh mesh(context, wing(context), {.ghost_layers = 1});
  auto count = mesh.add_field<std::int64_t>("count", Dim::volume);
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) count.values()[c] = 7 * value(mesh.cells().global_ids[c]);
  VtkhdfWriter writer(mesh, path.string(), {.fields = {"count"}, .has_steps = true});
  writer.write_step(0.0);
  mesh::LocalMesh local = std::move(mesh).release();
  mesh::Range kept;
  for (std::size_t c = 0; c < local.size(Dim::volume); ++c)
    if (value(local.entities[3].ids[c]) % 5 != 0) kept.insert(local_id(c));
  keep_cells(local, kept);
  mesh = adopt(context, std::move(local));
  writer.write_step(1.0);
  writer.write_step(2.0);
  writer.close();
}

TEST(Vtkhdf, AMeshThatChanges) {
  const fs::path by_all = test::scratch() / "changing.vtkhdf";
  const fs::path by_one = test::scratch() / "changing_by_one.vtkhdf";
  write_changing(world(), by_all);
  const mpi::Comm split = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : MPI_UNDEFINED, 0);
  if (world().rank() != 0) return;
  mpi::Context alone(split.get());
  write_changing(alone, by_one);
  EXPECT_EQ(test::digest(by_all), test::digest(by_one));

  const auto read = [&](const std::string& name) { return test::numbers(by_all, "/VTKHDF/" + name); };
  using Numbers = std::vector<double>;
  const Numbers points = read("NumberOfPoints");
  const Numbers cells = read("NumberOfCells");
  const Numbers nodes = read("NumberOfConnectivityIds");
  ASSERT_EQ(cells.size(), 12U) << "six pieces before, six after";
  const auto of_first = [](const Numbers& all) { return std::accumulate(all.begin(), all.begin() + 6, 0.0); };
  const auto second = [](double first) { return Numbers{0, first, first}; };
  EXPECT_EQ(read("Steps/PartOffsets"), second(6));
  EXPECT_EQ(read("Steps/NumberOfParts"), (Numbers{6, 6, 6}));
  EXPECT_EQ(read("Steps/PointOffsets"), second(of_first(points)));
  EXPECT_EQ(read("Steps/CellOffsets"), second(of_first(cells)));
  EXPECT_EQ(read("Steps/ConnectivityIdOffsets"), second(of_first(nodes)));
  EXPECT_EQ(read("Steps/CellDataOffsets/count"), second(of_first(cells)));
  EXPECT_EQ(read("Steps/CellDataOffsets/part"), second(of_first(cells)));
  const Numbers count = read("CellData/count");
  ASSERT_EQ(count.size(), read("Types").size());
  Numbers expected;
  for (std::size_t c = 0; c < static_cast<std::size_t>(of_first(cells)); ++c)
    if (static_cast<std::int64_t>(count[c]) % 35 != 0) expected.push_back(count[c]);
  EXPECT_EQ(Numbers(count.begin() + static_cast<std::ptrdiff_t>(of_first(cells)), count.end()), expected);
}

TEST(Vtkhdf, StepsSayWhereTheirValuesBegin) {
  const fs::path path = test::scratch() / "steps.vtkhdf";
  write_series(world(), path);
  if (world().rank() != 0) return;
  const auto read = [&](const std::string& name) { return test::numbers(path, "/VTKHDF/" + name); };
  using Numbers = std::vector<double>;
  const auto n_points = static_cast<double>(read("Points").size() / 3);
  EXPECT_EQ(read("Steps/Values"), (Numbers{0.0, 0.5, 1.0}));
  EXPECT_EQ(read("Steps/NumberOfParts"), (Numbers{6, 6, 6}));
  for (const char* constant : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets",
                               "CellDataOffsets/part", "CellDataOffsets/material", "CellDataOffsets/count"})
    EXPECT_EQ(read(std::string("Steps/") + constant), (Numbers{0, 0, 0})) << constant;
  for (const char* changing : {"heat", "speed"})
    EXPECT_EQ(read(std::string("Steps/PointDataOffsets/") + changing), (Numbers{0, n_points, 2 * n_points}))
        << changing;
  const Numbers heat = read("PointData/heat");
  ASSERT_EQ(static_cast<double>(heat.size()), 3 * n_points);
  const auto n = static_cast<std::size_t>(n_points);
  for (std::size_t p = 0; p < n; ++p) {
    EXPECT_EQ(heat[n + p], heat[p] + 0.25);
    EXPECT_EQ(heat[2 * n + p], heat[p] + 0.5);
  }
  EXPECT_EQ(read("PointData/speed").size(), 9 * n);
}

TEST(Vtkhdf, GeometryEqualsTheSerialOracle) {
  const fs::path path = test::scratch() / "geometry.vtkhdf";
  const mesh::MeshTables tables = wing(world());
  const test::WholeMesh whole(world(), tables);
  write(mesh::Mesh(world(), tables), path.string());
  if (world().rank() != 0) return;
  const auto read = [&](const std::string& name) { return test::numbers(path, "/VTKHDF/" + name); };
  const auto n_points = read("NumberOfPoints");
  const auto n_cells = read("NumberOfCells");
  const auto n_ids = read("NumberOfConnectivityIds");
  const auto points = read("Points");
  const auto ids = read("Connectivity");
  const auto offsets = read("Offsets");
  const auto types = read("Types");
  const auto parts = read("CellData/part");
  const auto materials = read("CellData/material");
  ASSERT_EQ(n_points.size(), 6U);
  std::size_t point = 0;
  std::size_t cell = 0;
  std::size_t id = 0;
  std::map<int, int> n_of_material;
  for (std::size_t piece = 0; piece < n_points.size(); ++piece) {
    std::vector<std::size_t> expected;  // cells of this part, by id
    for (std::size_t c = 0; c < whole.cells.size(); ++c)
      if (whole.cells[c].part == static_cast<int>(piece)) expected.push_back(c);
    ASSERT_EQ(n_cells[piece], static_cast<double>(expected.size()));
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const auto first = static_cast<std::size_t>(offsets[cell + piece + c]);
      const auto last = static_cast<std::size_t>(offsets[cell + piece + c + 1]);
      const auto& nodes = whole.cells[expected[c]].nodes;
      ASSERT_EQ(last - first, nodes.size());
      for (std::size_t k = 0; k < nodes.size(); ++k)
        for (std::size_t d = 0; d < 3; ++d)
          ASSERT_EQ(points[3 * (point + static_cast<std::size_t>(ids[id + first + k])) + d],
                    whole.vertices[nodes[k]][d]);
      EXPECT_EQ(types[cell + c], 10.0);  // VTK_TETRA
      EXPECT_EQ(parts[cell + c], static_cast<double>(piece));
      n_of_material[static_cast<int>(materials[cell + c])] += 1;
    }
    EXPECT_EQ(offsets[cell + piece + expected.size()], n_ids[piece]);
    point += static_cast<std::size_t>(n_points[piece]);
    cell += expected.size();
    id += static_cast<std::size_t>(n_ids[piece]);
  }
  EXPECT_EQ(3 * point, points.size());
  EXPECT_EQ(cell, types.size());
  EXPECT_EQ(id, ids.size());
  EXPECT_EQ(n_of_material, (std::map<int, int>{{11, 1978}, {12, 2613}}));
}

TEST(Vtkhdf, RanksWithGhostsShowTheDistribution) {
  const fs::path path = test::scratch() / "ghosts.vtkhdf";
  const mesh::Mesh mesh(world(), wing(world()), {.ghost_layers = 1});
  VtkhdfWriter writer(mesh, path.string(), {.pieces = Pieces::ranks_with_ghosts});
  writer.close();
  const auto n_ghosts = mpi::sum(world(), static_cast<std::int64_t>(mesh.n_ghost(Dim::volume)));
  if (world().rank() != 0) return;
  const auto read = [&](const std::string& name) { return test::numbers(path, "/VTKHDF/" + name); };
  EXPECT_EQ(static_cast<int>(read("NumberOfCells").size()), world().size());
  const auto ghost = read("CellData/vtkGhostType");
  const auto owner = read("CellData/owner");
  const auto rank = read("CellData/rank");
  EXPECT_EQ(static_cast<std::int64_t>(ghost.size()), 4591 + n_ghosts);
  std::int64_t n_marked = 0;
  for (std::size_t c = 0; c < ghost.size(); ++c) {
    EXPECT_EQ(ghost[c] != 0.0, owner[c] != rank[c]);
    n_marked += ghost[c] != 0.0 ? 1 : 0;
  }
  EXPECT_EQ(n_marked, n_ghosts);
}

TEST(Vtkhdf, UnknownFieldsAndForgottenFilesLeaveNothing) {
  const fs::path path = test::scratch() / "never.vtkhdf";
  mesh::Mesh mesh(world(), wing(world()));
  mesh.add_field<double>("temperature", Dim::vertex);
  try {
    const VtkhdfWriter writer(mesh, path.string(), {.fields = {"temprature"}});
    FAIL();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.cause().find("Did you mean 'temperature'?"), std::string::npos) << error.what();
  }
  {
    const VtkhdfWriter forgotten(mesh, path.string(), {});
  }
  mpi::barrier(world());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

}  // namespace
}  // namespace barrio::io
