#include "barrio/mesh/sides/dual_graph.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mesh/tables/side_key.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

struct Side {
  detail::SideKey key;
  GlobalId cell;
};

/// A cell and the global id of one of its sides.
struct CellOfSide {
  GlobalId side;
  GlobalId cell;
};

struct Link {
  GlobalId cell;
  GlobalId other;
};

/// Send links to the slabs of their first cells and build the graph. Collective. Links may be duplicated.
/// @param[in] to  rank whose slab holds the first cell of each link
partition::Graph to_graph(mpi::Context& context, const Slabs& rows, std::vector<Link> links, std::span<const Rank> to) {
  links = exchange::route(context, exchange::pack_by_rank<Link>(to, links)).items;
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return a.cell != b.cell ? a.cell < b.cell : a.other < b.other; });
  links.erase(std::unique(links.begin(), links.end(),
                          [](const Link& a, const Link& b) { return a.cell == b.cell && a.other == b.other; }),
              links.end());

  partition::Graph graph;
  graph.vertices = rows;
  const std::int64_t first = rows.first(context.rank());
  graph.offsets.assign(rows.size(context.rank()) + 1, 0);
  for (const Link& link : links) {
    graph.offsets[value(link.cell) - first + 1] += 1;
    graph.neighbours.push_back(link.other);
  }
  for (std::size_t v = 1; v < graph.offsets.size(); ++v) graph.offsets[v] += graph.offsets[v - 1];
  return graph;
}

}  // namespace

partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables) {
  std::vector<Side> sides;
  std::vector<Rank> to;
  const Dim top = tables.top_dim();
  const Slabs graph_slabs{tables.n_global(top), context.size()};
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != top) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const GlobalId cell = first + i;
      for_each_side(block.type, block.cell(i), [&](std::span<const GlobalId> corners) {
        const Side side{detail::side_key(corners), cell};
        Hash64 hash;
        for (const GlobalId corner : side.key) hash.add(value(corner));
        sides.push_back(side);
        to.push_back(static_cast<Rank>(hash.value() % context.size()));
      });
    }
  }
  sides = exchange::route(context, exchange::pack_by_rank<Side>(to, sides)).items;
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.key != b.key ? a.key < b.key : a.cell < b.cell; });
  std::vector<Link> links;
  to.clear();
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].key == sides[i].key) ++end;
    for (std::size_t a = i; a < end; ++a) {
      for (std::size_t b = i; b < end; ++b) {
        if (a == b) continue;
        links.push_back({sides[a].cell, sides[b].cell});
        to.push_back(graph_slabs.rank_of(sides[a].cell));
      }
    }
    i = end;
  }
  return to_graph(context, graph_slabs, std::move(links), to);
}

std::int64_t first_row(const Mesh& mesh) {
  const std::int64_t n_owned = mesh.n_owned(mesh.cell_dim());
  return mpi::exclusive_sum(mesh.context(), n_owned);
}

partition::Graph dual_graph(const Mesh& mesh, std::int64_t first) {
  mpi::Context& context = mesh.context();
  const Slabs rows{mesh.n_global(mesh.cell_dim()), context.size()};
  const Sides sides(mesh, mesh.cell_dim() == Dim::volume ? Dim::face : Dim::edge);

  // The owned cells of each side, in one array.
  std::vector<std::int32_t> begin(sides.table().size() + 1, 0);
  const std::size_t n_cells = mesh.n_owned(mesh.cell_dim());
  for (std::size_t c = 0; c < n_cells; ++c)
    for (const LocalId side : sides.of_cell(c)) begin[index(side) + 1] += 1;
  for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
  std::vector<GlobalId> cells(begin.back());
  std::vector<std::int32_t> end(begin.begin(), begin.end() - 1);
  for (std::size_t c = 0; c < n_cells; ++c)
    for (const LocalId side : sides.of_cell(c)) cells[end[index(side)]++] = GlobalId{first} + c;
  const auto cells_of = [&](std::size_t side) {
    return std::span<const GlobalId>(cells).subspan(begin[side], begin[side + 1] - begin[side]);
  };

  std::vector<Link> links;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (const GlobalId a : cells_of(s))
      for (const GlobalId b : cells_of(s))
        if (a != b) links.push_back({a, b});

  // The sharers of a side exchange their cells on it.
  exchange::Neighborhood hood(context, mesh.neighbours());
  auto round = hood.begin_round<CellOfSide>();
  const EntityTable& table = sides.table();
  std::vector<std::pair<GlobalId, std::size_t>> shared;
  for (std::size_t i = 0; i < table.shared.size(); ++i) {
    const std::size_t s = index(table.shared[i]);
    shared.emplace_back(table.id(s), s);
    for (const Rank rank : table.sharers_of(i))
      if (rank != context.rank())
        for (const GlobalId cell : cells_of(s)) round.allocate(rank) = {table.id(s), cell};
  }
  round.close();
  std::ranges::sort(shared);
  for (const auto& [from, told] : round.received()) {
    const auto at = std::ranges::lower_bound(shared, told.side, {}, &std::pair<GlobalId, std::size_t>::first);
    BARRIO_ASSERT(cheap, at != shared.end() && at->first == told.side, from);
    for (const GlobalId cell : cells_of(at->second)) links.push_back({cell, told.cell});
  }
  std::vector<Rank> to;
  to.reserve(links.size());
  for (const Link& link : links) to.push_back(rows.rank_of(link.cell));
  return to_graph(context, rows, std::move(links), to);
}

}  // namespace barrio::mesh
