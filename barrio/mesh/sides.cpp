#include "barrio/mesh/sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/plan_halo.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName all_sides_region{"mesh.all_sides"};

/// Corners of the sides of a type, as places in the cell; -1 fills up.
template <int n_corners>
std::vector<std::array<std::int8_t, n_corners>> shapes_of(CellType type, Dim dim) {
  std::vector<std::array<std::int8_t, n_corners>> shapes;
  std::array<std::int8_t, n_corners> shape{};
  shape.fill(-1);
  if (value(dim) + 1 == value(topology(type).dim)) {
    std::size_t n = 0;
    for (const std::int8_t corner : topology(type).sides) {
      if (corner >= 0) {
        if (n < n_corners) shape[n] = corner;  // larger ones are of types that the mesh does not have
        n += 1;
        continue;
      }
      shapes.push_back(shape);
      shape.fill(-1);
      n = 0;
    }
  } else {
    const auto edges = topology(type).edges;
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      shape[0] = edges[e];
      shape[1] = edges[e + 1];
      shapes.push_back(shape);
    }
  }
  return shapes;
}

/// Corners of the largest faces that are numbered.
constexpr int largest_face = 32;

/// The most corners that a face of a polyhedron has; at least 4. Local.
std::size_t most_corners(const EntityTable& cells) {
  std::size_t most = 4;
  for (std::size_t c = 0; c < cells.size() && (c == 0 || !cells.has_one_type || !cells.offsets.empty()); ++c) {
    if (cells.type(c) != CellType::polyhedron) continue;
    detail::for_each_loop(cells.nodes_of(c),
                          [&](std::span<const LocalId> face) { most = std::max(most, face.size()); });
  }
  return most;
}

/// The order that sorts ids, found by merging the runs in which they ascend: in a mesh those of a group of vertices, or
/// of one owner.
std::vector<std::int32_t> order_of_runs(std::span<const GlobalId> ids) {
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr std::size_t many = 256;
  std::vector<std::ptrdiff_t> ends;
  for (std::size_t i = 1; i < ids.size() && ends.size() <= many; ++i)
    if (ids[i] < ids[i - 1]) ends.push_back(static_cast<std::ptrdiff_t>(i));
  const auto id = [&](std::int32_t i) { return ids[static_cast<std::size_t>(i)]; };
  if (ends.size() > many) {
    std::ranges::sort(order, {}, id);
    return order;
  }
  ends.push_back(std::ssize(order));
  while (ends.size() > 1) {  // neighbours pairwise
    std::vector<std::ptrdiff_t> longer;
    std::ptrdiff_t first = 0;
    for (std::size_t r = 0; r < ends.size(); r += 2) {
      if (r + 1 < ends.size())
        std::ranges::inplace_merge(order.begin() + first, order.begin() + ends[r], order.begin() + ends[r + 1], {}, id);
      first = ends[std::min(r + 1, ends.size() - 1)];
      longer.push_back(first);
    }
    ends = std::move(longer);
  }
  return order;
}

}  // namespace

/// @tparam n_corners  room for the corners of a side: 2 for edges, 3 for triangles alone, else 4 or more
template <int n_corners>
class Sides::Builder {
 public:
  Builder(const Mesh& mesh, Sides& out)
      : mesh_(mesh), context_(mesh.context()), vertices_(mesh.vertices()), out_(out), head_(vertices_.size(), -1) {}

  void build() {
    match();
    resolve();
    number();
    number_copies();
    order();
    plan_halo();
  }

 private:
  /// Corners in their one order, unused ones no_local_id.
  using Corners = std::array<LocalId, n_corners>;
  using Key = std::array<GlobalId, n_corners>;
  /// What the cells of another rank say of a ghost's side.
  struct Identity {
    GlobalId id;
    std::int64_t owner;
  };

  [[nodiscard]] GlobalId id_of(LocalId v) const { return vertices_.global_ids[index(v)]; }
  [[nodiscard]] Key key_of(const Corners& corners) const {
    Key key;
    for (std::size_t i = 0; i < n_corners; ++i) key[i] = corners[i] == no_local_id ? no_global_id : id_of(corners[i]);
    return key;
  }
  [[nodiscard]] static std::size_t size_of(const Corners& corners) {
    if constexpr (n_corners < 4) return std::size_t{n_corners};
    std::size_t n = n_corners;
    while (n > 3 && corners[n - 1] == no_local_id) --n;
    return n;
  }

