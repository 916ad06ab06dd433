#include "barrio/exchange/detail/gather_plan.hpp"

#include <algorithm>
#include <cstdint>

#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/shared_ids.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange::detail {
namespace {

/// Relation of two sharers of a slot.
enum class Role : std::uint8_t { equals, other_combines, this_combines };
using Edges = TupleList<Rank, LocalId, Rank, Role>;  // this rank, its slot, the other rank, and which of them combines

/// Unique ids of one rank with their positions.
struct Unique {
  std::vector<GlobalId> ids;  // ascending
  std::vector<std::size_t> offsets{0};
  std::vector<LocalId> positions;
};

Unique find_unique(std::span<const GlobalId> ids) {
  Unique unique;
  for (const std::size_t i : sorted_rows(ids)) {
    if (ids[i] < GlobalId{0}) continue;
    if (unique.ids.empty() || unique.ids.back() != ids[i]) {
      unique.ids.push_back(ids[i]);
      unique.offsets.push_back(unique.positions.size());
    }
    unique.positions.push_back(local_id(i));
    unique.offsets.back() = unique.positions.size();
  }
  return unique;
}

/// Find the edges of this rank: the ranks with which it shares its unique ids.
Edges find_edges(mpi::Context& context, std::span<const GlobalId> ids, std::uint64_t max_pairwise, GatherPlan& plan) {
  TupleList<Rank, LocalId, GlobalId> rows;
  rows.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) rows.push_back(home_of(ids[i], context.size()), local_id(i), ids[i]);
  transfer<0>(context, rows);
  rows.sort_by<2>();
  const std::span<const Rank> rank = std::as_const(rows).column<0>();
  const std::span<const LocalId> slot = std::as_const(rows).column<1>();
  const std::span<const GlobalId> id = std::as_const(rows).column<2>();
  const auto for_each_id = [&](auto&& visit) {
    for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
      for (++last; last < rows.size() && id[last] == id[first];) ++last;
      visit(first, last);
    }
  };
  for_each_id([&](std::size_t first, std::size_t last) {
    plan.n_max_ranks = std::max<std::uint64_t>(plan.n_max_ranks, last - first);
  });
  plan.n_max_ranks = mpi::max(context, plan.n_max_ranks);
  plan.has_all = plan.n_max_ranks <= max_pairwise;
  Edges edges;
  for_each_id([&](std::size_t first, std::size_t last) {
    // A hash spreads the work over the sharers; the complement makes it differ from the hash that chose the home.
    const std::size_t combines = first + mix64(~ordered_bits(id[first])) % (last - first);
    for (std::size_t a = first; a < last; ++a) {
      if (a != combines) {
        edges.push_back(rank[a], slot[a], rank[combines], Role::other_combines);
        edges.push_back(rank[combines], slot[combines], rank[a], Role::this_combines);
      }
      for (std::size_t b = first; plan.has_all && a != combines && b < last; ++b)
        if (b != a && b != combines) edges.push_back(rank[a], slot[a], rank[b], Role::equals);
    }
  });
  free_memory(rows);
  transfer<0>(context, edges);
  edges.sort_by<2, 1>();
  return edges;
}

template <class IsWanted>
GatherEdges choose_edges(const Edges& edges, IsWanted&& is_wanted) {
  GatherEdges chosen;
  for (std::size_t row = 0; row < edges.size(); ++row) {
    const auto& [self, slot, peer, role] = edges.tuple(row);
    if (!is_wanted(role)) continue;
    if (chosen.peers.empty() || chosen.peers.back() != peer) {
      chosen.peers.push_back(peer);
      chosen.offsets.push_back(0);
    }
    chosen.slots.push_back(slot);
    chosen.offsets.back() = chosen.slots.size();
  }
  return chosen;
}

/// Reorder the received values from peer and slot to slot and rank, with the own contribution of each slot in its
/// place.
/// @param is_wanted  (slot)
template <class IsWanted>
GatherFold make_fold(const GatherEdges& edges, Rank own, IsWanted&& is_wanted) {
  TupleList<LocalId, Rank, std::size_t> contributions;
  contributions.reserve(2 * edges.slots.size());
  std::vector<LocalId> slots;
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row) {
      if (!is_wanted(edges.slots[row])) continue;
      contributions.push_back(edges.slots[row], edges.peers[peer], row);
      slots.push_back(edges.slots[row]);
    }
  }
  sort_unique(slots);
  for (const LocalId slot : slots) contributions.push_back(slot, own, GatherFold::own);
  contributions.sort_by<0, 1>();
  GatherFold fold;
  const auto slot = std::as_const(contributions).column<0>();
  const auto row = std::as_const(contributions).column<2>();
  for (std::size_t i = 0; i < row.size(); ++i)
    if (i + 1 == row.size() || slot[i + 1] != slot[i]) fold.offsets.push_back(i + 1);
  fold.slots = std::move(slots);
  fold.rows.assign(row.begin(), row.end());
  return fold;
}

