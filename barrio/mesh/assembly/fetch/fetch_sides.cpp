#include <algorithm>
#include <array>
#include <map>

#include "barrio/base/memory.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/assembly/ghosts/cells_around.hpp"
#include "barrio/mesh/assembly/ghosts/side_message.hpp"

// Fetch the boundary faces and edges that a file lists. They are found by vertex: the home of a side's lowest vertex
// knows which ranks use that vertex, and only these can have the side.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;
using detail::SideColumns;
using detail::SideColumnsView;

constexpr RegionName side_region{"mesh.sides"};

/// Listed entities for some ranks, by ascending rank.
using Outbox = std::map<Rank, SideColumns>;

exchange::Parcels<std::byte> send(mpi::Context& context, Outbox& outbox) {
  exchange::Parcels<std::byte> parcels;
  MessageWriter message;
  for (auto& [rank, listed] : outbox) {
    message.clear();
    listed.put_into(message);
    parcels.add(rank, message.bytes());
    free_memory(listed);
  }
  return exchange::route(context, parcels, exchange::Route::automatic);
}

/// Return the local ids of the lowest vertices of sides.
template <class LocalOf>
std::vector<LocalId> anchors_of(const exchange::Parcels<std::byte>& offered, LocalOf&& local_of) {
  std::vector<LocalId> anchors;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    MessageReader reader(offered.of(p));
    const SideColumnsView in(reader);
    std::size_t first = 0;
    for (const std::int32_t size : in.sizes) {
      anchors.push_back(local_of(*std::ranges::min_element(in.nodes.subspan(first, size))));
      first += size;
    }
  }
  return anchors;
}

}  // namespace

struct MeshBuilder::SideClaims {
  struct Side {
    int dim;
    std::size_t place;  // among those held
  };
  std::vector<Side> sides;
  exchange::Parcels<std::int32_t> numbers;  // at homes, in the order of `sides`
};

std::array<detail::HeldSides, 4> MeshBuilder::fetch_sides() {
  const Region region(context_.trace(), side_region);
  bool is_any = false;
  for (int d = 1; d < value(out_.cell_dim); ++d) {
    if (tables_.n_global(Dim{d}) == 0) continue;
    shape_table(shapes_[d], Dim{d});
    is_any = true;
  }
  std::array<HeldSides, 4> held;
  if (!is_any) return held;
  std::int32_t n_contested = 0;
  const auto offered = offer_sides(n_contested);
  const SideClaims claims = claim_sides(offered, held);
  share_sides(claims, n_contested, held);
  return held;
}

exchange::Parcels<std::byte> MeshBuilder::offer_sides(std::int32_t& n_contested) {
  // 1. Each listed side goes to the home of its lowest vertex, with the sets it is in.
  const Rank me = context_.rank();
  Outbox to_homes;
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
    const CellBlock& block = tables_.blocks[b];
    const Dim dim = topology(block.type).dim;
    if (dim == Dim::vertex || dim == out_.cell_dim) continue;
    const std::size_t n = block.rows.size(me);
    const GlobalId first{tables_.first_row(b) + block.rows.first(me)};
    std::vector<Rank> homes;
    std::vector<std::int32_t> places;  // in the message
    homes.reserve(n);
    places.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto nodes = block.cell(i);
      const Rank home = tables_.vertices.rank_of(*std::ranges::min_element(nodes));
      SideColumns& out = to_homes[home];
      homes.push_back(home);
      places.push_back(out.next_place());
      out.add(first + i, block.type, -1, nodes.size());
      out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
    }
    for (const SetRun& run : home_runs_.of_blocks[b]) {
      const std::size_t low = run.first;
      for (std::size_t i = low; i < low + run.count; ++i) detail::append(to_homes[homes[i]].sets, run.set, places[i]);
    }
  }
  const auto listed = send(context_, to_homes);

  // 2. The home offers it to all ranks that use that vertex. Contested sides, offered to several ranks, get a number.
  Outbox to_users;
  n_contested = 0;
  for (std::size_t p = 0; p < listed.n_peers(); ++p) {
    MessageReader reader(listed.of(p));
    const SideColumnsView in(reader);
    in.for_each([&](std::size_t i, std::span<const GlobalId> nodes, std::span<const std::int32_t> sets) {
      const auto users = users_of(*std::ranges::min_element(nodes));
      const std::int32_t number = users.size() > 1 ? n_contested++ : -1;
      for (const Rank user : users) {
        SideColumns& out = to_users[user];
        for (const std::int32_t set : sets) out.sets.push_back({set, out.next_place(), 1});
        out.add(in.ids[i], in.types[i], number, nodes.size());
        out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
      }
    });
  }
  return send(context_, to_users);
}

