#include "tests/mesh/oracle.hpp"

#include <random>
#include <string>
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

WholeMesh::WholeMesh(mpi::Context& context, const mesh::MeshTables& tables) : n_parts(tables.n_parts) {
  const std::vector<double> x = collect(context, tables.coordinates);
  for (std::size_t i = 0; i + 2 < x.size(); i += 3) vertices.push_back({x[i], x[i + 1], x[i + 2]});
  std::size_t at = 0;
  for (const mesh::CellBlock& block : tables.blocks) {
    const bool is_top = mesh::topology(block.type).dim == tables.top_dim();
    if (!is_top && mesh::topology(block.type).dim != mesh::Dim::face) continue;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> nodes;
    std::vector<std::int32_t> parts;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      sizes.push_back(block.cell(i).size());
      for (const GlobalId node : block.cell(i)) nodes.push_back(value(node));
      if (is_top) parts.push_back(tables.parts.empty() ? 0 : tables.parts[at++]);
    }
    sizes = collect(context, sizes);
    nodes = collect(context, nodes);
    parts = collect(context, parts);
    auto next = nodes.begin();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<std::int64_t> of_cell(next, next + sizes[i]);
      next += sizes[i];
      if (is_top) {
        cells.push_back({block.type, of_cell, parts[i]});
      } else {
        faces.push_back(of_cell);
      }
    }
  }
}

int WholeMesh::rank_of(int part, int n_ranks) const {
  for (int rank = 0; rank < n_ranks; ++rank)
    if (part < static_cast<std::int64_t>(n_parts) * (rank + 1) / n_ranks) return rank;
  return -1;
}

std::set<std::int64_t> WholeMesh::cells_of(int rank, int n_ranks) const {
  std::set<std::int64_t> mine;
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (rank_of(cells[c].part, n_ranks) == rank) mine.insert(c);
  return mine;
}

std::set<std::int64_t> WholeMesh::vertices_of(const std::set<std::int64_t>& some) const {
  std::set<std::int64_t> used;
  for (const std::int64_t c : some) used.insert(cells[c].nodes.begin(), cells[c].nodes.end());
  return used;
}

std::set<std::int64_t> WholeMesh::ghosts_of(int rank, int n_ranks, int n_layers, std::size_t n_common,
                                            const std::function<bool(std::int64_t)>& may) const {
  const std::set<std::int64_t> mine = cells_of(rank, n_ranks);
  std::set<std::int64_t> all = mine;
  for (int layer = 0; layer < n_layers; ++layer) {
    std::map<std::int64_t, std::vector<std::int64_t>> around;  // cells by vertex
    for (const std::int64_t c : all)
      for (const std::int64_t node : vertices_of({c})) around[node].push_back(c);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      std::map<std::int64_t, std::size_t> n_in_common;
      for (const std::int64_t node : std::set(cells[c].nodes.begin(), cells[c].nodes.end()))
        for (const std::int64_t other : around[node]) n_in_common[other] += 1;
      for (const auto& [other, n] : n_in_common)
        if (n >= n_common && (!may || may(c))) all.insert(c);
    }
  }
  for (const std::int64_t c : mine) all.erase(c);
  return all;
}

std::set<std::int64_t> WholeMesh::faces_of(const std::set<std::int64_t>& some) const {
  std::set<std::int64_t> found;
  for (const std::int64_t c : some) {
    const auto& nodes = cells[static_cast<std::size_t>(c)].nodes;
    const std::set<std::int64_t> of_cell(nodes.begin(), nodes.end());
    for (std::size_t f = 0; f < faces.size(); ++f) {
      bool inside = true;
      for (const std::int64_t node : faces[f]) inside = inside && of_cell.count(node) > 0;
      if (inside) found.insert(f);
    }
  }
  return found;
}

std::map<std::int64_t, std::set<int>> WholeMesh::sharers(int n_ranks) const {
  std::map<std::int64_t, std::set<int>> all;
  for (const Cell& cell : cells)
    for (const std::int64_t node : cell.nodes) all[node].insert(rank_of(cell.part, n_ranks));
  return all;
}

mesh::MeshTables scattered(mpi::Context& context, mesh::MeshTables tables, int n_parts) {
  tables.n_parts = n_parts;
  tables.parts.clear();
  for (const GlobalId id : mesh::top_ids(context, tables)) {
    std::mt19937_64 random(seed() + static_cast<std::uint64_t>(value(id)));
    tables.parts.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n_parts)));
  }
  return tables;
}

mesh::MeshTables parted_box(mpi::Context& context, std::array<std::int64_t, 3> n, bool tets, int n_parts) {
  mesh::MeshTables tables = mesh::make_box(context, {.n = n, .tets = tets});
  mesh::partition_cells(context, tables, n_parts);
  return tables;
}

}  // namespace barrio::test