/// Collect the slots with a single sharer. @param n_sharers  other ranks of each slot
GatherPairs make_pairs(const GatherEdges& edges, const std::vector<std::uint32_t>& n_sharers) {
  GatherPairs pairs;
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row) {
      if (n_sharers[index(edges.slots[row])] != 1) continue;
      pairs.rows.push_back(local_id(row - edges.offsets[peer]));
      pairs.slots.push_back(edges.slots[row]);
    }
    pairs.offsets.push_back(pairs.rows.size());
  }
  return pairs;
}

/// Fill the tables that `pairwise` needs.
void plan_pairwise(GatherPlan& plan, const Edges& edges, Rank own) {
  plan.all = choose_edges(edges, [](Role) { return true; });
  std::vector<std::uint32_t> n_sharers(plan.n_slots(), 0);
  for (const LocalId slot : plan.all.slots) n_sharers[index(slot)] += 1;
  plan.all_pairs = make_pairs(plan.all, n_sharers);
  plan.all_fold = make_fold(plan.all, own, [&](LocalId slot) { return n_sharers[index(slot)] != 1; });
  if (plan.has_repeats) return;
  for (std::vector<LocalId>* slots : {&plan.all.slots, &plan.all_pairs.slots, &plan.all_fold.slots})
    for (LocalId& slot : *slots) slot = plan.positions[index(slot)];
}

std::uint64_t bytes_of(const GatherPairs& pairs) {
  return barrio::memory_bytes(pairs.offsets) + barrio::memory_bytes(pairs.rows) + barrio::memory_bytes(pairs.slots);
}
std::uint64_t bytes_of(const GatherEdges& edges) {
  return barrio::memory_bytes(edges.peers) + barrio::memory_bytes(edges.offsets) + barrio::memory_bytes(edges.slots);
}
std::uint64_t bytes_of(const GatherFold& fold) {
  return barrio::memory_bytes(fold.slots) + barrio::memory_bytes(fold.offsets) + barrio::memory_bytes(fold.rows);
}

}  // namespace

std::uint64_t GatherPlan::memory_bytes() const noexcept {
  return barrio::memory_bytes(position_offsets) + barrio::memory_bytes(positions) + bytes_of(all) +
         bytes_of(all_pairs) + bytes_of(all_fold) + bytes_of(up) + bytes_of(down) + bytes_of(down_fold) +
         barrio::memory_bytes(neighbours);
}

GatherPlan plan_gather(mpi::Context& context, std::span<const GlobalId> ids, std::uint64_t max_pairwise) {
  GatherPlan plan;
  const Unique unique = find_unique(ids);
  Edges edges = find_edges(context, unique.ids, max_pairwise, plan);

  // Ids with a single position need no exchange: number the others without gaps.
  std::vector<char> is_slot(unique.ids.size());
  for (std::size_t i = 0; i < is_slot.size(); ++i) is_slot[i] = unique.offsets[i + 1] - unique.offsets[i] > 1 ? 1 : 0;
  for (const LocalId i : std::as_const(edges).column<1>()) is_slot[index(i)] = 1;
  std::vector<LocalId> slot_of(unique.ids.size(), no_local_id);
  for (std::size_t i = 0; i < is_slot.size(); ++i) {
    if (is_slot[i] == 0) continue;
    slot_of[i] = local_id(plan.n_slots());
    for (std::size_t k = unique.offsets[i]; k < unique.offsets[i + 1]; ++k)
      plan.positions.push_back(unique.positions[k]);
    plan.position_offsets.push_back(plan.positions.size());
  }
  for (LocalId& slot : edges.column<1>()) slot = slot_of[index(slot)];

  plan.neighbours = other_ranks(std::as_const(edges).column<2>(), context.rank());
  plan.up = choose_edges(edges, [](Role role) { return role == Role::other_combines; });
  plan.down = choose_edges(edges, [](Role role) { return role == Role::this_combines; });
  plan.down_fold = make_fold(plan.down, context.rank(), [](LocalId) { return true; });
  plan.has_repeats = plan.positions.size() > plan.n_slots();
  if (plan.has_all) plan_pairwise(plan, edges, context.rank());
  return plan;
}

}  // namespace barrio::exchange::detail