  /// Rotate and turn corners so that the lowest comes first and its lower neighbour next. @param ids  of the corners
  static Corners canonical(const Corners& c, const Key& ids) {
    if constexpr (n_corners == 2) return ids[1] < ids[0] ? Corners{c[1], c[0]} : c;
    const std::size_t n = size_of(c);
    std::size_t low = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (ids[i] < ids[low]) low = i;
    const std::size_t before = (low == 0 ? n : low) - 1;
    const std::size_t after = low + 1 == n ? 0 : low + 1;
    const bool turns = ids[before] < ids[after];
    Corners out = c;  // for the unused ones
    for (std::size_t i = 0, at = low; i < n; ++i) {
      out[i] = c[at];
      at = turns ? (at == 0 ? n : at) - 1 : (at + 1 == n ? 0 : at + 1);
    }
    return out;
  }
  Corners canonical(const Corners& c) const { return canonical(c, key_of(c)); }

  /// The side with such corners, or -1.
  [[nodiscard]] std::int32_t find(const Corners& corners) const {
    std::int32_t side = head_[index(corners[0])];
    while (side >= 0 && sides_[static_cast<std::size_t>(side)].corners != corners)
      side = sides_[static_cast<std::size_t>(side)].next;
    return side;
  }
  std::int32_t find_or_add(const Corners& corners) {
    if (const std::int32_t side = find(corners); side >= 0) return side;
    const auto side = static_cast<std::int32_t>(sides_.size());
    sides_.push_back({corners, std::exchange(head_[index(corners[0])], side)});
    return side;
  }

  void match();
  void resolve();
  void number();
  void number_copies();
  void order();
  void plan_halo();

  const Mesh& mesh_;
  mpi::Context& context_;
  const VertexTable& vertices_;
  Sides& out_;
  // Sides by lowest corner, as chains.
  struct Link {
    Corners corners;
    std::int32_t next;
  };
  std::vector<std::int32_t> head_;
  std::vector<Link> sides_;
  std::size_t n_own_ = 0;  // sides of own cells come first
  std::vector<Rank> owners_;
  std::vector<GlobalId> ids_;
  std::vector<std::pair<std::int32_t, std::int32_t>> shared_;  // side, set of ranks; ascending
};

template <int n_corners>
void Sides::Builder<n_corners>::match() {
  const EntityTable& cells = mesh_.cells();
  std::array<std::vector<std::array<std::int8_t, n_corners>>, n_cell_types> shapes;
  for (int t = 0; t < n_cell_types; ++t)
    shapes[static_cast<std::size_t>(t)] = shapes_of<n_corners>(static_cast<CellType>(t), out_.dim_);
  if (cells.has_one_type && detail::has_fixed_sides(cells.types[0])) {
    out_.per_cell_ = shapes[static_cast<std::size_t>(cells.types[0])].size();
    out_.of_cells_.reserve(out_.per_cell_ * cells.size());
    sides_.reserve(out_.per_cell_ * cells.size() / 2 + vertices_.size());  // more than there are, as a rule
  } else {
    out_.offsets_.push_back(0);
  }
  std::array<GlobalId, 8> ids;  // of the corners of a cell
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c == cells.n_owned) n_own_ = sides_.size();
    const auto nodes = cells.nodes_of(c);
    if (!detail::has_fixed_sides(cells.type(c))) {
      detail::for_each_side<LocalId>(out_.dim_, cells.type(c), nodes, [&](std::span<const LocalId> side) {
        Corners corners;
        corners.fill(no_local_id);
        std::ranges::copy(side, corners.begin());
        out_.of_cells_.push_back(LocalId{find_or_add(canonical(corners))});
      });
    } else {
      const std::size_t n = detail::n_corners(cells.type(c), nodes.size());
      for (std::size_t i = 0; i < n; ++i) ids[i] = id_of(nodes[i]);
      for (const auto& shape : shapes[static_cast<std::size_t>(cells.type(c))]) {
        Corners corners;
        Key key;
        for (std::size_t i = 0; i < n_corners; ++i) {
          const auto at = static_cast<std::size_t>(shape[i]);
          corners[i] = shape[i] < 0 ? no_local_id : nodes[at];
          key[i] = shape[i] < 0 ? no_global_id : ids[at];
        }
        out_.of_cells_.push_back(LocalId{find_or_add(canonical(corners, key))});
      }
    }
    if (!out_.offsets_.empty()) out_.offsets_.push_back(static_cast<std::int32_t>(out_.of_cells_.size()));
  }
  if (cells.size() == cells.n_owned) n_own_ = sides_.size();

  const EntityTable& listed = mesh_.entities(out_.dim_);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    Corners corners;
    corners.fill(no_local_id);
    const auto nodes = listed.nodes_of(i);
    const std::size_t n = detail::without_padding(nodes.first(detail::n_corners(listed.type(i), nodes.size()))).size();
    if (n > n_corners) {
      out_.of_listed_.push_back(no_local_id);
      continue;
    }
    std::copy_n(nodes.begin(), n, corners.begin());
    out_.of_listed_.push_back(LocalId{find(canonical(corners))});
  }
}

