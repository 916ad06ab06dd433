#include "barrio/mesh/sides/vertex_nets.hpp"

#include <algorithm>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"

namespace barrio::mesh {

partition::Hypergraph vertex_nets(mpi::Context& context, const MeshTables& tables) {
  struct Pin {
    GlobalId vertex;
    GlobalId cell;
    auto operator<=>(const Pin&) const = default;
  };
  std::vector<Pin> pins;
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != tables.top_dim()) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
      for (const GlobalId node : block.cell(i)) pins.push_back({node, first + i});
  }
  std::vector<Rank> to;
  to.reserve(pins.size());
  for (const Pin& pin : pins) to.push_back(tables.vertices.rank_of(pin.vertex));
  pins = exchange::route(context, exchange::pack_by_rank<Pin>(to, pins), exchange::Route::automatic).items;
  sort_unique(pins);

  partition::Hypergraph nets;
  nets.vertices = {tables.n_global(tables.top_dim()), context.size()};
  const std::int64_t first = tables.vertices.first(context.rank());
  nets.first_net = first;
  nets.offsets.assign(tables.vertices.size(context.rank()) + 1, 0);
  nets.pins.reserve(pins.size());
  for (const Pin& pin : pins) {
    nets.offsets[value(pin.vertex) - first + 1] += 1;
    nets.pins.push_back(pin.cell);
  }
  for (std::size_t v = 1; v < nets.offsets.size(); ++v) nets.offsets[v] += nets.offsets[v - 1];
  return nets;
}

}  // namespace barrio::mesh
