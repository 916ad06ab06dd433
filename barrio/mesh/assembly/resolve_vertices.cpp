#include <algorithm>

#include "barrio/base/memory.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/tables/drawn_owner.hpp"
#include "barrio/mesh/tables/message.hpp"

// A rank asks the homes of the vertices that its cells use for coordinates. The ranks that ask for one vertex are its
// sharers, so the home answers with both; no skin of the local mesh is computed.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName share_region{"mesh.share"};

/// Ask the homes. These ascend with ids and places, so each request is a contiguous piece of the wanted list.
/// Collective.
exchange::Parcels<std::int32_t> ask_homes(mpi::Context& context, const Slabs& slabs, std::span<const GlobalId> wanted) {
  exchange::Parcels<std::int32_t> requests;
  std::vector<std::int32_t> rows;
  while (!wanted.empty()) {
    const Rank home = slabs.rank_of(wanted.front());
    const GlobalId first{slabs.first(home)};
    const GlobalId end{slabs.first(home + 1)};
    rows.resize(std::ranges::lower_bound(wanted, end) - wanted.begin());
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k] = static_cast<std::int32_t>(barrio::value(wanted[k]) - barrio::value(first));
    requests.add(home, rows);
    wanted = wanted.subspan(rows.size());
  }
  return exchange::route(context, requests, exchange::Route::automatic);
}

/// Append the coordinates of some rows of this rank's slab; consecutive rows are copied together.
void append_coordinates(std::vector<double>& out, const MeshTables& tables, std::span<const std::int32_t> rows) {
  for (std::size_t i = 0; i < rows.size();) {
    const std::size_t first = i++;
    while (i < rows.size() && rows[i] == rows[i - 1] + 1) ++i;
    const auto of_first = tables.coordinates.begin() + 3 * std::ptrdiff_t{rows[first]};
    out.insert(out.end(), of_first, of_first + 3 * (i - first));
  }
}

}  // namespace

/// A home's answer about the vertices that one rank asked for, besides their coordinates; places are those in the
/// request.
struct MeshBuilder::VertexAnswer {
  std::vector<std::int32_t> shared;  // places of vertices with several users, ascending
  std::vector<std::int32_t> sets_of_shared;
  std::vector<std::int32_t> offsets{0};  // of the sets of ranks
  std::vector<Rank> ranks;
  std::vector<SetRun> members;  // of sets of the mesh

  void put_into(MessageWriter& out) const {
    out.put(shared);
    out.put(sets_of_shared);
    out.put(offsets);
    out.put(ranks);
    out.put(members);
  }
};

/// View of a VertexAnswer, of this rank or in a message.
struct MeshBuilder::VertexAnswerView {
  std::span<const std::int32_t> shared;
  std::span<const std::int32_t> sets_of_shared;
  std::span<const std::int32_t> offsets;
  std::span<const Rank> ranks;
  std::span<const SetRun> members;

  explicit VertexAnswerView(const VertexAnswer& answer)
      : shared(answer.shared),
        sets_of_shared(answer.sets_of_shared),
        offsets(answer.offsets),
        ranks(answer.ranks),
        members(answer.members) {}
  explicit VertexAnswerView(MessageReader& in)
      : shared(in.get<std::int32_t>()),
        sets_of_shared(in.get<std::int32_t>()),
        offsets(in.get<std::int32_t>()),
        ranks(in.get<Rank>()),
        members(in.get<SetRun>()) {}
};

std::span<const Rank> MeshBuilder::users_of(GlobalId id) const {
  const std::int64_t row = barrio::value(id) - tables_.vertices.first(context_.rank());
  const std::int32_t& user = user_at_home_[row];
  if (user >= 0) return {&user, 1};
  return user == -1 ? std::span<const Rank>() : user_sets_[-2 - user];
}

void MeshBuilder::resolve_vertices() {
  const Region region(context_.trace(), share_region);
  const auto asked = ask_homes(context_, tables_.vertices, known_.vertices.ids());
  note_users(asked);
  answer_requests(asked);
}

/// Record the users of each vertex: the ranks that ask for it. A vertex with several users gets a list of them,
/// ascending because requests come by ascending rank.
void MeshBuilder::note_users(const exchange::Parcels<std::int32_t>& asked) {
  struct Use {
    std::int32_t list;
    Rank user;
  };
  user_at_home_.assign(tables_.vertices.size(context_.rank()), -1);
  std::vector<Use> uses;
  std::int32_t n_lists = 0;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    for (const std::int32_t row : asked.of(p)) {
      std::int32_t& user = user_at_home_[row];
      if (user == -1) {
        user = asked.peers[p];
        continue;
      }
      if (user >= 0) {
        uses.push_back({n_lists, user});
        user = -2 - n_lists++;
      }
      uses.push_back({-2 - user, asked.peers[p]});
    }
  }
  const auto users = Ragged<Rank>::grouped(n_lists, [&](auto&& put) {
    for (const Use& use : uses) put(use.list, use.user);
  });
  std::vector<std::int32_t> set_of_list;
  set_of_list.reserve(users.size());
  for (std::size_t list = 0; list < users.size(); ++list) set_of_list.push_back(user_sets_.add(users[list]));
  for (std::int32_t& user : user_at_home_)
    if (user < -1) user = -2 - set_of_list[-2 - user];
}

