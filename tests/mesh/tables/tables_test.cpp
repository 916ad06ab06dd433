#include "barrio/mesh/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/sides/dual_graph.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

TEST(Tables, KuhnBoxFillsItsVolumeWithPositiveTets) {
  const MeshTables tables = make_box(world(), {.n = {3, 4, 2}, .high = {3.0, 8.0, 1.0}, .tets = true});
  const test::WholeMesh whole(world(), tables);
  double volume = 0.0;
  for (const auto& cell : whole.cells) {
    const auto& a = whole.vertices[static_cast<std::size_t>(cell.nodes[0])];
    std::array<std::array<double, 3>, 3> e{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) e[i][k] = whole.vertices[cell.nodes[i + 1]][k] - a[k];
    const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                       e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                       e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    EXPECT_GT(det, 0.0);
    volume += det / 6.0;
  }
  EXPECT_NEAR(volume, 24.0, 1e-12);
}

TEST(Tables, ABoxOf64VolumesHasTheSetsOfItsGeometry) {
  for (const bool tets : {false, true}) {
    const MeshTables tables =
        make_box(world(), {.n = {9, 8, 11}, .tets = tets, .volumes = {4, 4, 4}, .parts = {2, 1, 3}});
    validate(world(), tables, "64 volumes");
    std::array<int, 4> n_geometry{};
    int n_materials = 0;
    for (const SetInfo& set : tables.sets) {
      if (set.kind == SetKind::geometry) n_geometry[value(set.geometry_dim)] += 1;
      n_materials += set.kind == SetKind::material ? 1 : 0;
    }
    EXPECT_EQ(n_geometry, (std::array<int, 4>{125, 300, 240, 64}));
    EXPECT_EQ(n_materials, 64);
    Mesh mesh(world(), tables, {.ghost_layers = 1});
    mesh.validate();
    EXPECT_EQ(mesh.n_parts(), 6);
    EXPECT_EQ(mesh.n_global(Dim::volume), 9 * 8 * 11 * (tets ? 6 : 1));
    // All listed faces and edges are sides of cells: 5 planes and 25 lines in each direction.
    EXPECT_EQ(mesh.n_global(Dim::face), 5 * (8 * 11 + 9 * 11 + 9 * 8) * (tets ? 2 : 1));
    EXPECT_EQ(mesh.n_global(Dim::edge), 25 * (9 + 8 + 11));
    // Each cell is in one volume, each listed face in one surface, each listed edge in one curve; points are vertices.
    std::array<std::int64_t, 4> members{};
    for (const MeshSet& set : mesh.sets()) {
      if (set.info.kind != SetKind::geometry) continue;
      const auto d = static_cast<std::size_t>(value(set.info.geometry_dim));
      const Range& all = d == 0 ? set.vertices : set.entities[d];
      for (const LocalId id : all) members[d] += index(id) < mesh.n_owned(Dim{static_cast<int>(d)}) ? 1 : 0;
    }
    mpi::all_reduce(world(), std::span<std::int64_t>(members), MPI_SUM);
    EXPECT_EQ(members, (std::array<std::int64_t, 4>{125, mesh.n_global(Dim::edge), mesh.n_global(Dim::face),
                                                    mesh.n_global(Dim::volume)}));
    // Surface 1 lies on x = 0.
    const MeshSet& surface = mesh.set(SetKind::geometry, "surface 1");
    for (const LocalId face : surface.entities[2])
      for (const LocalId v : mesh.entities(Dim::face).nodes_of(index(face)))
        EXPECT_EQ(mesh.vertices().coordinates[3 * index(v)], 0.0);
  }
}

TEST(Tables, ABoxRefusesMorePiecesThanCells) {
  EXPECT_THROW(static_cast<void>(make_box(world(), {.n = {3, 3, 3}, .volumes = {4, 1, 1}})), AgreedError);
  EXPECT_THROW(static_cast<void>(make_box(world(), {.n = {3, 3, 3}, .volumes = {0, 1, 1}})), AgreedError);
  EXPECT_THROW(static_cast<void>(make_box(world(), {.n = {3, 3, 3}, .parts = {1, 0, 2}})), AgreedError);
}

