#include "tests/io/whole_file.hpp"

#include <gtest/gtest.h>

#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/collect.hpp"

namespace barrio::test {

WholeFile::WholeFile(mpi::Context& context, const mesh::MeshTables& tables)
    : coordinates(collect(context, tables.coordinates)) {
  std::size_t at = 0;
  for (const mesh::CellBlock& block : tables.blocks) {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> nodes;
    std::vector<std::int32_t> block_parts;
    const bool is_top = mesh::topology(block.type).dim == tables.top_dim();
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      sizes.push_back(block.cell(i).size());
      for (const GlobalId node : block.cell(i)) nodes.push_back(value(node));
      if (is_top && tables.n_parts > 0) block_parts.push_back(tables.parts[at++]);
    }
    nodes = collect(context, nodes);
    auto first = nodes.begin();
    for (const std::int64_t n : collect(context, sizes)) {
      cells.push_back({block.type, {first, first + n}});
      first += n;
    }
    for (const std::int32_t part : collect(context, block_parts)) parts.push_back(part);
  }
  for (const mesh::SetInfo& info : tables.sets) sets.emplace_back(info.kind, info.id, info.name);
  members.resize(sets.size());
  for (const mesh::SetRows& rows : collect(context, tables.members))
    for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row)
      members[rows.set].insert({value(rows.dim), row});
}

std::array<std::int64_t, 4> count_owned(const mesh::Mesh& mesh, const mesh::MeshSet& set) {
  std::array<std::int64_t, 4> n{};
  for (const LocalId v : set.vertices) n[0] += index(v) < mesh.n_owned(Dim::vertex) ? 1 : 0;
  for (int d = 1; d <= value(mesh.cell_dim()); ++d)
    for (const LocalId e : set.entities[d]) n[d] += index(e) < mesh.entities(Dim{d}).n_owned ? 1 : 0;
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(n), MPI_SUM);
  return n;
}

void expect_equals_oracle(mpi::Context& context, const mesh::MeshTables& tables) {
  const WholeMesh whole(context, tables);
  const mesh::Mesh mesh(context, tables, {.ghost_layers = 1});
  mesh.validate();
  const auto owned = whole.cells_of(context.rank(), context.size());
  const auto ghosts = whole.ghosts_of(context.rank(), context.size());
  const mesh::EntityTable& cells = mesh.cells();
  std::set<std::int64_t> found_owned;
  std::set<std::int64_t> found_ghosts;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::int64_t id = value(cells.global_ids[c]);
    (c < cells.n_owned ? found_owned : found_ghosts).insert(id);
    const WholeMesh::Cell& expected = whole.cells.at(id);
    EXPECT_EQ(cells.owners[c], whole.rank_of(expected.part, context.size()));
    EXPECT_EQ(cells.type(c), expected.type);
    std::vector<std::int64_t> nodes;
    for (const LocalId node : cells.nodes_of(c)) {
      nodes.push_back(value(mesh.vertices().global_ids[index(node)]));
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(mesh.vertices().coordinates[3 * index(node) + k], whole.vertices.at(nodes.back())[k]);
    }
    EXPECT_EQ(nodes, expected.nodes);
  }
  EXPECT_EQ(found_owned, owned);
  EXPECT_EQ(found_ghosts, ghosts);
  EXPECT_EQ(mesh.n_owned(mesh.cell_dim()), owned.size()) << "a cell is there twice";
  EXPECT_EQ(mesh.n_ghost(mesh.cell_dim()), ghosts.size()) << "a ghost is there twice";

  std::map<std::int64_t, std::set<int>> shared;
  for (const auto& [id, ranks] : whole.sharers(context.size()))
    if (ranks.size() > 1 && ranks.count(context.rank()) > 0) shared[id] = ranks;
  std::map<std::int64_t, std::set<int>> found_shared;
  const mesh::VertexTable& v = mesh.vertices();
  for (std::size_t s = 0; s < v.shared.size(); ++s) {
    const auto ranks = v.sharers_of(s);
    found_shared[value(v.global_ids[index(v.shared[s])])] = {ranks.begin(), ranks.end()};
  }
  EXPECT_EQ(found_shared, shared);
}

}  // namespace barrio::test
