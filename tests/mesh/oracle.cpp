#include "tests/mesh/oracle.hpp"

#include <string>
#include "tests/support/collect.hpp"

namespace barrio::test {

WholeMesh::WholeMesh(mpi::Context& context, const mesh::MeshTables& tables) : n_parts(tables.n_parts) {
  const std::vector<double> x = collect(context, tables.coordinates);
  for (std::size_t i = 0; i + 2 < x.size(); i += 3) vertices.push_back({x[i], x[i + 1], x[i + 2]});
  std::size_t at = 0;
  for (const mesh::CellBlock& block : tables.blocks) {
    if (mesh::topology(block.type).dim != tables.top_dim()) continue;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> nodes;
    std::vector<std::int32_t> parts;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i, ++at) {
      sizes.push_back(static_cast<std::int64_t>(block.cell(i).size()));
      for (const GlobalId node : block.cell(i)) nodes.push_back(value(node));
      parts.push_back(tables.parts.empty() ? 0 : tables.parts[at]);
    }
    sizes = collect(context, sizes);
    nodes = collect(context, nodes);
    parts = collect(context, parts);
    std::size_t first = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto n = static_cast<std::size_t>(sizes[i]);
      cells.push_back({block.type,
                       {nodes.begin() + static_cast<long>(first), nodes.begin() + static_cast<long>(first + n)},
                       parts[i]});
      first += n;
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
    if (rank_of(cells[c].part, n_ranks) == rank) mine.insert(static_cast<std::int64_t>(c));
  return mine;
}

std::set<std::int64_t> WholeMesh::vertices_of(const std::set<std::int64_t>& some) const {
  std::set<std::int64_t> used;
  for (const std::int64_t c : some)
    used.insert(cells[static_cast<std::size_t>(c)].nodes.begin(), cells[static_cast<std::size_t>(c)].nodes.end());
  return used;
}

std::set<std::int64_t> WholeMesh::ghosts_of(int rank, int n_ranks, int n_layers) const {
  const std::set<std::int64_t> mine = cells_of(rank, n_ranks);
  std::set<std::int64_t> all = mine;
  for (int layer = 0; layer < n_layers; ++layer) {
    const std::set<std::int64_t> used = vertices_of(all);
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (const std::int64_t node : cells[c].nodes)
        if (used.count(node) > 0) all.insert(static_cast<std::int64_t>(c));
  }
  for (const std::int64_t c : mine) all.erase(c);
  return all;
}

std::map<std::int64_t, std::set<int>> WholeMesh::sharers(int n_ranks) const {
  std::map<std::int64_t, std::set<int>> all;
  for (const Cell& cell : cells)
    for (const std::int64_t node : cell.nodes) all[node].insert(rank_of(cell.part, n_ranks));
  return all;
}

}  // namespace barrio::test
