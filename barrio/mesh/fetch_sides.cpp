#include <algorithm>
#include <map>
#include <tuple>

#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/builder.hpp"
#include "barrio/mesh/detail/cells_around.hpp"

// Entities below the cells' dimension: the boundary faces and edges that a file lists. They are found by vertex: the
// home of a side's lowest vertex knows which ranks use that vertex, and only those can have the side.

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
    listed = {};
  }
  return exchange::route(context, parcels, exchange::Route::automatic);
}

/// A rank that has an entity among the sides of its cells.
struct Claim {
  GlobalId id;
  Rank rank;
};

}  // namespace

MeshAssembly::HeldSides MeshBuilder::fetch_sides(Dim dim) {
  const Region region(context_.trace(), side_region);
  const Rank me = context_.rank();
  shape_table(table(dim), dim);

  // 1. Each listed side goes to the home of its lowest vertex, with the sets it is in.
  Outbox to_homes;
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
    const CellBlock& block = tables_.blocks[b];
    if (topology(block.type).dim != dim) continue;
    const std::size_t n = block.rows.size(me);
    const std::int64_t first = tables_.first_row(b) + block.rows.first(me);
    std::vector<Rank> homes;
    std::vector<std::int32_t> places;  // in the message
    for (std::size_t i = 0; i < n; ++i) {
      const auto nodes = block.cell(i);
      const Rank home = tables_.vertices.rank_of(*std::ranges::min_element(nodes));
      SideColumns& out = to_homes[home];
      homes.push_back(home);
      places.push_back(static_cast<std::int32_t>(out.ids.size()));
      out.add(GlobalId{first + static_cast<std::int64_t>(i)}, block.type, -1, nodes.size());
      out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
    }
    for (const SetRun& run : home_runs_.of_blocks[b]) {
      const auto low = static_cast<std::size_t>(run.first);
      for (std::size_t i = low; i < low + static_cast<std::size_t>(run.count); ++i)
        detail::append(to_homes[homes[i]].sets, run.set, places[i]);
    }
  }
  const auto listed = send(context_, to_homes);

  // 2. The home passes it on to all ranks that use that vertex.
  Outbox to_users;
  for (std::size_t p = 0; p < listed.n_peers(); ++p) {
    MessageReader reader(listed.of(p));
    const SideColumnsView in(reader);
    in.for_each([&](std::size_t i, std::span<const GlobalId> nodes, std::span<const std::int32_t> sets) {
      const auto users = users_of(*std::ranges::min_element(nodes));
      for (const Rank user : users) {
        SideColumns& out = to_users[user];
        for (const std::int32_t set : sets) out.sets.push_back({set, static_cast<std::int32_t>(out.ids.size()), 1});
        out.add(in.ids[i], in.types[i], users.size() > 1 ? -1 : user, nodes.size());  // -1: contested
        out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
      }
    });
  }
  const auto offered = send(context_, to_users);

  // 3. A rank takes it if it is a side of one of its cells; where others may have it too, it tells the home.
  std::vector<LocalId> anchors;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    MessageReader reader(offered.of(p));
    const SideColumnsView in(reader);
    std::size_t first = 0;
    for (const std::int32_t size : in.sizes) {
      anchors.push_back(
          local_vertex(*std::ranges::min_element(in.nodes.subspan(first, static_cast<std::size_t>(size)))));
      first += static_cast<std::size_t>(size);
    }
  }
  const detail::CellsAround around(cells(), n_own_cells_, anchors, out_.vertices.size());
  HeldSides held;
  exchange::Parcels<GlobalId> claims;
  std::vector<GlobalId> claimed_here;
  std::vector<LocalId> local;
  std::size_t next_anchor = 0;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    MessageReader reader(offered.of(p));
    const SideColumnsView in(reader);
    claimed_here.clear();
    in.for_each([&](std::size_t i, std::span<const GlobalId> of_side, std::span<const std::int32_t> sets) {
      const LocalId anchor = anchors[next_anchor++];
      local.clear();
      for (const GlobalId node : of_side) local.push_back(local_vertex(node));
      if (std::ranges::find(local, no_local_id) != local.end()) return;
      bool is_taken = false;
      detail::for_each_cell_with(cells(), around, anchor, in.types[i], local, [&](std::int32_t) { is_taken = true; });
      if (!is_taken) return;
      for (const std::int32_t set : sets) detail::append(held.sets, set, static_cast<std::int32_t>(held.sides.size()));
      held.add(in.ids[i], in.types[i], local, me);
      if (in.owners[i] < 0) claimed_here.push_back(in.ids[i]);
    });
    if (!claimed_here.empty()) claims.add(offered.peers[p], claimed_here);
  }
  const auto claimed = exchange::route(context_, claims);

  // 4. The home draws the owner among those who claimed it, and tells each of them who the others are.
  std::vector<Claim> all;
  for (std::size_t p = 0; p < claimed.n_peers(); ++p)
    for (const GlobalId id : claimed.of(p)) all.push_back({id, claimed.peers[p]});
  std::ranges::sort(all, {}, [](const Claim& claim) { return std::tuple(claim.id, claim.rank); });
  std::vector<Rank> to;
  std::vector<Claim> told;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].id == all[i].id) ++end;
    for (std::size_t a = i; end - i > 1 && a < end; ++a) {
      for (std::size_t b = i; b < end; ++b) {
        to.push_back(all[a].rank);
        told.push_back(all[b]);
      }
    }
    i = end;
  }
  std::vector<Claim> sharers = exchange::route(context_, exchange::pack_by_rank<Claim>(to, told)).items;
  std::ranges::sort(sharers, {}, [](const Claim& claim) { return std::tuple(claim.id, claim.rank); });

  std::vector<Rank> ranks;
  for (HeldSides::Side& side : held.sides) {
    ranks.clear();
    for (const Claim& claim : std::ranges::equal_range(sharers, side.id, {}, &Claim::id)) ranks.push_back(claim.rank);
    if (!ranks.empty()) set_sharers(side, dim, ranks);
  }
  return held;
}

}  // namespace barrio::mesh
