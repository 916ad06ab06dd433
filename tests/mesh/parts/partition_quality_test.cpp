#include "barrio/mesh/partition_quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

/// Count the pieces of each part by flood fill.
std::vector<int> flood(const test::WholeMesh& whole, const std::vector<std::set<std::size_t>>& touching) {
  std::vector<int> n_pieces(whole.n_parts, 0);
  std::set<std::size_t> seen;
  for (std::size_t start = 0; start < whole.cells.size(); ++start) {
    if (seen.contains(start)) continue;
    n_pieces[whole.cells[start].part] += 1;
    std::vector<std::size_t> open{start};
    while (!open.empty()) {
      const std::size_t cell = open.back();
      open.pop_back();
      if (!seen.insert(cell).second) continue;
      for (const std::size_t other : touching[cell])
        if (whole.cells[other].part == whole.cells[cell].part) open.push_back(other);
    }
  }
  return n_pieces;
}

/// Compute all figures from their definitions, on the whole mesh. In conforming meshes, cells with three common
/// vertices share a side.
PartitionQuality judge(const test::WholeMesh& whole, const std::vector<std::int64_t>& weights) {
  PartitionQuality quality;
  const auto n_parts = static_cast<std::size_t>(whole.n_parts);
  quality.n_parts = whole.n_parts;
  std::vector<double> n_cells(n_parts, 0.0);
  std::vector<double> weight(n_parts, 0.0);
  for (std::size_t c = 0; c < whole.cells.size(); ++c) {
    n_cells[static_cast<std::size_t>(whole.cells[c].part)] += 1.0;
    weight[static_cast<std::size_t>(whole.cells[c].part)] += static_cast<double>(weights[c]);
  }
  const auto imbalance = [&](const std::vector<double>& loads) {
    double total = 0.0;
    for (const double load : loads) total += load;
    return total == 0.0 ? 1.0 : std::ranges::max(loads) * static_cast<double>(n_parts) / total;
  };
  quality.imbalance = imbalance(n_cells);
  quality.weight_imbalance = imbalance(weight);
  quality.n_empty_parts = static_cast<int>(std::ranges::count(n_cells, 0.0));

  std::vector<std::int64_t> n_shared(n_parts, 0);
  std::vector<std::set<int>> neighbours(n_parts);
  for (const auto& [vertex, parts] : whole.sharers(whole.n_parts)) {
    if (parts.size() == 1) continue;
    quality.n_shared_vertices += 1;
    for (const int part : parts) {
      n_shared[part] += 1;
      for (const int other : parts)
        if (other != part) neighbours[part].insert(other);
    }
  }
  quality.max_shared_vertices = std::ranges::max(n_shared);
  for (std::size_t p = 0; p < n_parts; ++p) {
    const auto n_ghosts = static_cast<std::int64_t>(whole.ghosts_of(static_cast<int>(p), whole.n_parts).size());
    quality.n_ghost_cells += n_ghosts;
    quality.max_ghost_cells = std::max(quality.max_ghost_cells, n_ghosts);
    const auto n = static_cast<std::int64_t>(neighbours[p].size());
    quality.max_neighbours = std::max(quality.max_neighbours, n);
    quality.mean_neighbours += static_cast<double>(n) / whole.n_parts;
  }

  std::vector<std::set<std::size_t>> touching(whole.cells.size());
  quality.n_cut_sides = 0;
  for (std::size_t a = 0; a < whole.cells.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto& nodes = whole.cells[a].nodes;
      const auto n_common = std::ranges::count_if(
          whole.cells[b].nodes, [&](std::int64_t node) { return std::ranges::find(nodes, node) != nodes.end(); });
      if (n_common < 3) continue;
      touching[a].insert(b);
      touching[b].insert(a);
      if (whole.cells[a].part != whole.cells[b].part) quality.n_cut_sides += 1;
    }
  }
  quality.n_split_parts = std::ranges::count_if(flood(whole, touching), [](int n) { return n > 1; });
  return quality;
}

