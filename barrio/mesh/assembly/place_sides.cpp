#include <algorithm>
#include <array>
#include <utility>

#include "barrio/mesh/assembly/ghosts/cells_around.hpp"
#include "barrio/mesh/assembly/held_sides.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/assembly/plan_halo.hpp"
#include "barrio/mesh/assembly/sets_of_places.hpp"
#include "barrio/mesh/assembly/sides_along.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mesh/tables/drawn_owner.hpp"
#include "barrio/mesh/tables/local_order.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"

// Bring listed entities into the local order, like cells, and give sets their members.

namespace barrio::mesh::detail {
namespace {

constexpr RegionName place_region{"mesh.place_sides"};

void add_ghost_sides(HeldSides& held, const Numbered& numbered, Ghosts& ghosts) {
  // A rank that gets a cell gets its listed sides too.
  std::vector<std::pair<std::int32_t, Rank>> readers_of;  // own cell, reader
  for (std::size_t r = 0; r < ghosts.sent.ranks.size(); ++r)
    for (const std::int32_t place : ghosts.sent.places[r])
      readers_of.emplace_back(barrio::value(numbered.cell_at[place]), ghosts.sent.ranks[r]);
  std::ranges::sort(readers_of);
  std::vector<std::int32_t> leaving;
  PlacesByRank going;
  const auto follow = [&](std::int32_t side, std::int32_t c) {
    const auto readers = std::ranges::equal_range(readers_of, c, {}, &std::pair<std::int32_t, Rank>::first);
    for (const auto& [cell, reader] : readers) {
      add_once(going.of(reader), side);
      add_once(leaving, side);
    }
  };
  for_each_side_and_cell(numbered.cells, numbered.cells.n_owned, numbered.vertices.size(), held, follow);
  const SetsOfPlaces sets(held.sets, leaving);
  auto round = ghosts.hood.begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < going.ranks.size(); ++r) {
    message.clear();
    columns_of(going.places[r], held, sets, numbered.vertices.global_ids).put_into(message);
    std::ranges::copy(message.bytes(), round.allocate(going.ranks[r], message.bytes().size()).begin());
  }
  round.close();

  // A side between ghosts of two ranks comes from both.
  IdIndex known;
  for (const HeldSides::Side& side : held.sides) known.add(side.id);
  std::vector<LocalId> local;
  for (const auto& [from, bytes] : round.received()) {
    MessageReader reader(bytes);
    const SideColumnsView in(reader);
    in.for_each([&](std::size_t i, std::span<const GlobalId> nodes, std::span<const std::int32_t> of_sets) {
      const std::size_t n_before = known.size();
      const std::int32_t place = known.add(in.ids[i]);
      if (known.size() == n_before) return;
      local.clear();
      for (const GlobalId node : nodes) local.push_back(numbered.local_vertex(node));
      held.add(in.ids[i], in.types[i], local, in.owners[i]);
      for (const std::int32_t set : of_sets) held.sets.push_back({set, place, 1});
    });
  }
}

/// Add to each set the members of the sets that it contains.
void add_contained(std::span<const SetInfo> infos, std::vector<MeshSet>& sets) {
  const NestedSets nested(infos);
  const auto unite = [](MeshSet& set, const MeshSet& other) {
    set.vertices = set.vertices.united(other.vertices);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = set.entities[d].united(other.entities[d]);
  };
  for (std::size_t g = 0; g < nested.n_groups(); ++g) {
    const std::span<const std::int32_t> group = nested.group(g);
    MeshSet& first = sets[group[0]];
    for (const std::int32_t s : group) {
      const MeshSet& set = sets[s];
      if (&set != &first) unite(first, set);
      for (const SetInSet& inner : set.info.contained)
        if (nested.group_of(inner.set) != nested.group_of(s)) unite(first, sets[inner.set]);
    }
    for (const std::int32_t s : group.subspan(1)) {
      MeshSet& set = sets[s];
      set.vertices = first.vertices;
      set.entities = first.entities;
    }
  }
}

}  // namespace