TEST(Tables, DualGraphOfAHexBoxHasItsInnerFaces) {
  const MeshTables tables = make_box(world(), {.n = {5, 4, 3}});
  const partition::Graph graph = dual_graph(world(), tables);
  EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(graph.neighbours.size())),
            2 * (4 * 4 * 3 + 5 * 3 * 3 + 5 * 4 * 2));
  const std::int64_t first = graph.vertices.first(world().rank());
  for (std::size_t v = 0; v + 1 < graph.offsets.size(); ++v) {
    for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const std::int64_t step = std::abs(value(graph.neighbours[e]) - first - static_cast<std::int64_t>(v));
      EXPECT_TRUE(step == 1 || step == 5 || step == 20) << step;
    }
  }
}

TEST(Tables, EveryPartitionerBalancesAndCutsFewSides) {
  for (const std::string& method : partitioner_names()) {
    const auto available = partition::available_graph_methods();
    MeshTables tables = make_box(world(), {.n = {8, 8, 8}, .tets = true});
    const bool is_by_coordinates = method == "rcb" || method == "hilbert";
    if (!is_by_coordinates && std::find(available.begin(), available.end(), method) == available.end()) {
      EXPECT_THROW(partition_cells(world(), tables, 6, method), AgreedError);
      continue;
    }
    partition_cells(world(), tables, 6, method);
    const partition::Graph graph = dual_graph(world(), tables);
    const auto quality = partition::cut_quality(world(), graph, tables.parts, 6);
    EXPECT_LT(quality.imbalance, is_by_coordinates ? 1.003 : 1.1) << method;
    EXPECT_EQ(quality.n_empty_parts, 0);
    EXPECT_LT(quality.n_cut_edges, method == "hilbert" ? 900 : 700) << method;
  }
}

TEST(Tables, LabelsByCoordinatesAreThoseOfOneRank) {
  for (const auto& [method, expected] :
       {std::pair<std::string, std::uint64_t>{"rcb", 10007844046454400644U}, {"hilbert", 10243267100311537154U}}) {
    MeshTables tables = make_box(world(), {.n = {7, 5, 3}, .tets = true});
    partition_cells(world(), tables, 5, method);
    const test::WholeMesh whole(world(), tables);
    std::uint64_t hash = 0;
    for (const auto& cell : whole.cells) hash = hash * 31 + static_cast<std::uint64_t>(cell.part);
    EXPECT_EQ(hash, expected) << "the value of one rank, written down";
  }
}

TEST(Tables, AnUnknownPartitionerIsRefusedWithAGuess) {
  MeshTables tables = make_box(world(), {.n = {2, 2, 2}});
  try {
    partition_cells(world(), tables, 2, "mettis");
    FAIL();
  } catch (const AgreedError& error) {
    EXPECT_NE(error.cause().find("Did you mean 'metis'?"), std::string::npos);
  }
  EXPECT_THROW(partition_cells(world(), tables, 0), AgreedError);
}

/// Describe the mesh without row numbers: cells by coordinates, with part and sets.
std::multimap<std::vector<double>, std::vector<std::int32_t>> by_coordinates(const MeshTables& tables) {
  const test::WholeMesh whole(world(), tables);
  std::multimap<std::vector<double>, std::vector<std::int32_t>> all;
  for (const auto& cell : whole.cells) {
    std::vector<double> key;
    for (const std::int64_t node : cell.nodes)
      for (const double x : whole.vertices[node]) key.push_back(x);
    all.insert({key, {cell.part}});
  }
  return all;
}

