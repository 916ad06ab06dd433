#include <algorithm>
#include <tuple>

#include "barrio/base/memory.hpp"
#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/plan_halo.hpp"
#include "barrio/mesh/tables/append_each.hpp"

// Places become local ids: interior, fringe, then copies grouped by owner, so that a halo receive lands in place.

namespace barrio::mesh {
namespace {

constexpr RegionName number_region{"mesh.number"};

/// Copies by (owner, global id).
std::vector<std::int32_t> order_of_copies(std::vector<std::int32_t> places, std::span<const Rank> owners,
                                          std::size_t first_owner, std::span<const GlobalId> ids) {
  std::ranges::sort(places, {}, [&](std::int32_t place) {
    const std::size_t at = place;
    return std::tuple(owners[at - first_owner], ids[at]);
  });
  return places;
}

/// A window of ids may cost as much memory as the cells do; ids that are spread wider are hashed.
std::int64_t window_limit(std::size_t n_nodes) { return 2 * n_nodes + 1024; }

}  // namespace

void MeshAssembly::index_vertices(std::span<const GlobalId> nodes) {
  index_ = detail::IdIndex(nodes, window_limit(nodes.size()));
  index_.reserve(with_room(index_.size()));
  n_used_ = index_.size();
  cells().nodes.reserve(with_room(nodes.size()));
  detail::append_each(cells().nodes, nodes, [&](GlobalId node) { return LocalId{index_.find(node)}; });
}

void MeshAssembly::index_vertices() {
  std::vector<LocalId>& nodes = cells().nodes;
  index_ = detail::IdIndex::of_numbers(nodes, window_limit(nodes.size()));
  index_.reserve(with_room(index_.size()));
  n_used_ = index_.size();
  for (LocalId& node : nodes) node = LocalId{index_.find(GlobalId{barrio::value(node)})};
}

void MeshAssembly::index_known(std::span<const GlobalId> ids, std::size_t n_nodes) {
  index_ = detail::IdIndex(ids, window_limit(n_nodes));
  index_.reserve(with_room(ids.size()));
}

void MeshAssembly::number_vertices() {
  const Region region(context_.trace(), number_region);
  const Rank me = context_.rank();
  const EntityTable& of_cells = cells();
  // An owned vertex is in the fringe if some cell joins it to a copy.
  enum Group : std::uint8_t { interior, fringe, copy };
  std::vector<std::uint8_t> group(index_.size(), interior);
  for (std::size_t v = 0; v < group.size(); ++v)
    if (vertex_owners_[v] != me) group[v] = copy;
  const auto reach_fringe = [&](std::size_t c) {
    const auto nodes = of_cells.nodes_of(c);
    if (std::ranges::none_of(nodes, [&](LocalId v) { return group[index(v)] == copy; })) return false;
    for (const LocalId v : nodes)
      if (group[index(v)] == interior) group[index(v)] = fringe;
    return true;
  };
  touches_copy_.assign(n_own_cells_, false);
  for (const std::int32_t c : interface_cells_)  // others have no copies
    touches_copy_[c] = reach_fringe(c);
  for (std::size_t c = n_own_cells_; c < of_cells.size(); ++c) reach_fringe(c);

  VertexTable& table = out_.vertices;
  std::vector<std::int32_t> copies;
  vertex_at_.resize(group.size());
  for (std::size_t v = 0; v < group.size(); ++v) {
    if (group[v] == copy) copies.push_back(static_cast<std::int32_t>(v));
    if (group[v] == interior) table.n_interior += 1;
  }
  table.n_owned = group.size() - copies.size();
  table.owners = Owners(me, table.n_owned);
  table.coordinates.reserve(coordinates_.size());
  table.global_ids.reserve(group.size());
  const auto take = [&](std::size_t first, std::size_t end) {  // these places next
    for (std::size_t v = first; v < end; ++v) vertex_at_[v] = local_id(table.size() + v - first);
    const auto at = [](auto& items, std::size_t i) { return items.begin() + i; };
    table.global_ids.insert(table.global_ids.end(), at(index_.ids(), first), at(index_.ids(), end));
    table.coordinates.insert(table.coordinates.end(), at(coordinates_, 3 * first), at(coordinates_, 3 * end));
  };
  for (const Group wanted : {interior, fringe}) {
    for (std::size_t v = 0; v < group.size();) {
      const std::size_t first = v;
      while (v < group.size() && group[v] == wanted) ++v;
      take(first, v);
      while (v < group.size() && group[v] != wanted) ++v;
    }
  }
  for (const std::int32_t v : order_of_copies(std::move(copies), vertex_owners_, 0, index_.ids())) {
    take(v, static_cast<std::size_t>(v) + 1);
    table.owners.add(vertex_owners_[v], 1);
  }
  free_memory(coordinates_);
  std::vector<std::pair<LocalId, std::int32_t>> shared;
  for (std::size_t v = 0; v < n_used_; ++v)
    if (sharers_at_[v] >= 0) shared.emplace_back(vertex_at_[v], sharers_at_[v]);
  std::ranges::sort(shared);
  table.shared.reserve(shared.size());
  table.sharer_sets.reserve(shared.size());
  for (const auto& [id, set] : shared) {
    table.shared.push_back(id);
    table.sharer_sets.push_back(set);
  }
  // A copy that only ghosts use may belong to a rank that does not know of it: the reader tells the owner.
  out_.halos[0] =
      detail::plan_halo_in(*hood_, table.global_ids, table.owners, [&](GlobalId id) { return local_vertex(id); });
}

void MeshAssembly::number_cells() {
  const Region region(context_.trace(), number_region);
  EntityTable& table = cells();
  const std::size_t n = table.size();
  std::vector<std::int32_t> order;
  order.reserve(n);
  for (const bool wanted : {false, true}) {
    for (std::size_t c = 0; c < n_own_cells_; ++c)
      if (touches_copy_[c] == wanted) order.push_back(static_cast<std::int32_t>(c));
    if (!wanted) table.n_interior = order.size();
  }
  std::vector<std::int32_t> ghosts(n - n_own_cells_);
  for (std::size_t g = 0; g < ghosts.size(); ++g) ghosts[g] = static_cast<std::int32_t>(n_own_cells_ + g);
  ghosts = order_of_copies(std::move(ghosts), ghost_owners_, n_own_cells_, table.global_ids);
  table.owners = Owners(context_.rank(), n_own_cells_);
  for (const std::int32_t g : ghosts) table.owners.add(ghost_owners_[static_cast<std::size_t>(g) - n_own_cells_], 1);
  order.insert(order.end(), ghosts.begin(), ghosts.end());
  table.n_owned = n_own_cells_;

  cell_at_.resize(n);
  for (std::size_t i = 0; i < n; ++i) cell_at_[order[i]] = local_id(i);
  const auto permute = [&](auto& items) {
    std::remove_reference_t<decltype(items)> moved;
    moved.reserve(n);
    detail::append_in_order(moved, items, order);
    items = std::move(moved);
  };
  std::vector<LocalId> nodes;
  nodes.reserve(table.nodes.size());
  const auto take = [&](std::size_t first, std::size_t count) {
    detail::append_each(nodes, std::span<const LocalId>(table.nodes).subspan(first, count),
                        [&](LocalId v) { return vertex_at_[index(v)]; });
  };
  if (table.nodes_per_entity == 0) {
    std::vector<std::int32_t> offsets{0};
    offsets.reserve(n + 1);
    for (const std::int32_t c : order)
      offsets.push_back(offsets.back() + static_cast<std::int32_t>(table.nodes_of(c).size()));
    detail::for_each_run(order, [&](std::size_t first, std::size_t last) {
      const std::size_t low = table.offsets[first];
      take(low, static_cast<std::size_t>(table.offsets[last + 1]) - low);
    });
    table.offsets = std::move(offsets);
  } else {
    const std::size_t width = table.nodes_per_entity;
    detail::for_each_run(order,
                         [&](std::size_t first, std::size_t last) { take(first * width, (last + 1 - first) * width); });
  }
  table.nodes = std::move(nodes);
  if (!table.has_one_type) permute(table.types);
  permute(table.global_ids);
  permute(out_.cell_parts);

  // The sender knows the reader's order: by ascending global id, as places do.
  auto plan = std::make_shared<exchange::HaloPlan>();
  plan->tags = context_.take_tags(1);
  for (const Owners::Run& run : table.owners.copies())
    plan->incoming.push_back({run.owner, run.ids.first, static_cast<std::int32_t>(run.ids.size())});
  for (std::size_t r = 0; r < sent_.ranks.size(); ++r) {
    if (sent_.places[r].empty()) continue;
    plan->readers.push_back(sent_.ranks[r]);
    for (const std::int32_t place : sent_.places[r]) plan->out.push_back(cell_at_[place]);
    plan->out_offsets.push_back(plan->out.size());
  }
  plan->out.shrink_to_fit();
  out_.halos[index(out_.cell_dim)] = std::move(plan);
}

}  // namespace barrio::mesh
