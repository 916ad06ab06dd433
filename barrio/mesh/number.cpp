#include <algorithm>
#include <tuple>

#include "barrio/mesh/detail/assembly.hpp"
#include "barrio/mesh/detail/plan_halo.hpp"

// Places become local ids: interior, fringe, then copies grouped by owner, so that a halo receive lands in place.

namespace barrio::mesh {
namespace {

constexpr RegionName number_region{"mesh.number"};

/// Copies by (owner, global id).
std::vector<std::int32_t> order_of_copies(std::vector<std::int32_t> places, std::span<const Rank> owners,
                                          std::size_t first_owner, std::span<const GlobalId> ids) {
  std::ranges::sort(places, {}, [&](std::int32_t place) {
    const auto at = static_cast<std::size_t>(place);
    return std::tuple(owners[at - first_owner], ids[at]);
  });
  return places;
}

}  // namespace

void MeshAssembly::index_vertices(std::span<const GlobalId> nodes) {
  // A window of ids may cost as much memory as the cells do; ids that are spread wider are hashed.
  const auto window_limit = static_cast<std::int64_t>(2 * nodes.size() + 1024);
  index_ = detail::IdIndex(nodes, window_limit);
  index_.reserve(with_room(index_.size()));
  n_used_ = index_.size();
  cells().nodes.reserve(with_room(nodes.size()));
  for (const GlobalId node : nodes) cells().nodes.push_back(LocalId{index_.find(node)});
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
  touches_copy_.assign(of_cells.size(), 0);
  for (std::size_t c = 0; c < of_cells.size(); ++c) {
    const auto nodes = of_cells.nodes_of(c);
    if (std::ranges::none_of(nodes, [&](LocalId v) { return group[index(v)] == copy; })) continue;
    touches_copy_[c] = 1;
    for (const LocalId v : nodes)
      if (group[index(v)] == interior) group[index(v)] = fringe;
  }

  VertexTable& table = out_.vertices;
  std::vector<std::int32_t> copies;
  vertex_at_.resize(group.size());
  for (std::size_t v = 0; v < group.size(); ++v) {
    if (group[v] == copy) copies.push_back(static_cast<std::int32_t>(v));
    if (group[v] == interior) table.n_interior += 1;
  }
  table.n_owned = group.size() - copies.size();
  table.owners = Owners(me, table.n_owned);
  table.coordinates.resize(coordinates_.size());
  table.global_ids.resize(group.size());
  std::array<std::size_t, 2> next{0, table.n_interior};
  const auto place_at = [&](std::size_t v, std::size_t at) {
    vertex_at_[v] = local_id(at);
    table.global_ids[at] = index_.ids()[v];
    for (std::size_t k = 0; k < 3; ++k) table.coordinates[3 * at + k] = coordinates_[3 * v + k];
  };
  for (std::size_t v = 0; v < group.size(); ++v)
    if (group[v] != copy) place_at(v, next[group[v]]++);
  std::size_t at = table.n_owned;
  for (const std::int32_t v : order_of_copies(std::move(copies), vertex_owners_, 0, index_.ids())) {
    place_at(static_cast<std::size_t>(v), at++);
    table.owners.add(vertex_owners_[static_cast<std::size_t>(v)], 1);
  }
  coordinates_ = {};
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
  for (const int wanted : {0, 1}) {
    for (std::size_t c = 0; c < n_own_cells_; ++c)
      if (touches_copy_[c] == wanted) order.push_back(static_cast<std::int32_t>(c));
    if (wanted == 0) table.n_interior = order.size();
  }
  std::vector<std::int32_t> ghosts(n - n_own_cells_);
  for (std::size_t g = 0; g < ghosts.size(); ++g) ghosts[g] = static_cast<std::int32_t>(n_own_cells_ + g);
  ghosts = order_of_copies(std::move(ghosts), ghost_owners_, n_own_cells_, table.global_ids);
  table.owners = Owners(context_.rank(), n_own_cells_);
  for (const std::int32_t g : ghosts) table.owners.add(ghost_owners_[static_cast<std::size_t>(g) - n_own_cells_], 1);
  order.insert(order.end(), ghosts.begin(), ghosts.end());
  table.n_owned = n_own_cells_;

  cell_at_.resize(n);
  for (std::size_t i = 0; i < n; ++i) cell_at_[static_cast<std::size_t>(order[i])] = local_id(i);
  const auto permute = [&](auto& items) {
    std::remove_reference_t<decltype(items)> moved;
    moved.reserve(n);
    for (const std::int32_t c : order) moved.push_back(items[static_cast<std::size_t>(c)]);
    items = std::move(moved);
  };
  std::vector<LocalId> nodes;
  nodes.reserve(table.nodes.size());
  if (table.nodes_per_entity == 0) {
    std::vector<std::int32_t> offsets{0};
    offsets.reserve(n + 1);
    for (const std::int32_t c : order)
      offsets.push_back(offsets.back() + static_cast<std::int32_t>(table.nodes_of(static_cast<std::size_t>(c)).size()));
    for (const std::int32_t c : order)
      for (const LocalId v : table.nodes_of(static_cast<std::size_t>(c))) nodes.push_back(vertex_at_[index(v)]);
    table.offsets = std::move(offsets);
  } else {
    for (const std::int32_t c : order)
      for (const LocalId v : table.nodes_of(static_cast<std::size_t>(c))) nodes.push_back(vertex_at_[index(v)]);
  }
  table.nodes = std::move(nodes);
  if (!table.has_one_type) permute(table.types);
  permute(table.global_ids);
  permute(out_.cell_parts);

  // Who sends knows the reader's order: by ascending global id, as places do.
  auto plan = std::make_shared<exchange::HaloPlan>();
  plan->tags = context_.take_tags(1);
  for (const Owners::Run& run : table.owners.copies())
    plan->incoming.push_back({run.owner, run.ids.first, static_cast<std::int32_t>(run.ids.size())});
  for (std::size_t r = 0; r < sent_.ranks.size(); ++r) {
    if (sent_.places[r].empty()) continue;
    plan->readers.push_back(sent_.ranks[r]);
    for (const std::int32_t place : sent_.places[r]) plan->out.push_back(cell_at_[static_cast<std::size_t>(place)]);
    plan->out_offsets.push_back(plan->out.size());
  }
  plan->out.shrink_to_fit();
  out_.halos[static_cast<std::size_t>(value(out_.cell_dim))] = std::move(plan);
}

}  // namespace barrio::mesh
