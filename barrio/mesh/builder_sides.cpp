#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/detail/builder.hpp"
#include "barrio/mesh/detail/outbox.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mpi/collectives.hpp"

// Entities below the cells' dimension: the boundary faces and edges that a file lists. They are found by vertex: the
// home of a side's lowest vertex knows which ranks use that vertex, and only those can have the side.

namespace barrio::mesh {
namespace {

using detail::WordReader;

constexpr RegionName side_region{"mesh.sides"};

struct Ownership {
  GlobalId id;
  Rank owner;
};

/// Local cells around each vertex, as one list with offsets.
struct CellsOfVertices {
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> cells;

  CellsOfVertices(const EntityTable& table, std::size_t n_cells, std::size_t n_vertices) : offsets(n_vertices + 1, 0) {
    for (std::size_t c = 0; c < n_cells; ++c)
      for (const LocalId v : table.nodes_of(c)) offsets[index(v) + 1] += 1;
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    cells.resize(static_cast<std::size_t>(offsets.back()));
    std::vector<std::int32_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t c = 0; c < n_cells; ++c)
      for (const LocalId v : table.nodes_of(c))
        cells[static_cast<std::size_t>(next[index(v)]++)] = static_cast<std::int32_t>(c);
  }
  [[nodiscard]] std::span<const std::int32_t> of(LocalId v) const {
    const auto first = static_cast<std::size_t>(offsets[index(v)]);
    return std::span<const std::int32_t>(cells).subspan(first, static_cast<std::size_t>(offsets[index(v) + 1]) - first);
  }
};

}  // namespace

