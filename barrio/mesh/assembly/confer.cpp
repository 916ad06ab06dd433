#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/assembly/adoption.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mpi/agree.hpp"

// Ranks that share something compare it: each sends its shared vertices and sides, with a hash of all that must be the
// same on both, and the cells that the other rank may have too.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;

/// A shared entity, with a hash of the properties on which both ranks must agree.
struct SharedEntity {
  GlobalId id;
  std::uint64_t hash;  // lowest bit: an own cell uses the entity; other bits: the hash

  [[nodiscard]] std::uint64_t content() const noexcept { return hash >> 1U; }
  [[nodiscard]] bool is_used() const noexcept { return (hash & 1U) != 0; }
};

constexpr std::array<const char*, 3> names{"vertex", "edge", "face"};

Error contradiction(const char* name, GlobalId id, const std::string& cause) {
  return {ErrorCode::usage, {.subject = fmt::format("{} {}", name, value(id)), .cause = cause}};
}

/// Find the first contradiction between the lists of this rank and another one, if any. Both lists ascend.
std::optional<Error> difference(const char* name, std::span<const SharedEntity> mine,
                                std::span<const SharedEntity> theirs, Rank me, Rank other) {
  std::size_t i = 0;
  for (; i < mine.size() && i < theirs.size() && mine[i].id == theirs[i].id; ++i) {
    if (mine[i].content() == theirs[i].content()) continue;
    return contradiction(name, mine[i].id,
                         fmt::format("has different sharers, nodes or coordinates on ranks {} and {}", me, other));
  }
  const auto says = [&](GlobalId id, Rank one, Rank another) {
    return contradiction(
        name, id, fmt::format("is shared with rank {1} on rank {0}, but not with rank {0} on rank {1}", one, another));
  };
  const bool is_mine = i < mine.size() && (i == theirs.size() || mine[i].id < theirs[i].id);
  if (is_mine) return says(mine[i].id, me, other);
  if (i < theirs.size()) return says(theirs[i].id, other, me);
  return std::nullopt;
}

}  // namespace

std::uint64_t MeshAdoption::hash_of(Dim dim, std::size_t at, std::span<const Rank> ranks) const {
  Hash64 hash;
  for (const Rank rank : ranks) hash.add(std::int64_t{rank});
  if (dim == Dim::vertex) {
    hash.add_all(std::span<const double>(from_.coordinates).subspan(3 * at, 3));
  } else {
    hash.add(static_cast<std::uint64_t>(given(dim).type(at)));
    for (const LocalId v : given(dim).nodes_of(at)) hash.add(barrio::value(from_.vertex_ids[index(v)]));
  }
  return hash.value();
}

