#include "barrio/mesh/sides/dual_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/mesh/filled_mesh.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

using Edges = std::vector<std::array<std::int64_t, 2>>;

/// Gather all edges, in both directions, by global ids of cells. @param id_of_row  empty: rows are ids
Edges edges_of(const partition::Graph& graph, const std::vector<GlobalId>& id_of_row) {
  const auto id = [&](std::int64_t row) { return id_of_row.empty() ? row : value(id_of_row[row]); };
  Edges edges;
  const std::int64_t first = graph.vertices.first(world().rank());
  for (std::size_t v = 0; v + 1 < graph.offsets.size(); ++v)
    for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      edges.push_back({id(first + static_cast<std::int64_t>(v)), id(value(graph.neighbours[e]))});
  edges = test::collect(world(), edges);
  std::ranges::sort(edges);
  return edges;
}

void expect_graph_of_tables(const MeshTables& tables, const BuildOptions& ghosts) {
  const Mesh mesh(world(), tables, ghosts);
  const auto owned = mesh.global_ids(mesh.cell_dim()).first(mesh.n_owned(mesh.cell_dim()));
  const auto id_of_row = test::collect(world(), std::vector<GlobalId>(owned.begin(), owned.end()));
  const Edges wanted = edges_of(dual_graph(world(), tables), {});
  EXPECT_EQ(edges_of(dual_graph(mesh, first_row(mesh)), id_of_row), wanted);
  EXPECT_FALSE(wanted.empty());
}

TEST(DualGraph, OfAMeshIsThatOfItsTables) {
  for (const bool tets : {false, true}) {
    for (const int n_parts : {1, 3, 8}) {
      const MeshTables tables = test::parted_box(world(), {4, 3, 3}, tets, n_parts);
      expect_graph_of_tables(tables, {});
      expect_graph_of_tables(test::scattered(world(), tables, n_parts), {.ghost_layers = 1});
    }
  }
  MeshTables wall = test::honeycomb(world(), 5, 4, 3);
  expect_graph_of_tables(test::scattered(world(), std::move(wall), 6), {.ghost_layers = 2});
  expect_graph_of_tables(test::mixed_plane(7), {.ghost_layers = 1});
}

}  // namespace
}  // namespace barrio::mesh