TEST(Tables, ReorderingByPartKeepsTheMeshAndPutsPartsInOrder) {
  MeshTables tables = make_box(world(), {.n = {6, 5, 4}, .tets = true});
  partition_cells(world(), tables, 7);
  const auto before = by_coordinates(tables);
  tables = reorder_by_part(world(), std::move(tables));
  validate(world(), tables, "reordered box");
  EXPECT_EQ(by_coordinates(tables), before);
  EXPECT_TRUE(std::is_sorted(tables.parts.begin(), tables.parts.end()));
  // Sets follow the cells: the faces of x- are still on x = 0.
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  mesh.validate();
  const MeshSet& low = mesh.set(SetKind::neumann, "x-");
  std::int64_t n_owned = 0;
  for (const LocalId id : low.entities[2]) {
    n_owned += index(id) < mesh.entities(Dim::face).n_owned ? 1 : 0;
    for (const LocalId node : mesh.entities(Dim::face).nodes_of(index(id)))
      EXPECT_EQ(mesh.vertices().coordinates[3 * index(node)], 0.0);
  }
  EXPECT_EQ(mpi::sum(world(), n_owned), 2 * 5 * 4);
}

TEST(Tables, ValidateNamesTheFault) {
  const auto fault_of = [](MeshTables tables) {
    try {
      validate(world(), tables, "box");
      return std::string("none");
    } catch (const AgreedError& error) {
      return error.cause();
    }
  };
  const MeshTables good = make_box(world(), {.n = {3, 3, 3}});
  EXPECT_EQ(fault_of(good), "none");
  MeshTables torn = good;
  if (!torn.blocks[0].nodes.empty()) torn.blocks[0].nodes[0] = GlobalId{1000};
  EXPECT_NE(fault_of(torn).find("has vertex 1000, but there are 64 vertices"), std::string::npos);
  MeshTables nan = good;
  if (world().rank() == world().size() - 1) nan.coordinates.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(fault_of(nan).find("vertex 63 is not a finite number"), std::string::npos);
  MeshTables partless = good;
  partition_cells(world(), partless, 4);
  if (world().rank() == world().size() - 1) partless.parts.back() = -1;
  EXPECT_NE(fault_of(partless).find("leaves out 1 element(s), the first is element 26"), std::string::npos);
}

TEST(Tables, PartsComeFromRunsThatAnyRankHolds) {
  // Cells of two blocks; part p has the rows r with r / 5 % 4 == p. Ranks hold ranges in turn, some longer than a slab.
  MeshTables tables;
  for (const std::int64_t n : {37, 61}) {
    CellBlock& block = tables.blocks.emplace_back();
    block.type = n == 37 ? CellType::tet : CellType::hex;
    block.rows = {n, world().size()};
  }
  const auto part_of = [](std::int64_t row) { return static_cast<std::int32_t>(row / 5 % 4); };
  std::vector<PartRows> runs;
  for (std::int64_t row = 0; row < 98; row += 5)
    if ((row / 5) % world().size() == world().rank())
      runs.push_back({row, static_cast<std::int32_t>(std::min<std::int64_t>(5, 98 - row)), part_of(row)});
  assign_parts(world(), tables, runs, 4, "runs");
  EXPECT_EQ(tables.n_parts, 4);
  const std::vector<GlobalId> ids = top_ids(world(), tables);
  ASSERT_EQ(tables.parts.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(tables.parts[i], part_of(value(ids[i])));

  // One range of all rows, on one rank; a second range of one cell is refused on all ranks.
  runs.clear();
  if (world().rank() == 0) runs.push_back({0, 98, 2});
  assign_parts(world(), tables, runs, 3, "one run");
  EXPECT_TRUE(std::ranges::all_of(tables.parts, [](std::int32_t part) { return part == 2; }));
  if (world().rank() == world().size() - 1) runs.push_back({40, 1, 1});
  try {
    assign_parts(world(), tables, runs, 3, "a repetition");
    FAIL() << "a cell in two parts was taken";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("element 40"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace barrio::mesh
