#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh::detail {

/// Find the local id of an entity that this rank owns, or return no_local_id. Local. Cost: O(log n_owned).
template <class Table>
LocalId find_owned(const Table& table, GlobalId id) {
  const std::span<const GlobalId> ids(table.global_ids);
  for (const auto& [first, end] :
       {std::pair(std::size_t{0}, table.n_interior), std::pair(table.n_interior, table.n_owned)}) {
    const auto found = std::ranges::lower_bound(ids.subspan(first, end - first), id);
    if (found != ids.begin() + end && *found == id) return local_id(found - ids.begin());
  }
  return no_local_id;
}

/// Return what arrives here in an exchange from owners to copies. Local.
inline std::vector<exchange::HaloPlan::Incoming> incoming_of(const Owners& owners) {
  std::vector<exchange::HaloPlan::Incoming> incoming;
  for (const auto& [owner, ids] : owners.copies())
    incoming.push_back({owner, ids.first, static_cast<std::int32_t>(ids.size())});
  return incoming;
}

/// Plan the exchange from owners to copies: each rank tells the owners which copies it has, in one round. Collective.
/// @param hood  delivers by ascending sender; owners are neighbours, or can be introduced
/// @param[in] ids  by local id
/// @param local_of  gives the local id of an entity that this rank owns
template <class LocalOf>
std::shared_ptr<const exchange::HaloPlan> plan_halo_in(exchange::Neighborhood& hood, std::span<const GlobalId> ids,
                                                       const Owners& owners, LocalOf&& local_of) {
  auto plan = std::make_shared<exchange::HaloPlan>();
  plan->tags = hood.context().take_tags(exchange::HaloPlan::n_tags);
  plan->incoming = incoming_of(owners);
  auto round = hood.begin_round<GlobalId>();
  for (const Owners::Run& run : owners.copies()) {
    const auto wanted = ids.subspan(index(run.ids.first), run.ids.size());
    std::ranges::copy(wanted, round.allocate(run.owner, wanted.size()).begin());
  }
  round.close();
  for (const auto& run : round.received_runs()) {
    if (plan->readers.empty() || plan->readers.back() != run.from) {
      plan->readers.push_back(run.from);
      plan->out_offsets.push_back(plan->out.size());
    }
    for (const GlobalId id : run.messages) plan->out.push_back(local_of(id));
    plan->out_offsets.back() = plan->out.size();
  }
  plan->out.shrink_to_fit();
  return plan;
}

}  // namespace barrio::mesh::detail
