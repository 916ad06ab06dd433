#include "barrio/mesh/remote_ids.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/memory.hpp"

namespace barrio::mesh {
namespace {

using exchange::HaloPlan;

/// A rank that holds a copy of an owned entity.
struct Copy {
  LocalId owned;
  Rank rank;
  LocalId theirs;
};

/// Return owners and readers. The relation is mutual: a rank that reads from another is among its readers.
std::vector<Rank> peers_of(const HaloPlan& plan) {
  std::vector<Rank> owners;
  for (const HaloPlan::Incoming& one : plan.incoming) owners.push_back(one.owner);
  std::vector<Rank> peers;
  std::ranges::set_union(owners, plan.readers, std::back_inserter(peers));
  return peers;
}

/// Find the copies of this rank's entities, by ascending entity and then rank. A reader's copies are contiguous in the
/// order of the plan, so it sends one number.
std::vector<Copy> find_copies(exchange::Neighborhood& hood, const HaloPlan& plan) {
  auto round = hood.begin_round<LocalId>();
  for (const HaloPlan::Incoming& one : plan.incoming) round.allocate(one.owner) = one.first;
  round.close();
  std::vector<Copy> copies;
  copies.reserve(plan.out.size());
  for (const auto& [reader, first] : round.received()) {
    const auto at = std::ranges::lower_bound(plan.readers, reader);
    BARRIO_ASSERT(cheap, at != plan.readers.end() && *at == reader, reader);
    std::int32_t id = value(first);
    for (const LocalId owned : plan.sent_to(at - plan.readers.begin()))
      copies.push_back({owned, reader, LocalId{id++}});
  }
  std::ranges::sort(
      copies, [](const Copy& a, const Copy& b) { return a.owned != b.owned ? a.owned < b.owned : a.rank < b.rank; });
  return copies;
}

}  // namespace

RemoteIds::RemoteIds(const Mesh& mesh, Dim dim) : RemoteIds(mesh.context(), *mesh.halo_plan(dim)) {}

RemoteIds::RemoteIds(mpi::Context& context, const HaloPlan& plan) {
  const Rank me = context.rank();
  exchange::Neighborhood hood(context, peers_of(plan));
  const std::vector<Copy> copies = find_copies(hood, plan);

  // Tell each reader, for each of its copies: its id here, the number of other readers, and rank and id of each.
  auto round = hood.begin_round<std::int32_t>();
  for (std::size_t k = 0; k < plan.readers.size(); ++k) {
    const Rank reader = plan.readers[k];
    const auto peers = hood.neighbours();
    auto channel = round.channel(std::ranges::lower_bound(peers, reader) - peers.begin());
    for (const LocalId owned : plan.sent_to(k)) {
      const auto holders = std::ranges::equal_range(copies, owned, {}, &Copy::owned);
      std::int32_t* to = channel.allocate(2 * holders.size()).data();
      *to++ = value(owned);
      *to++ = static_cast<std::int32_t>(holders.size()) - 1;
      for (const Copy& copy : holders) {
        if (copy.rank == reader) continue;
        *to++ = copy.rank;
        *to++ = value(copy.theirs);
      }
    }
  }
  round.close();
  std::vector<std::vector<std::int32_t>> heard(plan.incoming.size());
  for (const auto& run : round.received_runs()) {
    const auto at = std::ranges::lower_bound(plan.incoming, run.from, {}, &HaloPlan::Incoming::owner);
    BARRIO_ASSERT(cheap, at != plan.incoming.end() && at->owner == run.from, run.from);
    std::vector<std::int32_t>& words = heard[at - plan.incoming.begin()];
    words.insert(words.end(), run.messages.begin(), run.messages.end());
  }

  const auto add = [&](Rank rank, LocalId id) {
    ranks_.push_back(rank);
    ids_.push_back(id);
  };
  for (auto copy = copies.begin(); copy != copies.end();) {
    const LocalId owned = copy->owned;
    for (; copy != copies.end() && copy->owned == owned && copy->rank < me; ++copy) add(copy->rank, copy->theirs);
    add(me, owned);
    for (; copy != copies.end() && copy->owned == owned; ++copy) add(copy->rank, copy->theirs);
    entities_.push_back(owned);
    offsets_.push_back(ids_.size());
  }
  std::vector<std::pair<Rank, LocalId>> holders;
  for (std::size_t k = 0; k < plan.incoming.size(); ++k) {
    const std::int32_t* from = heard[k].data();
    for (std::int32_t i = 0; i < plan.incoming[k].count; ++i) {
      const LocalId mine{value(plan.incoming[k].first) + i};
      holders.assign({{me, mine}, {plan.incoming[k].owner, LocalId{*from++}}});
      for (std::int32_t n_others = *from++; n_others > 0; --n_others, from += 2)
        holders.emplace_back(from[0], LocalId{from[1]});
      std::ranges::sort(holders);
      for (const auto& [rank, id] : holders) add(rank, id);
      entities_.push_back(mine);
      offsets_.push_back(ids_.size());
    }
    BARRIO_ASSERT(cheap, from == heard[k].data() + heard[k].size(), k);
  }
}

std::size_t RemoteIds::find(LocalId id) const noexcept {
  const std::size_t at = std::ranges::lower_bound(entities_, id) - entities_.begin();
  return at < entities_.size() && entities_[at] == id ? at : entities_.size();
}

std::uint64_t RemoteIds::memory_bytes() const noexcept {
  return barrio::memory_bytes(entities_) + barrio::memory_bytes(offsets_) + barrio::memory_bytes(ranks_) +
         barrio::memory_bytes(ids_);
}

}  // namespace barrio::mesh
