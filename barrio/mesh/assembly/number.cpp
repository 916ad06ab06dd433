#include <algorithm>
#include <numeric>
#include <tuple>

#include "barrio/base/memory.hpp"
#include "barrio/mesh/assembly/numbered.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/assembly/plan_halo.hpp"
#include "barrio/mesh/tables/append_each.hpp"

// Places become local ids: interior, fringe, then copies grouped by owner, so that a halo receive lands in place.

namespace barrio::mesh::detail {
namespace {

constexpr RegionName number_region{"mesh.number"};

/// Order copies by (owner, global id).
std::vector<std::int32_t> order_of_copies(std::vector<std::int32_t> places, std::span<const Rank> owners,
                                          std::size_t first_owner, std::span<const GlobalId> ids) {
  std::ranges::sort(places, {}, [&](std::int32_t place) {
    const std::size_t at = place;
    return std::tuple(owners[at - first_owner], ids[at]);
  });
  return places;
}

/// Number the vertices.
/// @return for each own cell whether it has a vertex that another rank owns
std::vector<bool> number_vertices(Rank me, KnownCells& known, Ghosts& ghosts, Numbered& out) {
  const EntityTable& of_cells = known.cells;
  // An owned vertex is in the fringe if some cell joins it to a copy.
  enum Group : std::uint8_t { interior, fringe, copy };
  std::vector<std::uint8_t> group(known.vertices.size(), interior);
  for (std::size_t v = 0; v < group.size(); ++v)
    if (known.vertex_owners[v] != me) group[v] = copy;
  const auto reach_fringe = [&](std::size_t c) {
    const auto nodes = of_cells.nodes_of(c);
    if (std::ranges::none_of(nodes, [&](LocalId v) { return group[index(v)] == copy; })) return false;
    for (const LocalId v : nodes)
      if (group[index(v)] == interior) group[index(v)] = fringe;
    return true;
  };
  std::vector<bool> touches_copy(known.n_own, false);
  for (const std::int32_t c : ghosts.interface_cells)  // other own cells have no copies
    touches_copy[c] = reach_fringe(c);
  for (std::size_t c = known.n_own; c < of_cells.size(); ++c) reach_fringe(c);

  VertexTable& table = out.vertices;
  table.rank_sets = std::move(known.rank_sets);
  std::vector<std::int32_t> copies;
  out.vertex_at.resize(group.size());
  for (std::int32_t v = 0; v < std::ssize(group); ++v) {
    if (group[v] == copy) copies.push_back(v);
    if (group[v] == interior) table.n_interior += 1;
  }
  table.n_owned = group.size() - copies.size();
  table.owners = Owners(me, table.n_owned);
  table.coordinates.reserve(known.coordinates.size());
  table.global_ids.reserve(group.size());
  const auto take = [&](std::size_t first, std::size_t end) {  // append these places
    for (std::size_t v = first; v < end; ++v) out.vertex_at[v] = local_id(table.size() + v - first);
    const auto at = [](auto& items, std::size_t i) { return items.begin() + i; };
    table.global_ids.insert(table.global_ids.end(), at(known.vertices.ids(), first), at(known.vertices.ids(), end));
    table.coordinates.insert(table.coordinates.end(), at(known.coordinates, 3 * first), at(known.coordinates, 3 * end));
  };
  for (const Group wanted : {interior, fringe}) {
    for (std::size_t v = 0; v < group.size();) {
      const std::size_t first = v;
      while (v < group.size() && group[v] == wanted) ++v;
      take(first, v);
      while (v < group.size() && group[v] != wanted) ++v;
    }
  }
  for (const std::int32_t v : order_of_copies(std::move(copies), known.vertex_owners, 0, known.vertices.ids())) {
    take(v, v + 1);
    table.owners.add(known.vertex_owners[v], 1);
  }
  free_memory(known.coordinates);
  std::vector<std::pair<LocalId, std::int32_t>> shared;
  for (std::size_t v = 0; v < known.n_used; ++v)
    if (known.vertex_sharers[v] >= 0) shared.emplace_back(out.vertex_at[v], known.vertex_sharers[v]);
  std::ranges::sort(shared);
  table.shared.reserve(shared.size());
  table.sharer_sets.reserve(shared.size());
  for (const auto& [id, set] : shared) {
    table.shared.push_back(id);
    table.sharer_sets.push_back(set);
  }
  // The owner of a copy that only ghosts use may not know of it, so the reader tells the owner.
  out.index = std::move(known.vertices);
  out.vertex_halo =
      plan_halo_in(ghosts.hood, table.global_ids, table.owners, [&](GlobalId id) { return out.local_vertex(id); });
  return touches_copy;
}

void number_cells(mpi::Context& context, KnownCells& known, const Ghosts& ghosts, const std::vector<bool>& touches_copy,
                  Numbered& out) {
  out.cells = std::move(known.cells);
  out.parts = std::move(known.parts);
  EntityTable& table = out.cells;
  const std::size_t n = table.size();
  const auto n_own = static_cast<std::int32_t>(known.n_own);
  std::vector<std::int32_t> order;
  order.reserve(n);
  for (const bool wanted : {false, true}) {
    for (std::int32_t c = 0; c < n_own; ++c)
      if (touches_copy[c] == wanted) order.push_back(c);
    if (!wanted) table.n_interior = order.size();
  }
  std::vector<std::int32_t> copies(n - known.n_own);
  std::iota(copies.begin(), copies.end(), n_own);
  copies = order_of_copies(std::move(copies), ghosts.owners, known.n_own, table.global_ids);
  table.owners = Owners(context.rank(), known.n_own);
  for (const std::int32_t g : copies) table.owners.add(ghosts.owners[g - n_own], 1);
  order.insert(order.end(), copies.begin(), copies.end());
  table.n_owned = known.n_own;

  out.cell_at.resize(n);
  for (std::size_t i = 0; i < n; ++i) out.cell_at[order[i]] = local_id(i);
  const auto permute = [&](auto& items) {
    std::remove_reference_t<decltype(items)> moved;
    moved.reserve(n);
    append_in_order(moved, items, order);
    items = std::move(moved);
  };
  std::vector<LocalId> nodes;
  nodes.reserve(table.nodes.size());
  const std::span<const LocalId> vertex_at = out.vertex_at;
  const auto take = [&](std::size_t first, std::size_t count) {
    append_each(nodes, std::span<const LocalId>(table.nodes).subspan(first, count),
                [&](LocalId v) { return vertex_at[index(v)]; });
  };
  if (table.nodes_per_entity == 0) {
    std::vector<std::int32_t> offsets{0};
    offsets.reserve(n + 1);
    for (const std::int32_t c : order) append_row(offsets, table.nodes_of(c).size());
    for_each_run(order, [&](std::size_t first, std::size_t last) {
      const std::size_t low = table.offsets[first];
      take(low, table.offsets[last + 1] - low);
    });
    table.offsets = std::move(offsets);
  } else {
    const std::size_t width = table.nodes_per_entity;
    for_each_run(order, [&](std::size_t first, std::size_t last) { take(first * width, (last + 1 - first) * width); });
  }
  table.nodes = std::move(nodes);
  if (!table.has_one_type) permute(table.types);
  permute(table.global_ids);
  permute(out.parts);

  // The sender knows the reader's order: ascending global ids, as in its own places.
  auto plan = std::make_shared<exchange::HaloPlan>();
  plan->tags = context.take_tags(exchange::HaloPlan::n_tags);
  plan->incoming = incoming_of(table.owners);
  for (std::size_t r = 0; r < ghosts.sent.ranks.size(); ++r) {
    if (ghosts.sent.places[r].empty()) continue;
    plan->readers.push_back(ghosts.sent.ranks[r]);
    for (const std::int32_t place : ghosts.sent.places[r]) plan->out.push_back(out.cell_at[place]);
    plan->out_offsets.push_back(plan->out.size());
  }
  plan->out.shrink_to_fit();
  out.cell_halo = std::move(plan);
}

}  // namespace

Numbered number(mpi::Context& context, KnownCells known, Ghosts& ghosts) {
  const Region region(context.trace(), number_region);
  Numbered out;
  out.cell_dim = known.dim;
  out.vertex_sets = std::move(known.vertex_sets);
  out.cell_sets = std::move(known.cell_sets);
  const std::vector<bool> touches_copy = number_vertices(context.rank(), known, ghosts, out);
  number_cells(context, known, ghosts, touches_copy, out);
  return out;
}

}  // namespace barrio::mesh::detail
