#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/router.hpp"
#include "barrio/partition/graph.hpp"

namespace barrio::partition::detail {

/// Fetch values of vertices from the ranks whose slabs hold them. Collective.
/// @param[in] wanted  ascending and unique
/// @param[in] known  values of this rank's vertices, shape (this rank's slab)
/// @return shape (wanted.size())
template <mpi::Trivial T>
std::vector<T> ask_homes(mpi::Context& context, const Slabs& vertices, std::span<const GlobalId> wanted,
                         std::span<const T> known) {
  std::vector<Rank> to;
  to.reserve(wanted.size());
  for (const GlobalId id : wanted) to.push_back(vertices.rank_of(id));
  const auto asked = exchange::route(context, exchange::pack_by_rank<GlobalId>(to, wanted));
  exchange::Parcels<T> answers{asked.peers, asked.offsets, {}};
  const std::size_t first = vertices.first(context.rank());
  for (const GlobalId id : asked.items) answers.items.push_back(known[index(id) - first]);
  // Slabs ascend with ids, so the answers come back in the order of `wanted`.
  return exchange::route(context, answers).items;
}

/// Look up the label of every stored neighbour, local or remote. Collective.
/// @return shape (graph.neighbours.size())
std::vector<std::int32_t> labels_of_neighbours(mpi::Context& context, const Graph& graph,
                                               const std::vector<std::int32_t>& label);

}  // namespace barrio::partition::detail