void expect_equals_oracle(MeshTables tables, bool weighted) {
  SCOPED_TRACE(testing::Message() << tables.n_global(Dim::volume) << " cells, " << tables.n_parts << " parts");
  std::vector<std::int64_t> all_weights;
  for (std::int64_t c = 0; c < tables.n_global(Dim::volume); ++c) all_weights.push_back(weighted ? 1 + c % 7 : 1);
  std::vector<std::int64_t> weights;
  for (const GlobalId id : top_ids(world(), tables))
    if (weighted) weights.push_back(all_weights[index(id)]);
  const PartitionQuality found = partition_quality(world(), tables, weights);
  const PartitionQuality expected = judge(test::WholeMesh(world(), tables), all_weights);
  EXPECT_EQ(found.n_parts, expected.n_parts);
  EXPECT_DOUBLE_EQ(found.imbalance, expected.imbalance);
  EXPECT_DOUBLE_EQ(found.weight_imbalance, expected.weight_imbalance);
  EXPECT_EQ(found.n_empty_parts, expected.n_empty_parts);
  EXPECT_EQ(found.n_ghost_cells, expected.n_ghost_cells);
  EXPECT_EQ(found.max_ghost_cells, expected.max_ghost_cells);
  EXPECT_EQ(found.n_shared_vertices, expected.n_shared_vertices);
  EXPECT_EQ(found.max_shared_vertices, expected.max_shared_vertices);
  EXPECT_DOUBLE_EQ(found.mean_neighbours, expected.mean_neighbours);
  EXPECT_EQ(found.max_neighbours, expected.max_neighbours);
  EXPECT_EQ(found.n_cut_sides, expected.n_cut_sides);
  EXPECT_EQ(found.n_split_parts, expected.n_split_parts);
}

/// Make random parts: many pieces, and all parts touch.
MeshTables with_random_parts(MeshTables tables, int n_parts, int n_used) {
  std::mt19937_64 random(test::seed());
  std::vector<std::int32_t> part(tables.n_global(Dim::volume));
  for (std::int32_t& p : part) p = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n_used));
  tables.parts.clear();
  for (const GlobalId id : top_ids(world(), tables)) tables.parts.push_back(part[index(id)]);
  tables.n_parts = n_parts;
  return tables;
}

TEST(PartitionQuality, EqualsTheSerialOracle) {
  for (const bool tets : {false, true}) {
    MeshTables tables = make_box(world(), {.n = {5, 3, 4}, .tets = tets});
    for (const int n_parts : {1, 2, 5, 12}) {
      for (const char* method : {"rcb", "hilbert"}) {
        partition_cells(world(), tables, n_parts, method);
        expect_equals_oracle(tables, n_parts % 2 == 1);
      }
      expect_equals_oracle(with_random_parts(tables, n_parts, n_parts), true);
    }
    expect_equals_oracle(with_random_parts(tables, 9, 3), false);  // six parts are empty
  }
}

TEST(PartitionQuality, OneCellIsCutWell) {
  MeshTables tables = make_box(world(), {.n = {1, 1, 1}});
  partition_cells(world(), tables, 1);
  expect_equals_oracle(tables, false);
}

/// A part that winds through the mesh is one piece, whatever the distribution.
TEST(PartitionQuality, ASnakeIsOnePiece) {
  MeshTables tables = make_box(world(), {.n = {9, 9, 2}});
  tables.n_parts = 2;
  tables.parts.clear();
  for (const GlobalId id : top_ids(world(), tables)) {
    const std::int64_t x = value(id) % 9;
    const std::int64_t y = value(id) / 9 % 9;
    const bool is_wall = y % 2 == 1 && x != (y % 4 == 1 ? 8 : 0);
    tables.parts.push_back(is_wall ? 1 : 0);
  }
  expect_equals_oracle(tables, false);
  EXPECT_EQ(partition_quality(world(), tables).n_split_parts, 1) << "the four walls";
}

}  // namespace
}  // namespace barrio::mesh