void MeshBuilder::fetch_sides(Dim dim) {
  if (tables_.n_global(dim) == 0) return;
  const Region region(context_.trace(), side_region);

  // 1. Each listed side goes to the home of its lowest vertex, with the sets it is in.
  detail::Outbox to_vertex_home;
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
    const CellBlock& block = tables_.blocks[b];
    if (topology(block.type).dim != dim) continue;
    const std::int64_t first = tables_.first_row(b) + block.rows.first(context_.rank());
    for (std::size_t i = 0; i < block.rows.size(context_.rank()); ++i) {
      const auto nodes = block.cell(i);
      if (nodes.empty()) continue;
      const std::int64_t row = first + static_cast<std::int64_t>(i);
      auto& record = to_vertex_home.begin(tables_.vertices.rank_of(*std::min_element(nodes.begin(), nodes.end())));
      record.push_back(row);
      record.push_back(static_cast<std::int64_t>(block.type));
      record.push_back(static_cast<std::int64_t>(nodes.size()));
      for (const GlobalId node : nodes) record.push_back(barrio::value(node));
      const auto sets = detail::of_row(members_, dim, row);
      record.push_back(static_cast<std::int64_t>(sets.size()));
      for (const detail::Membership& m : sets) record.push_back(m.set);
    }
  }
  const auto listed = exchange::route(context_, to_vertex_home.parcels());

  // 2. The home passes it on to all ranks that use that vertex.
  detail::Outbox to_users;
  std::int64_t n_listed = 0;
  for (WordReader in(listed.items); !in.done(); ++n_listed) {
    std::vector<std::int64_t> record{in.get(), in.get(), in.get()};
    GlobalId lowest{std::numeric_limits<std::int64_t>::max()};
    for (const std::int64_t node : in.get(static_cast<std::size_t>(record[2]))) {
      record.push_back(node);
      lowest = std::min(lowest, GlobalId{node});
    }
    record.push_back(in.get());
    const auto sets = in.get(static_cast<std::size_t>(record.back()));
    record.insert(record.end(), sets.begin(), sets.end());
    for (const Use& use : users_of(lowest)) {
      auto& out = to_users.begin(use.user);
      out.insert(out.end(), record.begin(), record.end());
    }
  }
  const auto offered = exchange::route(context_, to_users.parcels());

  // 3. A rank takes it if one of its cells has all its vertices, and says so to the home.
  const EntityTable& cells = out_.entities[static_cast<std::size_t>(value(out_.cell_dim))];
  const CellsOfVertices around(cells, cells.n_owned, out_.vertices.size());
  std::vector<Cell> sides;
  std::vector<Rank> homes;
  std::vector<GlobalId> claims;
  for (std::size_t p = 0; p < offered.n_peers(); ++p) {
    for (WordReader in(offered.of(p)); !in.done();) {
      Cell side{};
      side.id = in.get_id();
      side.type = static_cast<CellType>(in.get());
      side.n_nodes = static_cast<std::uint32_t>(in.get());
      side.first_node = nodes_.size();
      const auto nodes = in.get(side.n_nodes);
      const auto n_sets = static_cast<std::size_t>(in.get());
      const auto sets = in.get(n_sets);
      std::vector<LocalId> local;
      for (const std::int64_t node : nodes) local.push_back(local_vertex(GlobalId{node}));
      if (std::find(local.begin(), local.end(), no_local_id) != local.end()) continue;
      const auto candidates = around.of(local.front());
      const bool is_side = std::any_of(candidates.begin(), candidates.end(), [&](std::int32_t c) {
        const auto of_cell = cells.nodes_of(static_cast<std::size_t>(c));
        return std::all_of(local.begin(), local.end(),
                           [&](LocalId v) { return std::find(of_cell.begin(), of_cell.end(), v) != of_cell.end(); });
      });
      if (!is_side) continue;
      for (const std::int64_t node : nodes) nodes_.push_back(GlobalId{node});
      for (const std::int64_t set : sets) set_members_.push_back({static_cast<std::int32_t>(set), dim, side.id});
      sides.push_back(side);
      homes.push_back(offered.peers[p]);
      claims.push_back(side.id);
    }
  }
  const auto claimed = exchange::route(context_, exchange::pack_by_rank<GlobalId>(homes, claims));

  // 4. The home draws the owner among those who claimed it, and tells them.
  struct Claim {
    GlobalId id;
    Rank rank;
  };
  std::vector<Claim> all;
  for (std::size_t p = 0; p < claimed.n_peers(); ++p)
    for (const GlobalId id : claimed.of(p)) all.push_back({id, claimed.peers[p]});
  std::sort(all.begin(), all.end(),
            [](const Claim& a, const Claim& b) { return std::tuple(a.id, a.rank) < std::tuple(b.id, b.rank); });
  std::vector<Rank> to;
  std::vector<Ownership> decided;
  std::int64_t n_taken = 0;
  for (std::size_t i = 0; i < all.size(); ++n_taken) {
    std::size_t end = i;
    while (end < all.size() && all[end].id == all[i].id) ++end;
    const std::uint64_t draw =
        Hash64(static_cast<std::uint64_t>(value(dim))).add(barrio::value(all[i].id)).value() % (end - i);
    const Rank owner = all[i + draw].rank;
    for (; i < end; ++i) {
      to.push_back(all[i].rank);
      decided.push_back({all[i].id, owner});
    }
  }
  std::vector<Ownership> owners = exchange::route(context_, exchange::pack_by_rank<Ownership>(to, decided)).items;
  std::sort(owners.begin(), owners.end(), [](const Ownership& a, const Ownership& b) { return a.id < b.id; });
  std::sort(sides.begin(), sides.end(), [](const Cell& a, const Cell& b) { return a.id < b.id; });

  EntityTable& table = out_.entities[static_cast<std::size_t>(value(dim))];
  std::vector<int> group(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].owner = owners[i].owner;
    const auto nodes = nodes_of(sides[i]);
    const bool is_interior = std::all_of(
        nodes.begin(), nodes.end(), [&](GlobalId node) { return index(local_vertex(node)) < out_.vertices.n_owned; });
    group[i] = sides[i].owner != context_.rank() ? 2 : (is_interior ? 0 : 1);
    table.n_owned += group[i] < 2 ? 1 : 0;
    table.n_interior += group[i] == 0 ? 1 : 0;
  }
  std::vector<std::size_t> order(sides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(group[a], group[a] == 2 ? sides[a].owner : 0) <
           std::tuple(group[b], group[b] == 2 ? sides[b].owner : 0);
  });
  fill_table(table, dim, sides, order);
  table.n_global = mpi::sum(context_, n_taken);
  n_listed = mpi::sum(context_, n_listed);
  if (table.n_global < n_listed) {
    context_.log().notice(fmt::format("{} of {} listed entities of dimension {} are no side of a cell and are left out",
                                      n_listed - table.n_global, n_listed, value(dim)));
  }
}

void MeshBuilder::fill_sets() {
  for (const SetInfo& info : tables_.sets) out_.sets.push_back({info, {}, {}});
  // Global ids to local ones, by dimension.
  std::array<std::vector<std::pair<GlobalId, LocalId>>, 4> local_of;
  for (std::size_t d = 1; d < 4; ++d) {
    const EntityTable& table = out_.entities[d];
    for (std::size_t i = 0; i < table.size(); ++i) local_of[d].emplace_back(table.global_ids[i], local_id(i));
    std::sort(local_of[d].begin(), local_of[d].end());
  }
  for (const SetMember& m : set_members_) {
    MeshSet& set = out_.sets[static_cast<std::size_t>(m.set)];
    if (m.dim == Dim::vertex) {
      set.vertices.push_back(local_vertex(m.id));
      continue;
    }
    const auto d = static_cast<std::size_t>(value(m.dim));
    const auto at = std::lower_bound(local_of[d].begin(), local_of[d].end(), std::pair(m.id, LocalId{0}));
    set.entities[d].push_back(at->second);
  }
  const auto tidy = [](std::vector<LocalId>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  for (MeshSet& set : out_.sets) {
    tidy(set.vertices);
    for (auto& ids : set.entities) tidy(ids);
  }
}

}  // namespace barrio::mesh
