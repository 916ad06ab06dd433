#include "barrio/mesh/sides/dual_graph.hpp"

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables/side_key.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::mesh {
namespace {

struct Side {
  detail::SideKey key;
  GlobalId cell;
};

struct Link {
  GlobalId cell;
  GlobalId other;
};

}  // namespace

partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables) {
  std::vector<Side> sides;
  std::vector<Rank> to;
  const Dim top = tables.top_dim();
  const Slabs graph_slabs{tables.n_global(top), context.size()};
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != top) continue;
    const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank());
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const GlobalId cell{first + static_cast<std::int64_t>(i)};
      for_each_side(block.type, block.cell(i), [&](std::span<const GlobalId> corners) {
        const Side side{detail::side_key(corners), cell};
        Hash64 hash;
        for (const GlobalId corner : side.key) hash.add(value(corner));
        sides.push_back(side);
        to.push_back(static_cast<Rank>(hash.value() % static_cast<std::uint64_t>(context.size())));
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
  links = exchange::route(context, exchange::pack_by_rank<Link>(to, links)).items;
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return a.cell != b.cell ? a.cell < b.cell : a.other < b.other; });
  links.erase(std::unique(links.begin(), links.end(),
                          [](const Link& a, const Link& b) { return a.cell == b.cell && a.other == b.other; }),
              links.end());

  partition::Graph graph;
  graph.vertices = graph_slabs;
  const std::int64_t first = graph_slabs.first(context.rank());
  graph.offsets.assign(graph_slabs.size(context.rank()) + 1, 0);
  for (const Link& link : links) {
    graph.offsets[index(link.cell) - static_cast<std::size_t>(first) + 1] += 1;
    graph.neighbours.push_back(link.other);
  }
  for (std::size_t v = 1; v < graph.offsets.size(); ++v) graph.offsets[v] += graph.offsets[v - 1];
  return graph;
}

}  // namespace barrio::mesh