/// Two ranks share a side if both have cells with it: each tells the other of the sides whose corners they share.
template <int n_corners>
void Sides::Builder<n_corners>::resolve() {
  const Rank me = context_.rank();
  std::vector<std::int32_t> sharers(vertices_.size(), -1);
  for (std::size_t s = 0; s < vertices_.shared.size(); ++s)
    sharers[index(vertices_.shared[s])] = vertices_.sharer_sets[s];
  exchange::Neighborhood hood(context_, mesh_.neighbours());
  auto round = hood.begin_round<Key>();
  std::vector<Rank> common;
  std::vector<Rank> both;
  for (std::size_t s = 0; s < n_own_; ++s) {
    const Corners& corners = sides_[s].corners;
    const std::size_t n = size_of(corners);
    if (std::any_of(corners.begin(), corners.begin() + n, [&](LocalId v) { return sharers[index(v)] < 0; })) continue;
    const auto first = vertices_.rank_sets[sharers[index(corners[0])]];
    common.assign(first.begin(), first.end());
    for (std::size_t i = 1; i < n; ++i) {
      if (sharers[index(corners[i])] == sharers[index(corners[0])]) continue;
      both.clear();
      std::ranges::set_intersection(common, vertices_.rank_sets[sharers[index(corners[i])]], std::back_inserter(both));
      common.swap(both);
    }
    for (const Rank rank : common)
      if (rank != me) round.allocate(rank) = key_of(corners);
  }
  round.close();

  std::vector<std::pair<GlobalId, LocalId>> local_of;
  for (const LocalId v : vertices_.shared) local_of.emplace_back(id_of(v), v);
  std::ranges::sort(local_of);
  const auto local = [&](GlobalId id) {
    if (id == no_global_id) return no_local_id;
    return std::ranges::lower_bound(local_of, id, {}, [](const auto& pair) { return pair.first; })->second;
  };
  std::vector<std::pair<std::int32_t, Rank>> found;
  for (const auto& [from, key] : round.received()) {
    Corners corners;
    for (std::size_t i = 0; i < n_corners; ++i) corners[i] = local(key[i]);
    const std::int32_t side = find(corners);
    if (side >= 0 && static_cast<std::size_t>(side) < n_own_) found.emplace_back(side, from);
  }
  std::ranges::sort(found);
  owners_.assign(sides_.size(), me);
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < found.size();) {
    const std::int32_t side = found[i].first;
    ranks.assign(1, me);
    for (; i < found.size() && found[i].first == side; ++i) ranks.push_back(found[i].second);
    std::ranges::sort(ranks);
    shared_.emplace_back(side, out_.table_.rank_sets.add(ranks));
    Hash64 hash(static_cast<std::uint64_t>(value(out_.dim_)));
    const Corners& corners = sides_[static_cast<std::size_t>(side)].corners;
    for (std::size_t c = 0; c < size_of(corners); ++c) hash.add(barrio::value(id_of(corners[c])));
    owners_[static_cast<std::size_t>(side)] = ranks[hash.value() % ranks.size()];
  }
}

