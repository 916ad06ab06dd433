#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/tables/message.hpp"

namespace barrio::mesh::detail {

/// Find out which ranks have the same entities: each tells the former owners what it has; they answer for what several
/// have. Collective over the neighbourhood; two rounds, nothing for entities that stay with their owner.
/// @param hood  reaches the former owners
/// @param[in] ids  what this rank has, without repetition
/// @param[in] former_owners  of each; all ranks that have an entity name the same
/// @param find  gives the place of an id in `ids`, or -1
/// @param on_shared  called once as (place, ranks that have it, ascending) for each entity that others have too
template <class Find, class OnShared>
void meet_at_former_owners(exchange::Neighborhood& hood, std::span<const GlobalId> ids,
                           std::span<const Rank> former_owners, Find&& find, OnShared&& on_shared) {
  const Rank me = hood.context().rank();
  auto asking = hood.begin_round<GlobalId>();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (former_owners[i] != me) asking.allocate(former_owners[i]) = ids[i];
  asking.close();
  struct Use {
    GlobalId id;
    Rank user;
  };
  std::vector<Use> uses;
  for (const auto& [from, id] : asking.received()) uses.push_back({id, from});
  std::ranges::sort(uses, {}, [](const Use& use) { return std::tuple(use.id, use.user); });

  struct Answer {
    Rank to;
    GlobalId id;
    std::int32_t set;
  };
  std::vector<Answer> answers;
  RankSets sets;
  std::vector<Rank> users;
  for (std::size_t i = 0; i < uses.size();) {
    const GlobalId id = uses[i].id;
    const std::int32_t mine = find(id);
    users.clear();
    for (; i < uses.size() && uses[i].id == id; ++i) users.push_back(uses[i].user);
    if (mine >= 0) users.insert(std::ranges::upper_bound(users, me), me);
    if (users.size() < 2) continue;
    const std::int32_t set = sets.add(users);
    for (const Rank user : users)
      if (user != me) answers.push_back({user, id, set});
    if (mine >= 0) on_shared(mine, std::span<const Rank>(users));
  }
  std::ranges::stable_sort(answers, {}, &Answer::to);

  auto answering = hood.begin_byte_round();
  MessageWriter message;
  for (std::size_t i = 0; i < answers.size();) {
    const Rank to = answers[i].to;
    RankSets sent;
    std::vector<GlobalId> shared;
    std::vector<std::int32_t> sets_of_shared;
    for (; i < answers.size() && answers[i].to == to; ++i) {
      shared.push_back(answers[i].id);
      sets_of_shared.push_back(sent.add(sets[answers[i].set]));
    }
    message.clear();
    put(message, sent);
    message.put(shared);
    message.put(sets_of_shared);
    std::ranges::copy(message.bytes(), answering.allocate(to, message.bytes().size()).begin());
  }
  answering.close();
  for (const auto& [from, bytes] : answering.received()) {
    MessageReader in(bytes);
    const RankSets heard = take_rank_sets(in);
    const auto shared = in.get<GlobalId>();
    const auto sets_of_shared = in.get<std::int32_t>();
    for (std::size_t i = 0; i < shared.size(); ++i) on_shared(find(shared[i]), heard[sets_of_shared[i]]);
  }
}

}  // namespace barrio::mesh::detail
