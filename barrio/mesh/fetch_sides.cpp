#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/builder.hpp"
#include "barrio/mesh/detail/message.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mpi/collectives.hpp"

// Entities below the cells' dimension: the boundary faces and edges that a file lists. They are found by vertex: the
// home of a side's lowest vertex knows which ranks use that vertex, and only those can have the side.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName side_region{"mesh.sides"};

/// Listed entities as columns.
struct Listed {
  std::vector<GlobalId> ids;
  std::vector<CellType> types;
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> is_contested;  // several ranks use its lowest vertex
  std::vector<GlobalId> nodes;
  std::vector<SetRun> sets;  // of entities by place

  void put_into(MessageWriter& out) const {
    out.put(ids);
    out.put(types);
    out.put(sizes);
    out.put(is_contested);
    out.put(nodes);
    out.put(sets);
  }
};

/// The same as it is read from a message.
struct ListedView {
  std::span<const GlobalId> ids;
  std::span<const CellType> types;
  std::span<const std::int32_t> sizes;
  std::span<const std::uint8_t> is_contested;
  std::span<const GlobalId> nodes;
  std::span<const SetRun> sets;

  explicit ListedView(MessageReader in)
      : ids(in.get<GlobalId>()),
        types(in.get<CellType>()),
        sizes(in.get<std::int32_t>()),
        is_contested(in.get<std::uint8_t>()),
        nodes(in.get<GlobalId>()),
        sets(in.get<SetRun>()) {}

  /// Call `visit(place, nodes, sets)` for each entity.
  template <class Visit>
  void for_each(Visit&& visit) const {
    // Runs of one set ascend, runs of different ones interleave.
    std::vector<SetRun> sorted(sets.begin(), sets.end());
    std::ranges::sort(sorted, {}, [](const SetRun& run) { return std::tuple(run.first, run.set); });
    std::vector<SetRun> open;  // that cover the place
    std::vector<std::int32_t> of_place;
    std::size_t next = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto place = static_cast<std::int32_t>(i);
      std::erase_if(open, [&](const SetRun& run) { return run.first + run.count <= place; });
      for (; next < sorted.size() && sorted[next].first <= place; ++next) open.push_back(sorted[next]);
      of_place.clear();
      for (const SetRun& run : open) of_place.push_back(run.set);
      const auto n = static_cast<std::size_t>(sizes[i]);
      visit(i, nodes.subspan(first, n), std::span<const std::int32_t>(of_place));
      first += n;
    }
  }
};

/// Messages for some ranks, by ascending rank.
using Outbox = std::map<Rank, Listed>;

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

/// Own cells around some vertices.
class CellsAround {
 public:
  /// @param[in] anchors  vertices to be asked for, in any order
  CellsAround(const EntityTable& cells, std::span<const LocalId> anchors, std::size_t n_vertices)
      : slots_(n_vertices, -1) {
    for (const LocalId v : anchors) {
      if (slots_[index(v)] >= 0) continue;
      slots_[index(v)] = static_cast<std::int32_t>(offsets_.size() - 1);
      offsets_.push_back(0);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // slot, cell
    for (std::size_t c = 0; c < cells.n_owned; ++c)
      for (const LocalId v : cells.nodes_of(c))
        if (const std::int32_t slot = slots_[index(v)]; slot >= 0)
          found.emplace_back(slot, static_cast<std::int32_t>(c));
    for (const auto& [slot, cell] : found) offsets_[static_cast<std::size_t>(slot) + 1] += 1;
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) offsets_[s + 1] += offsets_[s];
    cells_.resize(found.size());
    std::vector<std::int32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (const auto& [slot, cell] : found)
      cells_[static_cast<std::size_t>(next[static_cast<std::size_t>(slot)]++)] = cell;
  }
  [[nodiscard]] std::span<const std::int32_t> of(LocalId v) const {
    const auto slot = static_cast<std::size_t>(slots_[index(v)]);
    const auto first = static_cast<std::size_t>(offsets_[slot]);
    return std::span<const std::int32_t>(cells_).subspan(first, static_cast<std::size_t>(offsets_[slot + 1]) - first);
  }

 private:
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> offsets_{0};
  std::vector<std::int32_t> cells_;
};

/// A rank that has an entity among the sides of its cells.
struct Claim {
  GlobalId id;
  Rank rank;
};

}  // namespace