void MeshAdoption::confer() {
  const Rank me = context_.rank();
  const std::vector<Rank> mutual = exchange::mutual_neighbours(context_, ranks_named());
  std::array<std::vector<std::vector<SharedEntity>>, 3> told;  // by dimension and neighbour
  for (int d = 0; d < value(out_.cell_dim); ++d) {
    const Dim dim{d};
    told[d].resize(mutual.size());
    const auto& ids = d == 0 ? from_.vertex_ids : from_.entities[d].ids;
    const auto tell = [&](std::int32_t at, bool is_used) {
      const std::int32_t set = given_sharers(dim, at);
      if (set < 0) return;
      const std::span<const Rank> ranks = from_.rank_sets[set];
      const std::uint64_t hash = hash_of(dim, at, ranks) << 1U | std::uint64_t{is_used};
      for (const Rank rank : ranks)
        if (rank != me) told[d][std::ranges::lower_bound(mutual, rank) - mutual.begin()].push_back({ids[at], hash});
    };
    for (const std::int32_t at : order_[d]) tell(at, true);
    for (const std::int32_t at : unused_[d]) tell(at, false);
    if (!unused_[d].empty())
      for (auto& of_rank : told[d]) std::ranges::sort(of_rank, {}, &SharedEntity::id);
  }
  const std::vector<std::vector<GlobalId>> cells_told = cells_between(mutual);

  exchange::Neighborhood hood(context_, mutual, {.delivery = exchange::Delivery::by_rank});
  auto round = hood.begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < mutual.size(); ++r) {
    message.clear();
    for (std::size_t d = 0; d < index(out_.cell_dim); ++d) message.put(told[d][r]);
    message.put(cells_told[r]);
    std::ranges::copy(message.bytes(), round.allocate(mutual[r], message.bytes().size()).begin());
  }
  round.close();
  std::optional<Error> fault;
  std::vector<Leaving> leaving;
  std::size_t r = 0;
  for (const auto& [from, bytes] : round.received()) {
    MessageReader reader(bytes);
    for (int d = 0; d < value(out_.cell_dim); ++d) {
      const auto theirs = reader.get<SharedEntity>();
      if (!fault) fault = difference(names[d], told[d][r], theirs, me, from);
      for (const SharedEntity& entity : theirs) {
        if (entity.is_used()) continue;
        const auto& ids = d == 0 ? known_.vertices.ids() : sides_[d].global_ids;
        const auto at = std::ranges::lower_bound(ids, entity.id);
        if (at != ids.end() && *at == entity.id)
          leaving.push_back({Dim{d}, static_cast<std::int32_t>(at - ids.begin()), from});
      }
    }
    for (const GlobalId cell : reader.get<GlobalId>())
      if (!fault && std::ranges::binary_search(known_.cells.global_ids, cell))
        fault = contradiction("cell", cell, fmt::format("is given by rank {} and by rank {}", me, from));
    r += 1;
  }
  agree_after(context_, [&] {
    if (fault) throw *fault;
  });
  drop_users(std::move(leaving));
}

void MeshAdoption::drop_users(std::vector<Leaving> leaving) {
  std::ranges::sort(leaving);
  std::vector<Rank> left;
  for (std::size_t i = 0; i < leaving.size();) {
    const auto [dim, place, first] = leaving[i];
    std::int32_t& set = dim == Dim::vertex ? known_.vertex_sharers[place] : sharers_[index(dim)][place];
    left.assign(users_[set].begin(), users_[set].end());
    for (; i < leaving.size() && leaving[i].dim == dim && leaving[i].place == place; ++i)
      std::erase(left, leaving[i].rank);
    set = left.size() > 1 ? users_.add(left) : -1;
  }
}

std::vector<Rank> MeshAdoption::ranks_named() const {
  std::vector<bool> is_named(from_.rank_sets.size(), false);
  const auto name = [&](std::span<const std::int32_t> sharers) {
    for (const std::int32_t set : sharers)
      if (set >= 0) is_named[set] = true;
  };
  name(from_.vertex_sharers);
  for (std::size_t d = 1; d < index(out_.cell_dim); ++d) name(from_.entities[d].sharers);
  RankSets named;
  for (std::size_t s = 0; s < is_named.size(); ++s)
    if (is_named[s]) named.add(from_.rank_sets[s]);
  return named.all_but(context_.rank());
}

std::vector<std::vector<GlobalId>> MeshAdoption::cells_between(std::span<const Rank> ranks) const {
  std::vector<std::vector<GlobalId>> between(ranks.size());
  if (ranks.empty()) return between;
  std::vector<Rank> common;
  std::vector<Rank> both;
  for (std::size_t c = 0; c < known_.n_own; ++c) {
    const auto nodes = known_.cells.nodes_of(c);
    if (std::ranges::any_of(nodes, [&](LocalId v) { return known_.vertex_sharers[index(v)] < 0; })) continue;
    common.assign(ranks.begin(), ranks.end());
    for (const LocalId v : nodes) {
      both.clear();
      std::ranges::set_intersection(common, users_[known_.vertex_sharers[index(v)]], std::back_inserter(both));
      common.swap(both);
    }
    for (const Rank rank : common)
      between[std::ranges::lower_bound(ranks, rank) - ranks.begin()].push_back(known_.cells.global_ids[c]);
  }
  return between;
}

}  // namespace barrio::mesh