/// Number the sides that this rank owns. The sides of one lowest corner are counted by that corner's owner, the corners
/// by their homes.
template <int n_corners>
void Sides::Builder<n_corners>::number() {
  const Rank me = context_.rank();
  struct Other {
    std::int32_t side;  // -1: another rank's
    Rank from;
    std::size_t at;  // place among what that rank sent
    Key key;
  };
  // 1. Keys of owned sides to the owner of their lowest corner.
  exchange::Neighborhood hood(context_, mesh_.neighbours());
  std::vector<std::pair<LocalId, Other>> at_corner;  // lowest corners that others share
  std::vector<std::vector<std::int32_t>> asked(mesh_.neighbours().size());
  ids_.assign(sides_.size(), no_global_id);
  std::vector<bool> is_shared(vertices_.size(), false);
  for (const LocalId v : vertices_.shared) is_shared[index(v)] = true;
  auto round = hood.begin_round<Key>();
  for (std::size_t s = 0; s < n_own_; ++s) {
    const LocalId low = sides_[s].corners[0];
    if (owners_[s] != me || !is_shared[index(low)]) continue;
    const Rank owner = vertices_.owners[index(low)];
    if (owner == me) {
      at_corner.push_back({low, {static_cast<std::int32_t>(s), me, 0, key_of(sides_[s].corners)}});
      continue;
    }
    round.allocate(owner) = key_of(sides_[s].corners);
    const auto n = std::ranges::lower_bound(mesh_.neighbours(), owner) - mesh_.neighbours().begin();
    asked[static_cast<std::size_t>(n)].push_back(static_cast<std::int32_t>(s));
  }
  round.close();
  std::vector<std::pair<GlobalId, LocalId>> local_of;
  for (const LocalId v : vertices_.shared)
    if (index(v) < vertices_.n_owned) local_of.emplace_back(id_of(v), v);
  std::ranges::sort(local_of);
  std::vector<std::size_t> n_from(mesh_.neighbours().size(), 0);
  for (const auto& [from, key] : round.received()) {
    const auto n = std::ranges::lower_bound(mesh_.neighbours(), from) - mesh_.neighbours().begin();
    const LocalId low =
        std::ranges::lower_bound(local_of, key[0], {}, [](const auto& pair) { return pair.first; })->second;
    at_corner.push_back({low, {-1, from, n_from[static_cast<std::size_t>(n)]++, key}});
  }
  std::ranges::sort(at_corner, {}, [](const auto& one) { return std::tuple(one.first, one.second.key); });

  // 2. Places among the sides of a corner; how many there are goes to the corner's home, and where they begin comes
  // back.
  std::vector<std::int32_t> place(n_own_, 0);
  std::vector<std::int32_t> n_of_vertex(vertices_.n_owned, 0);
  std::vector<std::vector<std::int32_t>> replies(mesh_.neighbours().size());
  for (std::size_t n = 0; n < replies.size(); ++n) replies[n].resize(n_from[n]);
  for (const auto& [low, other] : at_corner) {
    const std::int32_t at = n_of_vertex[index(low)]++;
    if (other.side >= 0) {
      place[static_cast<std::size_t>(other.side)] = at;
    } else {
      const auto n = std::ranges::lower_bound(mesh_.neighbours(), other.from) - mesh_.neighbours().begin();
      replies[static_cast<std::size_t>(n)][other.at] = at;
    }
  }
  std::vector<std::pair<Key, std::int32_t>> chain;
  for (std::size_t v = 0; v < vertices_.n_owned; ++v) {
    if (is_shared[v]) continue;
    chain.clear();
    std::int32_t* link = &head_[v];
    for (std::int32_t side = *link; side >= 0;) {
      Link& at = sides_[static_cast<std::size_t>(side)];
      const std::int32_t next = at.next;
      if (static_cast<std::size_t>(side) < n_own_) {
        chain.emplace_back(key_of(at.corners), side);
      } else {  // of ghosts alone: they stay in front
        *link = side;
        link = &at.next;
      }
      side = next;
    }
    std::ranges::sort(chain);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const std::int32_t side = chain[i].second;
      place[static_cast<std::size_t>(side)] = static_cast<std::int32_t>(i);
      *link = side;
      link = &sides_[static_cast<std::size_t>(side)].next;
    }
    *link = -1;
    n_of_vertex[v] = static_cast<std::int32_t>(chain.size());
  }
  auto back = hood.begin_round<std::int32_t>();
  for (std::size_t n = 0; n < replies.size(); ++n)
    std::ranges::copy(replies[n], back.allocate(mesh_.neighbours()[n], replies[n].size()).begin());
  back.close();
  std::vector<std::size_t> n_read(asked.size(), 0);
  for (const auto& run : back.received_runs()) {
    const auto n =
        static_cast<std::size_t>(std::ranges::lower_bound(mesh_.neighbours(), run.from) - mesh_.neighbours().begin());
    for (const std::int32_t at : run.messages) place[static_cast<std::size_t>(asked[n][n_read[n]++])] = at;
  }

  GlobalId highest = no_global_id;
  for (std::size_t v = 0; v < vertices_.n_owned; ++v) highest = std::max(highest, vertices_.global_ids[v]);
  const Slabs slabs{mpi::max(context_, barrio::value(highest)) + 1, context_.size()};
  struct Count {
    std::int32_t row;  // in the home's slab
    std::int32_t n;
  };
  std::vector<Rank> to;
  std::vector<Count> counts;
  to.reserve(vertices_.n_owned);
  counts.reserve(vertices_.n_owned);
  for (std::size_t v = 0; v < vertices_.n_owned; ++v) {
    const Rank home = slabs.rank_of(vertices_.global_ids[v]);
    to.push_back(home);
    counts.push_back(
        {static_cast<std::int32_t>(barrio::value(vertices_.global_ids[v]) - slabs.first(home)), n_of_vertex[v]});
  }
  const std::vector<std::size_t> sent_order = exchange::detail::order_by_rank(to);
  const auto counted = exchange::route(context_, exchange::pack_by_rank<Count>(to, counts), exchange::Route::automatic);
  std::vector<std::int64_t> first(slabs.size(context_.rank()) + 1, 0);
  for (const Count& count : counted.items) first[static_cast<std::size_t>(count.row) + 1] = count.n;
  for (std::size_t row = 0; row + 1 < first.size(); ++row) first[row + 1] += first[row];
  const std::int64_t offset = mpi::exclusive_sum(context_, first.back());
  out_.table_.n_global = mpi::sum(context_, first.back());
  exchange::Parcels<std::int64_t> answers{counted.peers, counted.offsets, {}};
  answers.items.reserve(counted.items.size());
  for (const Count& count : counted.items) answers.items.push_back(offset + first[static_cast<std::size_t>(count.row)]);
  const auto begins = exchange::route(context_, answers, exchange::Route::automatic);
  std::vector<std::int64_t> begin_of(vertices_.size(), 0);
  for (std::size_t i = 0; i < sent_order.size(); ++i) begin_of[sent_order[i]] = begins.items[i];
  exchange::HaloExchange<std::int64_t>(context_, mesh_.halo_plan(Dim::vertex), begin_of, 1).exchange();
  for (std::size_t s = 0; s < n_own_; ++s)
    if (owners_[s] == me) ids_[s] = GlobalId{begin_of[index(sides_[s].corners[0])] + place[s]};
}