void MeshBuilder::fetch_sides(Dim dim) {
  EntityTable& table = out_.entities[static_cast<std::size_t>(value(dim))];
  if (tables_.n_global(dim) == 0) return;
  const Region region(context_.trace(), side_region);
  const Rank me = context_.rank();
  shape_table(table, dim);

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
      Listed& out = to_homes[home];
      homes.push_back(home);
      places.push_back(static_cast<std::int32_t>(out.ids.size()));
      out.ids.push_back(GlobalId{first + static_cast<std::int64_t>(i)});
      out.types.push_back(block.type);
      out.sizes.push_back(static_cast<std::int32_t>(nodes.size()));
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
  std::int64_t n_listed = 0;
  for (std::size_t p = 0; p < listed.n_peers(); ++p) {
    const ListedView in{MessageReader(listed.of(p))};
    n_listed += static_cast<std::int64_t>(in.ids.size());
    in.for_each([&](std::size_t i, std::span<const GlobalId> nodes, std::span<const std::int32_t> sets) {
      const auto users = users_of(*std::ranges::min_element(nodes));
      for (const Rank user : users) {
        Listed& out = to_users[user];
        for (const std::int32_t set : sets) out.sets.push_back({set, static_cast<std::int32_t>(out.ids.size()), 1});
        out.ids.push_back(in.ids[i]);
        out.types.push_back(in.types[i]);
        out.sizes.push_back(in.sizes[i]);
        out.is_contested.push_back(users.size() > 1 ? 1 : 0);
        out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
      }
    });
  }
  const auto offered = send(context_, to_users);

  // 3. A rank takes it if it is a side of one of its cells; where others may have it too, it tells the home.
  std::vector<LocalId> anchors;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    const ListedView in{MessageReader(offered.of(p))};
    std::size_t first = 0;
    for (const std::int32_t size : in.sizes) {
      anchors.push_back(
          local_vertex(*std::ranges::min_element(in.nodes.subspan(first, static_cast<std::size_t>(size)))));
      first += static_cast<std::size_t>(size);
    }
  }
  struct Side {
    GlobalId id;
    CellType type;
    std::int32_t n_nodes;
    std::size_t first_node;
    Rank owner;
    std::int32_t sharer_set;
    std::uint8_t group;  // 0 interior, 1 fringe, 2 another rank's
  };
  const CellsAround around(cells(), anchors, out_.vertices.size());
  std::vector<Side> sides;
  std::vector<LocalId> nodes;
  std::vector<detail::SetRun> members;  // by place in `sides`
  exchange::Parcels<GlobalId> claims;
  std::vector<GlobalId> claimed_here;
  std::vector<LocalId> local;
  std::size_t next_anchor = 0;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    const ListedView in{MessageReader(offered.of(p))};
    claimed_here.clear();
    in.for_each([&](std::size_t i, std::span<const GlobalId> of_side, std::span<const std::int32_t> sets) {
      const LocalId anchor = anchors[next_anchor++];
      local.clear();
      for (const GlobalId node : of_side) local.push_back(local_vertex(node));
      if (std::ranges::find(local, no_local_id) != local.end()) return;
      const std::span<const LocalId> corners = std::span(local).first(detail::n_corners(in.types[i], local.size()));
      const bool is_taken = std::ranges::any_of(around.of(anchor), [&](std::int32_t c) {
        const auto cell = static_cast<std::size_t>(c);
        return detail::is_side_of<LocalId>(corners, dim, cells().type(cell), cells().nodes_of(cell));
      });
      if (!is_taken) return;
      for (const std::int32_t set : sets) detail::append(members, set, static_cast<std::int32_t>(sides.size()));
      sides.push_back({in.ids[i], in.types[i], in.sizes[i], nodes.size(), me, -1, 0});
      nodes.insert(nodes.end(), local.begin(), local.end());
      if (in.is_contested[i] != 0) claimed_here.push_back(in.ids[i]);
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

  // 5. Into local order.
  std::vector<std::int32_t> order(sides.size());
  std::vector<Rank> ranks;
  std::int64_t n_owned = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Side& side = sides[i];
    order[i] = static_cast<std::int32_t>(i);
    ranks.clear();
    for (auto at = std::ranges::lower_bound(sharers, side.id, {}, &Claim::id); at != sharers.end() && at->id == side.id;
         ++at)
      ranks.push_back(at->rank);
    if (!ranks.empty()) {
      const std::uint64_t draw = Hash64(static_cast<std::uint64_t>(value(dim))).add(barrio::value(side.id)).value();
      side.owner = ranks[draw % ranks.size()];
      side.sharer_set = table.rank_sets.add(ranks);
    }
    const auto of_side = std::span(nodes).subspan(side.first_node, static_cast<std::size_t>(side.n_nodes));
    const bool is_interior = std::ranges::all_of(of_side, [&](LocalId v) { return index(v) < out_.vertices.n_owned; });
    side.group = side.owner != me ? 2 : (is_interior ? 0 : 1);
    n_owned += side.group < 2 ? 1 : 0;
    table.n_interior += side.group == 0 ? 1 : 0;
  }
  std::ranges::sort(order, {}, [&](std::int32_t i) {
    const Side& side = sides[static_cast<std::size_t>(i)];
    return std::tuple(side.group, side.group == 2 ? side.owner : 0, side.id);
  });
  table.n_owned = static_cast<std::size_t>(n_owned);
  table.owners = Owners(me, table.n_owned);
  table.nodes.reserve(nodes.size());
  table.global_ids.reserve(sides.size());
  std::vector<LocalId> local_of(sides.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Side& side = sides[static_cast<std::size_t>(order[i])];
    local_of[static_cast<std::size_t>(order[i])] = local_id(i);
    const auto of_side = std::span(nodes).subspan(side.first_node, static_cast<std::size_t>(side.n_nodes));
    table.nodes.insert(table.nodes.end(), of_side.begin(), of_side.end());
    table.global_ids.push_back(side.id);
    if (!table.has_one_type) table.types.push_back(side.type);
    if (table.nodes_per_entity == 0) table.offsets.push_back(static_cast<std::int32_t>(table.nodes.size()));
    if (side.group == 2) table.owners.add(side.owner, 1);
    if (side.sharer_set < 0) continue;
    table.shared.push_back(local_id(i));
    table.sharer_sets.push_back(side.sharer_set);
  }
  auto& runs = set_runs_[static_cast<std::size_t>(value(dim))];
  for (const SetRun& run : members)
    for (std::int32_t i = run.first; i < run.first + run.count; ++i)
      runs.push_back({run.set, barrio::value(local_of[static_cast<std::size_t>(i)]), 1});

  std::array<std::int64_t, 2> totals{n_owned, n_listed};
  mpi::all_reduce(context_, std::span<std::int64_t>(totals), MPI_SUM);
  table.n_global = totals[0];
  if (totals[0] < totals[1]) {
    context_.log().notice(fmt::format("{} of {} listed entities of dimension {} are no side of a cell and are left out",
                                      totals[1] - totals[0], totals[1], value(dim)));
  }
}

