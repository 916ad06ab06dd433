#include <algorithm>
#include <numeric>

#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/tables/message.hpp"

// A rank asks the home of each vertex that its cells use for its coordinates. The ranks that ask for one vertex are its
// sharers, so the home answers with both; no skin of the local mesh is computed.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName share_region{"mesh.share"};

/// What a home says of the vertices that one rank asked for, beside their coordinates; places are those in the request.
struct Answer {
  std::vector<std::int32_t> shared;  // places of vertices with several users, ascending
  std::vector<std::int32_t> sets_of_shared;
  std::vector<std::int32_t> offsets{0};  // of the sets of ranks
  std::vector<Rank> ranks;
  std::vector<SetRun> members;  // of sets of the mesh
};

}  // namespace

std::span<const Rank> MeshBuilder::users_of(GlobalId id) const {
  const std::int64_t row = barrio::value(id) - tables_.vertices.first(context_.rank());
  const std::int32_t& user = user_at_home_[static_cast<std::size_t>(row)];
  if (user >= 0) return {&user, 1};
  return user == -1 ? std::span<const Rank>() : user_sets_[-2 - user];
}

void MeshBuilder::resolve_vertices() {
  const Region region(context_.trace(), share_region);
  const Rank me = context_.rank();
  const Slabs& slabs = tables_.vertices;

  // 1. Ask: places ascend with ids, and homes with both, so a request is a piece of the list.
  const std::vector<GlobalId>& wanted = index_.ids();
  exchange::Parcels<std::int32_t> requests;
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < wanted.size();) {
    const Rank home = slabs.rank_of(wanted[i]);
    const GlobalId first{slabs.first(home)};
    const GlobalId end{slabs.first(home + 1)};
    const std::span<const GlobalId> from_here = std::span(wanted).subspan(i);
    rows.resize(static_cast<std::size_t>(std::ranges::lower_bound(from_here, end) - from_here.begin()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k] = static_cast<std::int32_t>(barrio::value(from_here[k]) - barrio::value(first));
    i += rows.size();
    requests.add(home, rows);
  }
  const auto asked = exchange::route(context_, requests, exchange::Route::automatic);

  // 2. Who asks for a vertex uses it. Those of several users get a list of them, in ascending order as ranks come.
  struct Use {
    std::int32_t list;
    Rank user;
  };
  user_at_home_.assign(slabs.size(me), -1);
  std::vector<Use> uses;
  std::vector<std::size_t> offsets{0};
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    for (const std::int32_t row : asked.of(p)) {
      std::int32_t& user = user_at_home_[static_cast<std::size_t>(row)];
      if (user == -1) {
        user = asked.peers[p];
        continue;
      }
      if (user >= 0) {
        const auto list = static_cast<std::int32_t>(offsets.size() - 1);
        uses.push_back({list, user});
        offsets.push_back(1);
        user = -2 - list;
      }
      uses.push_back({-2 - user, asked.peers[p]});
      offsets[static_cast<std::size_t>(-2 - user) + 1] += 1;
    }
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<Rank> users(uses.size());
  std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
  for (const Use& use : uses) users[next[static_cast<std::size_t>(use.list)]++] = use.user;
  std::vector<std::int32_t> set_of_list;
  set_of_list.reserve(next.size());
  for (std::size_t list = 0; list + 1 < offsets.size(); ++list)
    set_of_list.push_back(user_sets_.add(std::span(users).subspan(offsets[list], offsets[list + 1] - offsets[list])));
  for (std::int32_t& user : user_at_home_)
    if (user < -1) user = -2 - set_of_list[static_cast<std::size_t>(-2 - user)];

  // 3. Answer.
  const auto answer_to = [&](std::span<const std::int32_t> request) {
    Answer answer;
    std::vector<std::int32_t> numbers(user_sets_.size(), -1);  // of a set of ranks within the answer
    for (std::size_t i = 0; i < request.size(); ++i) {
      const auto row = static_cast<std::size_t>(request[i]);
      if (user_at_home_[row] >= 0) continue;
      const std::int32_t set = -2 - user_at_home_[row];
      std::int32_t& number = numbers[static_cast<std::size_t>(set)];
      if (number < 0) {
        number = static_cast<std::int32_t>(answer.offsets.size() - 1);
        answer.ranks.insert(answer.ranks.end(), user_sets_[set].begin(), user_sets_[set].end());
        answer.offsets.push_back(static_cast<std::int32_t>(answer.ranks.size()));
      }
      answer.shared.push_back(static_cast<std::int32_t>(i));
      answer.sets_of_shared.push_back(number);
    }
    for (const SetRun& run : home_runs_.of_vertices) {
      auto at = std::ranges::lower_bound(request, run.first);
      for (; at != request.end() && *at < run.first + run.count; ++at)
        detail::append(answer.members, run.set, static_cast<std::int32_t>(at - request.begin()));
    }
    return answer;
  };
  const auto append_coordinates = [&](std::vector<double>& out, std::span<const std::int32_t> request) {
    for (std::size_t i = 0; i < request.size();) {  // rows that follow each other at once
      const std::size_t first = i++;
      while (i < request.size() && request[i] == request[i - 1] + 1) ++i;
      const auto of_first = tables_.coordinates.begin() + 3 * static_cast<std::ptrdiff_t>(request[first]);
      out.insert(out.end(), of_first, of_first + 3 * static_cast<std::ptrdiff_t>(i - first));
    }
  };
  exchange::Parcels<std::byte> answers;
  Answer kept;
  std::span<const std::int32_t> own_request;
  std::vector<double> coordinates;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    Answer answer = answer_to(asked.of(p));
    if (asked.peers[p] == me) {
      kept = std::move(answer);
      own_request = asked.of(p);
      continue;
    }
    coordinates.clear();
    coordinates.reserve(3 * asked.of(p).size());
    append_coordinates(coordinates, asked.of(p));
    MessageWriter out;
    out.put(coordinates);
    out.put(answer.shared);
    out.put(answer.sets_of_shared);
    out.put(answer.offsets);
    out.put(answer.ranks);
    out.put(answer.members);
    answers.add(asked.peers[p], out.bytes());
  }
  const auto received = exchange::route(context_, answers, exchange::Route::automatic);
  answers = {};

  // 4. Homes ascend with ids, so the answers stand in the order of places.
  coordinates_.reserve(3 * with_room(wanted.size()));
  sharers_at_.reserve(with_room(wanted.size()));
  sharers_at_.assign(wanted.size(), -1);
  vertex_owners_.reserve(with_room(wanted.size()));
  vertex_owners_.assign(wanted.size(), me);
  std::size_t first_place = 0;
  const auto take = [&](std::span<const std::int32_t> shared, std::span<const std::int32_t> sets_of_shared,
                        std::span<const std::int32_t> set_offsets, std::span<const Rank> ranks,
                        std::span<const SetRun> members) {
    std::vector<std::int32_t> numbers;
    for (std::size_t s = 0; s + 1 < set_offsets.size(); ++s)
      numbers.push_back(out_.vertices.rank_sets.add(ranks.subspan(
          static_cast<std::size_t>(set_offsets[s]), static_cast<std::size_t>(set_offsets[s + 1] - set_offsets[s]))));
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const std::size_t place = first_place + static_cast<std::size_t>(shared[i]);
      sharers_at_[place] = numbers[static_cast<std::size_t>(sets_of_shared[i])];
      vertex_owners_[place] = drawn_owner(Dim::vertex, wanted[place], out_.vertices.rank_sets[sharers_at_[place]]);
    }
    for (const SetRun& run : members)
      set_runs_[0].push_back({run.set, run.first + static_cast<std::int32_t>(first_place), run.count});
    first_place = coordinates_.size() / 3;
  };
  const auto take_kept = [&] {
    append_coordinates(coordinates_, own_request);
    take(kept.shared, kept.sets_of_shared, kept.offsets, kept.ranks, kept.members);
  };
  std::size_t p = 0;
  const auto take_from = [&](std::size_t peer) {
    MessageReader in(received.of(peer));
    const auto of_peer = in.get<double>();
    coordinates_.insert(coordinates_.end(), of_peer.begin(), of_peer.end());
    const auto shared = in.get<std::int32_t>();
    const auto sets_of_shared = in.get<std::int32_t>();
    const auto set_offsets = in.get<std::int32_t>();
    const auto ranks = in.get<Rank>();
    take(shared, sets_of_shared, set_offsets, ranks, in.get<SetRun>());
  };
  for (; p < received.n_peers() && received.peers[p] < me; ++p) take_from(p);
  take_kept();
  for (; p < received.n_peers(); ++p) take_from(p);
  out_.neighbours = out_.vertices.rank_sets.all_but(me);
}

}  // namespace barrio::mesh