/// Ids of what others own: on own cells by the list that two ranks share, on ghosts from the cell's owner.
template <int n_corners>
void Sides::Builder<n_corners>::number_copies() {
  const Rank me = context_.rank();
  struct Named {
    Key key;
    std::int32_t side;
    Rank with;
  };
  std::vector<Named> list;
  for (const auto& [side, set] : shared_) {
    const auto s = static_cast<std::size_t>(side);
    if (owners_[s] != me) {
      list.push_back({key_of(sides_[s].corners), side, owners_[s]});
    } else {
      for (const Rank rank : out_.table_.rank_sets[set])
        if (rank != me) list.push_back({key_of(sides_[s].corners), side, rank});
    }
  }
  std::ranges::sort(list, {}, [](const Named& one) { return std::tuple(one.with, one.key); });
  exchange::Neighborhood hood(context_, mesh_.neighbours(), {.delivery = exchange::Delivery::by_rank});
  auto round = hood.begin_round<GlobalId>();
  for (const Named& one : list)
    if (owners_[static_cast<std::size_t>(one.side)] == me)
      round.allocate(one.with) = ids_[static_cast<std::size_t>(one.side)];
  round.close();
  std::erase_if(list, [&](const Named& one) { return owners_[static_cast<std::size_t>(one.side)] == me; });
  std::size_t next = 0;
  for (const auto& [from, id] : round.received()) ids_[static_cast<std::size_t>(list[next++].side)] = id;

  if (mesh_.ghost_layers() == 0) return;
  const EntityTable& cells = mesh_.cells();
  std::size_t most = out_.per_cell_;
  for (std::size_t c = 0; c < cells.size() && !out_.offsets_.empty(); ++c)
    most = std::max(most, out_.of_cell(c).size());
  most = static_cast<std::size_t>(mpi::max(context_, static_cast<std::int64_t>(most)));
  std::vector<Identity> of_slots(most * cells.size());
  for (const LocalId c : mesh_.halo_plan(mesh_.cell_dim())->out) {
    std::size_t slot = most * index(c);
    for (const LocalId side : out_.of_cell(index(c))) of_slots[slot++] = {ids_[index(side)], owners_[index(side)]};
  }
  exchange::HaloExchange<Identity>(context_, mesh_.halo_plan(mesh_.cell_dim()), of_slots, static_cast<int>(most))
      .exchange();
  for (std::size_t c = cells.n_owned; c < cells.size(); ++c) {
    std::size_t slot = most * c;
    for (const LocalId side : out_.of_cell(c)) {
      const Identity& identity = of_slots[slot++];
      ids_[index(side)] = identity.id;
      owners_[index(side)] = static_cast<Rank>(identity.owner);
    }
  }
}