void MeshBuilder::fill_sets() {
  std::array<std::vector<Range>, 4> ranges;
  for (std::size_t d = 0; d < 4; ++d) {
    const bool is_cells = static_cast<int>(d) == value(out_.cell_dim);
    const std::span<const LocalId> at =
        d == 0 ? std::span<const LocalId>(vertex_at_)
               : (is_cells ? std::span<const LocalId>(cell_at_) : std::span<const LocalId>());
    ranges[d] = detail::ranges_of_sets(set_runs_[d], at, tables_.sets.size());
  }
  for (std::size_t s = 0; s < tables_.sets.size(); ++s) {
    MeshSet& set = out_.sets.emplace_back();
    set.info = tables_.sets[s];
    set.vertices = std::move(ranges[0][s]);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = std::move(ranges[d][s]);
  }
  std::vector<bool> is_full(out_.sets.size(), false);
  for (std::size_t s = 0; s < out_.sets.size(); ++s) add_contained(s, is_full);
}

void MeshBuilder::add_contained(std::size_t s, std::vector<bool>& is_full) {
  if (is_full[s]) return;
  is_full[s] = true;
  MeshSet& set = out_.sets[s];
  for (const SetInSet& inner : set.info.contained) {
    const auto i = static_cast<std::size_t>(inner.set);
    add_contained(i, is_full);
    set.vertices = set.vertices.united(out_.sets[i].vertices);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = set.entities[d].united(out_.sets[i].entities[d]);
  }
}

}  // namespace barrio::mesh
