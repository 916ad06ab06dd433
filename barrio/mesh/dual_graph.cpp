#include "barrio/mesh/dual_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/sides.hpp"

namespace barrio::mesh {
namespace {

struct Side {
  std::array<std::int64_t, 4> corners;  // ascending; unused places are -1
  GlobalId cell;
};

struct Link {
  GlobalId cell;
  GlobalId other;
};

bool has_known_sides(CellType type) { return type != CellType::polyhedron && type != CellType::knife; }

}  // namespace

bool has_dual_graph(const MeshTables& tables) {
  return std::ranges::all_of(tables.blocks, has_known_sides, &CellBlock::type);
}

partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables) {
  std::vector<Side> sides;
  std::vector<Rank> to;
  const Dim top = tables.top_dim();
  const Slabs graph_slabs{tables.n_global(top), context.size()};
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    const CellTopology& shape = topology(block.type);
    if (shape.dim != top) continue;
    if (!has_known_sides(block.type)) {
      throw AgreedError(ErrorCode::bad_input,
                        {.subject = fmt::format("mesh with {}", shape.plural),
                         .cause = "their sides are not known to barrio, so there is no graph to cut",
                         .remedy = "use the partitioner rcb or hilbert"});
    }
    const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank());
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const GlobalId cell{first + static_cast<std::int64_t>(i)};
      detail::for_each_side(block.type, block.cell(i), [&](std::span<const GlobalId> corners) {
        Side side{{-1, -1, -1, -1}, cell};
        for (std::size_t c = 0; c < corners.size(); ++c) side.corners[c] = value(corners[c]);
        std::sort(side.corners.begin(), side.corners.end());
        Hash64 hash;
        hash.add_all(std::span<const std::int64_t>(side.corners));
        sides.push_back(side);
        to.push_back(static_cast<Rank>(hash.value() % static_cast<std::uint64_t>(context.size())));
      });
    }
  }
  sides = exchange::route(context, exchange::pack_by_rank<Side>(to, sides)).items;
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return a.corners != b.corners ? a.corners < b.corners : a.cell < b.cell;
  });
  std::vector<Link> links;
  to.clear();
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].corners == sides[i].corners) ++end;
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