template <int n_corners>
void Sides::Builder<n_corners>::order() {
  const Rank me = context_.rank();
  const std::size_t n = sides_.size();
  EntityTable& table = out_.table_;
  // Vertices by ascending id, and the few sides of each sorted: cheaper than sorting all sides.
  const std::vector<std::int32_t> by_id = order_of_runs(vertices_.global_ids);
  std::array<std::vector<std::int32_t>, 3> groups;  // interior, fringe, copies
  groups[0].reserve(n);
  std::vector<std::int32_t> chain;
  for (const std::int32_t v : by_id) {
    chain.clear();
    for (std::int32_t side = head_[static_cast<std::size_t>(v)]; side >= 0;
         side = sides_[static_cast<std::size_t>(side)].next)
      chain.push_back(side);
    std::ranges::sort(chain, {}, [&](std::int32_t side) { return ids_[static_cast<std::size_t>(side)]; });
    for (const std::int32_t side : chain) {
      const Corners& corners = sides_[static_cast<std::size_t>(side)].corners;
      const bool is_interior = std::all_of(corners.begin(), corners.begin() + size_of(corners),
                                           [&](LocalId c) { return index(c) < vertices_.n_owned; });
      groups[owners_[static_cast<std::size_t>(side)] != me ? 2 : (is_interior ? 0 : 1)].push_back(side);
    }
  }
  std::ranges::stable_sort(groups[2], {}, [&](std::int32_t side) { return owners_[static_cast<std::size_t>(side)]; });
  table.n_interior = groups[0].size();
  table.n_owned = groups[0].size() + groups[1].size();
  table.owners = Owners(me, table.n_owned);
  head_ = {};

  // One shape in the whole mesh is known from the cells' types.
  std::vector<LocalId> at(n);
  table.global_ids.reserve(n);
  if constexpr (n_corners < 4) {
    table.nodes_per_entity = n_corners;
    table.types.push_back(n_corners == 2 ? CellType::edge : CellType::triangle);
    table.nodes.reserve(n * n_corners);
  } else {
    table.nodes_per_entity = mesh_.cells().has_one_type && mesh_.cells().types[0] == CellType::hex ? 4 : 0;
    table.has_one_type = table.nodes_per_entity == 4;
    if (table.has_one_type) table.types.push_back(CellType::quad);
    if (!table.has_one_type) table.offsets.push_back(0);
    table.nodes.reserve(n * n_corners);
  }
  for (const auto& group : groups) {
    for (const std::int32_t side : group) {
      const auto s = static_cast<std::size_t>(side);
      at[s] = local_id(table.global_ids.size());
      table.global_ids.push_back(ids_[s]);
      const std::size_t size = size_of(sides_[s].corners);
      for (std::size_t i = 0; i < size; ++i) table.nodes.push_back(sides_[s].corners[i]);
      if (table.nodes_per_entity == 0) {
        table.offsets.push_back(static_cast<std::int32_t>(table.nodes.size()));
        table.types.push_back(size == 3 ? CellType::triangle : (size == 4 ? CellType::quad : CellType::polygon));
      }
      if (owners_[s] != me) table.owners.add(owners_[s], 1);
    }
  }
  for (LocalId& side : out_.of_cells_) side = at[index(side)];
  for (LocalId& side : out_.of_listed_)
    if (side != no_local_id) side = at[index(side)];
  std::vector<std::pair<LocalId, std::int32_t>> shared;
  for (const auto& [side, set] : shared_) shared.emplace_back(at[static_cast<std::size_t>(side)], set);
  std::ranges::sort(shared);
  for (const auto& [side, set] : shared) {
    table.shared.push_back(side);
    table.sharer_sets.push_back(set);
  }
}