void HeldSides::add(GlobalId id, CellType type, std::span<const LocalId> of_side, Rank owner) {
  sides.push_back({id, type, static_cast<std::int32_t>(of_side.size()), nodes.size(), owner, -1});
  nodes.insert(nodes.end(), of_side.begin(), of_side.end());
}

void HeldSides::set_sharers(std::size_t side, Dim dim, std::span<const Rank> ranks) {
  sides[side].owner = ranks[drawn_owner(dim, sides[side].id, ranks.size())];
  sides[side].sharer_set = rank_sets.add(ranks);
}

PlacedSides place_sides(mpi::Context& context, const BuildOptions& options, HeldSides&& held, EntityTable shape,
                        const Numbered& numbered, Ghosts& ghosts) {
  const Region region(context.trace(), place_region);
  if (options.ghost_sides && options.ghost_layers > 0) add_ghost_sides(held, numbered, ghosts);
  PlacedSides placed{.table = std::move(shape), .sets = {}, .halo = {}};
  EntityTable& table = placed.table;
  table.rank_sets = std::move(held.rank_sets);
  std::vector<GlobalId> ids;
  ids.reserve(held.sides.size());
  for (const HeldSides::Side& side : held.sides) ids.push_back(side.id);
  const auto owner_of = [&](std::int32_t i) { return held.sides[i].owner; };
  const auto is_interior = [&](std::int32_t i) {
    return std::ranges::all_of(held.nodes_of(i), [&](LocalId v) { return index(v) < numbered.vertices.n_owned; });
  };
  LocalOrder local_order(context.rank(), ids.size(), order_of_runs(ids), owner_of, is_interior);
  table.n_interior = local_order.n_interior;
  table.n_owned = local_order.n_owned;
  table.owners = std::move(local_order.owners);
  table.nodes.reserve(held.nodes.size());
  table.global_ids.reserve(held.sides.size());
  std::vector<LocalId> local_of(held.sides.size());
  for (const std::int32_t i : local_order.places) {
    const HeldSides::Side& side = held.sides[i];
    const LocalId local = local_id(table.global_ids.size());
    local_of[i] = local;
    const auto of_side = held.nodes_of(i);
    table.nodes.insert(table.nodes.end(), of_side.begin(), of_side.end());
    table.global_ids.push_back(side.id);
    if (!table.has_one_type) table.types.push_back(side.type);
    if (table.nodes_per_entity == 0) append_row(table.offsets, of_side.size());
    if (side.sharer_set < 0) continue;
    table.shared.push_back(local);
    table.sharer_sets.push_back(side.sharer_set);
  }
  for (const SetRun& run : held.sets)
    for (std::int32_t i = run.first; i < run.first + run.count; ++i)
      placed.sets.push_back({run.set, barrio::value(local_of[i]), 1});
  placed.halo =
      plan_halo_in(ghosts.hood, table.global_ids, table.owners, [&](GlobalId id) { return find_owned(table, id); });
  return placed;
}

std::vector<MeshSet> filled_sets(std::span<const SetInfo> infos, Numbered& numbered,
                                 std::array<PlacedSides, 4>& sides) {
  std::array<std::vector<Range>, 4> ranges;
  ranges[0] = ranges_of_sets(numbered.vertex_sets, numbered.vertex_at, infos.size());
  for (std::size_t d = 1; d < 4; ++d)
    ranges[d] = d == index(numbered.cell_dim) ? ranges_of_sets(numbered.cell_sets, numbered.cell_at, infos.size())
                                              : ranges_of_sets(sides[d].sets, {}, infos.size());
  std::vector<MeshSet> sets(infos.size());
  for (std::size_t s = 0; s < infos.size(); ++s) {
    sets[s].info = infos[s];
    sets[s].vertices = std::move(ranges[0][s]);
    for (std::size_t d = 1; d < 4; ++d) sets[s].entities[d] = std::move(ranges[d][s]);
  }
  add_contained(infos, sets);
  return sets;
}

}  // namespace barrio::mesh::detail
