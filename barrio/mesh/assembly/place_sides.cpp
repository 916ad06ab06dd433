#include <algorithm>
#include <array>
#include <utility>

#include "barrio/base/hash.hpp"
#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/cells_around.hpp"
#include "barrio/mesh/assembly/plan_halo.hpp"
#include "barrio/mesh/assembly/sets_of_places.hpp"
#include "barrio/mesh/assembly/sides_along.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mesh/tables/local_order.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"

// Listed entities come into the local order as cells do, and sets get their members.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName place_region{"mesh.place_sides"};

}  // namespace

Rank MeshAssembly::drawn_owner(Dim dim, GlobalId id, std::span<const Rank> sharers) {
  return sharers[Hash64(static_cast<std::uint64_t>(value(dim))).add(barrio::value(id)).value() % sharers.size()];
}

void MeshAssembly::HeldSides::add(GlobalId id, CellType type, std::span<const LocalId> of_side, Rank owner) {
  sides.push_back({id, type, static_cast<std::int32_t>(of_side.size()), nodes.size(), owner, -1});
  nodes.insert(nodes.end(), of_side.begin(), of_side.end());
}

void MeshAssembly::set_sharers(HeldSides::Side& side, Dim dim, std::span<const Rank> ranks) {
  side.owner = drawn_owner(dim, side.id, ranks);
  side.sharer_set = table(dim).rank_sets.add(ranks);
}

void MeshAssembly::add_ghost_sides(HeldSides& held) {
  // A rank that gets a cell gets its listed sides too.
  std::vector<std::pair<std::int32_t, Rank>> readers_of;  // own cell, reader
  for (std::size_t r = 0; r < sent_.ranks.size(); ++r)
    for (const std::int32_t place : sent_.places[r])
      readers_of.emplace_back(barrio::value(cell_at_[place]), sent_.ranks[r]);
  std::ranges::sort(readers_of);
  std::vector<std::int32_t> leaving;
  PlacesByRank going;
  const auto follow = [&](std::int32_t side, std::int32_t c) {
    const auto readers = std::ranges::equal_range(readers_of, c, {}, &std::pair<std::int32_t, Rank>::first);
    for (const auto& [cell, reader] : readers) {
      detail::add_once(going.of(reader), side);
      detail::add_once(leaving, side);
    }
  };
  detail::for_each_side_and_cell(cells(), n_own_cells_, out_.vertices.size(), held, follow);
  const detail::SetsOfPlaces sets(held.sets, leaving);
  auto round = hood_->begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < going.ranks.size(); ++r) {
    message.clear();
    detail::columns_of(going.places[r], held, sets, out_.vertices.global_ids).put_into(message);
    std::ranges::copy(message.bytes(), round.allocate(going.ranks[r], message.bytes().size()).begin());
  }
  round.close();

  // A side between ghosts of two ranks comes from both.
  detail::IdIndex known;
  for (const HeldSides::Side& side : held.sides) known.add(side.id);
  std::vector<LocalId> local;
  for (const auto& [from, bytes] : round.received()) {
    MessageReader reader(bytes);
    const detail::SideColumnsView in(reader);
    in.for_each([&](std::size_t i, std::span<const GlobalId> nodes, std::span<const std::int32_t> of_sets) {
      const std::size_t n_before = known.size();
      const std::int32_t place = known.add(in.ids[i]);
      if (known.size() == n_before) return;
      local.clear();
      for (const GlobalId node : nodes) local.push_back(local_vertex(node));
      held.add(in.ids[i], in.types[i], local, in.owners[i]);
      for (const std::int32_t set : of_sets) held.sets.push_back({set, place, 1});
    });
  }
}

void MeshAssembly::place_sides(Dim dim, HeldSides held) {
  const Region region(context_.trace(), place_region);
  if (options_.ghost_sides && options_.ghost_layers > 0) add_ghost_sides(held);
  EntityTable& table = this->table(dim);
  std::vector<GlobalId> ids;
  ids.reserve(held.sides.size());
  for (const HeldSides::Side& side : held.sides) ids.push_back(side.id);
  const auto owner_of = [&](std::int32_t i) { return held.sides[i].owner; };
  const auto is_interior = [&](std::int32_t i) {
    return std::ranges::all_of(held.nodes_of(i), [&](LocalId v) { return index(v) < out_.vertices.n_owned; });
  };
  detail::LocalOrder local_order(context_.rank(), ids.size(), detail::order_of_runs(ids), owner_of, is_interior);
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
    if (table.nodes_per_entity == 0) table.offsets.push_back(static_cast<std::int32_t>(table.nodes.size()));
    if (side.sharer_set < 0) continue;
    table.shared.push_back(local);
    table.sharer_sets.push_back(side.sharer_set);
  }
  auto& runs = set_runs_[index(dim)];
  for (const SetRun& run : held.sets)
    for (std::int32_t i = run.first; i < run.first + run.count; ++i)
      runs.push_back({run.set, barrio::value(local_of[i]), 1});
  out_.halos[index(dim)] = detail::plan_halo_in(*hood_, table.global_ids, table.owners,
                                                [&](GlobalId id) { return detail::find_owned(table, id); });
}

void MeshAssembly::fill_sets(std::span<const SetInfo> infos) {
  std::array<std::vector<Range>, 4> ranges;
  for (std::size_t d = 0; d < 4; ++d) {
    const bool is_cells = static_cast<int>(d) == value(out_.cell_dim);
    const std::span<const LocalId> at =
        d == 0 ? std::span<const LocalId>(vertex_at_)
               : (is_cells ? std::span<const LocalId>(cell_at_) : std::span<const LocalId>());
    ranges[d] = detail::ranges_of_sets(set_runs_[d], at, infos.size());
  }
  for (std::size_t s = 0; s < infos.size(); ++s) {
    MeshSet& set = out_.sets.emplace_back();
    set.info = infos[s];
    set.vertices = std::move(ranges[0][s]);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = std::move(ranges[d][s]);
  }
  add_contained(infos);
}

void MeshAssembly::add_contained(std::span<const SetInfo> infos) {
  const NestedSets nested(infos);
  const auto unite = [](MeshSet& set, const MeshSet& other) {
    set.vertices = set.vertices.united(other.vertices);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = set.entities[d].united(other.entities[d]);
  };
  for (std::size_t g = 0; g < nested.n_groups(); ++g) {
    const std::span<const std::int32_t> group = nested.group(g);
    MeshSet& first = out_.sets[group[0]];
    for (const std::int32_t s : group) {
      const MeshSet& set = out_.sets[s];
      if (&set != &first) unite(first, set);
      for (const SetInSet& inner : set.info.contained)
        if (nested.group_of(inner.set) != nested.group_of(s)) unite(first, out_.sets[inner.set]);
    }
    for (const std::int32_t s : group.subspan(1)) {
      MeshSet& set = out_.sets[s];
      set.vertices = first.vertices;
      set.entities = first.entities;
    }
  }
}

}  // namespace barrio::mesh