template <int n_corners>
void Sides::Builder<n_corners>::plan_halo() {
  const EntityTable& table = out_.table_;
  const auto copies = std::span<const GlobalId>(table.global_ids).subspan(table.n_owned);
  std::vector<Rank> owners = table.owners.to_vector();
  owners.erase(owners.begin(), owners.begin() + static_cast<std::ptrdiff_t>(table.n_owned));
  out_.halo_ = std::make_shared<exchange::HaloPlan>(exchange::plan_halo(
      context_, copies, owners, local_id(table.n_owned), [&](GlobalId id) { return detail::find_owned(table, id); }));
}

Sides::Sides(const Mesh& mesh, Dim dim) : context_(&mesh.context()), dim_(dim) {
  if (value(dim) < 1 || value(dim) >= value(mesh.cell_dim())) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("sides of dimension {}", value(dim)),
                       .cause = fmt::format("do not exist for cells of dimension {}", value(mesh.cell_dim())),
                       .remedy = "ask for edges, or for faces of a mesh of volumes"});
  }
  const Region region(mesh.context().trace(), all_sides_region);
  const EntityTable& cells = mesh.cells();
  if (dim == Dim::edge) {
    Builder<2>(mesh, *this).build();
    return;
  }
  if (cells.has_one_type && cells.types[0] == CellType::tet) {
    Builder<3>(mesh, *this).build();
    return;
  }
  // The room for corners is the same on every rank, for sides travel in it.
  const std::size_t most =
      static_cast<std::size_t>(mpi::max(mesh.context(), static_cast<std::int64_t>(most_corners(cells))));
  if (most <= 4) {
    Builder<4>(mesh, *this).build();
  } else if (most <= 8) {
    Builder<8>(mesh, *this).build();
  } else if (most <= largest_face) {
    Builder<largest_face>(mesh, *this).build();
  } else {
    throw AgreedError(ErrorCode::bad_input,
                      {.subject = fmt::format("a face of {} corners", most),
                       .cause = fmt::format("is too large: faces are numbered up to {} corners", largest_face),
                       .remedy = "cut such cells into smaller ones"});
  }
}

std::uint64_t Sides::checksum(const Mesh& mesh) const {
  std::uint64_t total = 0;
  for (std::size_t s = 0; s < table_.n_owned; ++s) {
    Hash64 hash(static_cast<std::uint64_t>(value(dim_)));
    hash.add(barrio::value(table_.global_ids[s]));
    for (const LocalId v : table_.nodes_of(s)) hash.add(barrio::value(mesh.vertices().global_ids[index(v)]));
    total += hash.value();
  }
  return mpi::sum(*context_, total);
}

std::uint64_t Sides::memory_bytes() const noexcept {
  return table_.memory_bytes() + barrio::memory_bytes(of_cells_) + barrio::memory_bytes(offsets_) +
         barrio::memory_bytes(of_listed_) + halo_->memory_bytes();
}

}  // namespace barrio::mesh