MeshBuilder::VertexAnswer MeshBuilder::answer_to(std::span<const std::int32_t> request) const {
  VertexAnswer answer;
  std::vector<std::int32_t> numbers(user_sets_.size(), -1);  // of a set of ranks within the answer
  std::int32_t n_sets = 0;
  for (std::int32_t i = 0; i < std::ssize(request); ++i) {
    const std::int32_t user = user_at_home_[request[i]];
    if (user >= 0) continue;
    const std::int32_t set = -2 - user;
    std::int32_t& number = numbers[set];
    if (number < 0) {
      number = n_sets++;
      answer.ranks.insert(answer.ranks.end(), user_sets_[set].begin(), user_sets_[set].end());
      detail::append_row(answer.offsets, user_sets_[set].size());
    }
    answer.shared.push_back(i);
    answer.sets_of_shared.push_back(number);
  }
  for (const SetRun& run : home_runs_.of_vertices) {
    auto at = std::ranges::lower_bound(request, run.first);
    for (; at != request.end() && *at < run.first + run.count; ++at)
      detail::append(answer.members, run.set, static_cast<std::int32_t>(at - request.begin()));
  }
  return answer;
}

/// Answer all ranks, and take the answers of the homes of this rank's vertices. Homes ascend with ids, so answers come
/// in the order of places. This rank's own request is not packed.
void MeshBuilder::answer_requests(const exchange::Parcels<std::int32_t>& asked) {
  const Rank me = context_.rank();
  exchange::Parcels<std::byte> answers;
  VertexAnswer kept;
  std::span<const std::int32_t> own_request;
  std::vector<double> coordinates;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    VertexAnswer answer = answer_to(asked.of(p));
    if (asked.peers[p] == me) {
      kept = std::move(answer);
      own_request = asked.of(p);
      continue;
    }
    coordinates.clear();
    coordinates.reserve(3 * asked.of(p).size());
    append_coordinates(coordinates, tables_, asked.of(p));
    MessageWriter out;
    out.put(coordinates);
    answer.put_into(out);
    answers.add(asked.peers[p], out.bytes());
  }
  const auto received = exchange::route(context_, answers, exchange::Route::automatic);
  free_memory(answers);

  const std::size_t n = known_.vertices.ids().size();
  known_.coordinates.reserve(3 * known_.with_room(n));
  known_.vertex_sharers.reserve(known_.with_room(n));
  known_.vertex_sharers.assign(n, -1);
  known_.vertex_owners.reserve(known_.with_room(n));
  known_.vertex_owners.assign(n, me);
  const auto take_from = [&](std::size_t peer) {
    MessageReader in(received.of(peer));
    const std::size_t first_place = known_.coordinates.size() / 3;
    const auto of_peer = in.get<double>();
    known_.coordinates.insert(known_.coordinates.end(), of_peer.begin(), of_peer.end());
    take_answer(VertexAnswerView(in), first_place);
  };
  std::size_t p = 0;
  for (; p < received.n_peers() && received.peers[p] < me; ++p) take_from(p);
  const std::size_t first_place = known_.coordinates.size() / 3;
  append_coordinates(known_.coordinates, tables_, own_request);
  take_answer(VertexAnswerView(kept), first_place);
  for (; p < received.n_peers(); ++p) take_from(p);
}

void MeshBuilder::take_answer(const VertexAnswerView& answer, std::size_t first_place) {
  std::vector<std::int32_t> numbers;
  for (std::size_t s = 0; s + 1 < answer.offsets.size(); ++s) {
    const std::size_t first = answer.offsets[s];
    const std::size_t end = answer.offsets[s + 1];
    numbers.push_back(known_.rank_sets.add(answer.ranks.subspan(first, end - first)));
  }
  const std::vector<GlobalId>& ids = known_.vertices.ids();
  for (std::size_t i = 0; i < answer.shared.size(); ++i) {
    const std::size_t place = first_place + answer.shared[i];
    known_.vertex_sharers[place] = numbers[answer.sets_of_shared[i]];
    const std::span<const Rank> users = known_.rank_sets[known_.vertex_sharers[place]];
    known_.vertex_owners[place] = users[detail::drawn_owner(Dim::vertex, ids[place], users.size())];
  }
  for (const SetRun& run : answer.members)
    known_.vertex_sets.push_back({run.set, run.first + static_cast<std::int32_t>(first_place), run.count});
}

}  // namespace barrio::mesh