MeshBuilder::SideClaims MeshBuilder::claim_sides(const exchange::Parcels<std::byte>& offered,
                                                 std::array<HeldSides, 4>& held) {
  // 3. A rank takes a side that one of its cells has; if the side is contested, the rank claims it from the home.
  const std::vector<LocalId> anchors = anchors_of(offered, [&](GlobalId id) { return numbered_.local_vertex(id); });
  const detail::CellsAround around(numbered_.cells, numbered_.cells.n_owned, anchors, numbered_.vertices.size());
  SideClaims claims;
  std::vector<std::int32_t> numbers;
  std::vector<LocalId> local;
  std::size_t next_anchor = 0;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    MessageReader reader(offered.of(p));
    const SideColumnsView in(reader);
    numbers.clear();
    in.for_each([&](std::size_t i, std::span<const GlobalId> of_side, std::span<const std::int32_t> sets) {
      const LocalId anchor = anchors[next_anchor++];
      local.clear();
      for (const GlobalId node : of_side) local.push_back(numbered_.local_vertex(node));
      if (std::ranges::find(local, no_local_id) != local.end()) return;
      if (!detail::is_side_of_any(numbered_.cells, around, anchor, in.types[i], local)) return;
      const int dim = value(topology(in.types[i]).dim);
      HeldSides& of_dim = held[dim];
      for (const std::int32_t set : sets)
        detail::append(of_dim.sets, set, static_cast<std::int32_t>(of_dim.sides.size()));
      of_dim.add(in.ids[i], in.types[i], local, context_.rank());
      if (in.owners[i] < 0) return;
      numbers.push_back(in.owners[i]);
      claims.sides.push_back({dim, of_dim.sides.size() - 1});
    });
    if (!numbers.empty()) claims.numbers.add(offered.peers[p], numbers);
  }
  return claims;
}

void MeshBuilder::share_sides(const SideClaims& claims, std::int32_t n_contested, std::array<HeldSides, 4>& held) {
  // 4. The home tells each claimant the ranks that claimed each side, in the order of its claims. All claimants thus
  //    draw
  // the same owner.
  const auto heard = exchange::route(context_, claims.numbers);
  const auto claimants = Ragged<Rank>::grouped(n_contested, [&](auto&& put) {  // ascending for each
    for (std::size_t p = 0; p < heard.n_peers(); ++p)
      for (const std::int32_t number : heard.of(p)) put(number, heard.peers[p]);
  });
  exchange::Parcels<std::int32_t> answers;  // number of claimants, then their ranks
  std::vector<std::int32_t> answer;
  for (std::size_t p = 0; p < heard.n_peers(); ++p) {
    answer.clear();
    for (const std::int32_t number : heard.of(p)) {
      const auto of_side = claimants[number];
      answer.push_back(static_cast<std::int32_t>(of_side.size()));
      answer.insert(answer.end(), of_side.begin(), of_side.end());
    }
    answers.add(heard.peers[p], answer);
  }
  const std::vector<Rank> told = exchange::route(context_, answers).items;
  std::size_t at = 0;
  for (const SideClaims::Side& one : claims.sides) {
    const std::size_t n = told[at++];
    if (n > 1) held[one.dim].set_sharers(one.place, Dim{one.dim}, std::span(told).subspan(at, n));
    at += n;
  }
}

}  // namespace barrio::mesh
