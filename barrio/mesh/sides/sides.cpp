#include "barrio/mesh/sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/plan_halo.hpp"
#include "barrio/mesh/sides/matched_sides.hpp"
#include "barrio/mesh/tables/local_order.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName all_sides_region{"mesh.all_sides"};

/// Maximum number of corners of a face.
constexpr int largest_face = 32;

/// Find the maximum number of corners of a polyhedron's face; at least 4. Local.
std::int64_t max_corners(const EntityTable& cells) {
  std::int64_t most = 4;
  for (std::size_t c = 0; c < cells.size() && (c == 0 || !cells.has_one_type || !cells.offsets.empty()); ++c) {
    if (cells.type(c) != CellType::polyhedron) continue;
    for_each_loop(cells.nodes_of(c), [&](std::span<const LocalId> face) { most = std::max(most, std::ssize(face)); });
  }
  return most;
}

}  // namespace

/// @tparam n_corners  room for the corners of a side: 2 for edges, 3 for triangles alone, else 4 or more
template <int n_corners>
class Sides::Builder {
 public:
  Builder(const Mesh& mesh, Sides& out)
      : mesh_(mesh), context_(mesh.context()), vertices_(mesh.vertices()), out_(out), sides_(mesh, out.dim_) {
    detail::SidesOfCells sides = sides_.take_sides_of_cells();
    out_.of_cells_ = std::move(sides.of_cells);
    out_.offsets_ = std::move(sides.offsets);
    out_.per_cell_ = sides.per_cell;
    out_.of_listed_ = std::move(sides.of_listed);
  }

  void build() {
    resolve();
    number();
    number_copies();
    order();
    plan_halo();
  }

 private:
  using Matched = detail::MatchedSides<n_corners>;
  using Corners = typename Matched::Corners;
  using Key = std::array<GlobalId, n_corners>;
  /// Id and owner of a ghost's side, sent by the ghost's owner.
  struct Identity {
    GlobalId id;
    std::int64_t owner;
  };

  [[nodiscard]] GlobalId id_of(LocalId v) const { return vertices_.global_ids[index(v)]; }
  [[nodiscard]] Key key_of(std::size_t side) const {
    const Corners& corners = sides_.corners()[side];
    Key key;
    for (std::size_t i = 0; i < n_corners; ++i) key[i] = corners[i] == no_local_id ? no_global_id : id_of(corners[i]);
    return key;
  }
  [[nodiscard]] std::span<const LocalId> corners_of(std::size_t side) const {
    const Corners& corners = sides_.corners()[side];
    return std::span<const LocalId>(corners).first(Matched::size_of(corners));
  }
  /// Return the place of a cell's side in the order of keys.
  [[nodiscard]] std::size_t at(LocalId side_of_cell) const { return sides_.place_of()[index(side_of_cell)]; }

  void resolve();
  void number();
  /// Compute, for each local vertex, the global id of the first side of which it is the lowest corner.
  /// @param[in] n_of_vertex  for each owned vertex, the number of sides on all ranks of which it is the lowest corner
  [[nodiscard]] std::vector<std::int64_t> begins_of_vertices(std::span<const std::int32_t> n_of_vertex);
  void number_copies();
  void order();
  void plan_halo();

  const Mesh& mesh_;
  mpi::Context& context_;
  const VertexTable& vertices_;
  Sides& out_;
  Matched sides_;
  // By place in the order of keys.
  std::vector<Rank> owners_;  // -1: a side of ghosts only, owner not known yet
  std::vector<GlobalId> ids_;
  std::vector<std::pair<std::int32_t, std::int32_t>> shared_;  // side, set of ranks; ascending
};

/// Find the sharers and the owner of each side. Two ranks share a side if both own cells with it: each sends the other
/// the sides whose corners they share.
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
  const auto tell = [&](std::int32_t s) {
    if (!sides_.is_own(s)) return;
    const std::span<const LocalId> corners = corners_of(s);
    if (std::ranges::any_of(corners, [&](LocalId v) { return sharers[index(v)] < 0; })) return;
    const auto first = vertices_.rank_sets[sharers[index(corners[0])]];
    common.assign(first.begin(), first.end());
    for (const LocalId v : corners) {
      if (sharers[index(v)] == sharers[index(corners[0])]) continue;
      both.clear();
      std::ranges::set_intersection(common, vertices_.rank_sets[sharers[index(v)]], std::back_inserter(both));
      common.swap(both);
    }
    for (const Rank rank : common)
      if (rank != me) round.allocate(rank) = key_of(s);
  };
  for (const LocalId v : vertices_.shared) sides_.for_each_at(v, tell);
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
    const std::int32_t side = sides_.find(corners);
    if (side >= 0 && sides_.is_own(side)) found.emplace_back(side, from);
  }
  std::ranges::sort(found);
  owners_.resize(sides_.size());
  for (std::size_t s = 0; s < owners_.size(); ++s) owners_[s] = sides_.is_own(s) ? me : -1;
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < found.size();) {
    const std::int32_t side = found[i].first;
    ranks.assign(1, me);
    for (; i < found.size() && found[i].first == side; ++i) ranks.push_back(found[i].second);
    std::ranges::sort(ranks);
    shared_.emplace_back(side, out_.table_.rank_sets.add(ranks));
    Hash64 hash(index(out_.dim_));
    for (const LocalId v : corners_of(side)) hash.add(barrio::value(id_of(v)));
    owners_[side] = ranks[hash.value() % ranks.size()];
  }
}

/// Number the sides that this rank owns. The owner of a vertex counts the sides of which it is the lowest corner; the
/// homes of the vertices sum these counts.
template <int n_corners>
void Sides::Builder<n_corners>::number() {
  const Rank me = context_.rank();
  struct Other {
    std::int32_t side;  // -1: of another rank
    Rank from;
    std::size_t at;  // place in the message of that rank
    Key key;
  };
  // 1. Send keys of owned sides to the owner of their lowest corner.
  exchange::Neighborhood hood(context_, mesh_.neighbours());
  std::vector<std::pair<LocalId, Other>> at_corner;  // lowest corners that others share
  std::vector<std::vector<std::int32_t>> asked(mesh_.neighbours().size());
  std::vector<bool> is_shared(vertices_.size(), false);
  auto round = hood.begin_round<Key>();
  for (const LocalId low : vertices_.shared) {
    is_shared[index(low)] = true;
    const Rank owner = vertices_.owners[index(low)];
    const std::size_t n =
        std::ranges::lower_bound(mesh_.neighbours(), owner) - mesh_.neighbours().begin();  // past the end for this rank
    sides_.for_each_at(low, [&](std::int32_t s) {
      if (owners_[s] != me) return;
      if (owner == me) {
        at_corner.push_back({low, {s, me, 0, key_of(s)}});
        return;
      }
      round.allocate(owner) = key_of(s);
      asked[n].push_back(s);
    });
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
    at_corner.push_back({low, {-1, from, n_from[n]++, key}});
  }
  std::ranges::sort(at_corner, {}, [](const auto& one) { return std::tuple(one.first, one.second.key); });

  // 2. Compute the places of sides at their lowest corner. For corners that nobody shares they are known locally.
  std::vector<std::int32_t> place(sides_.size(), 0);
  std::vector<std::int32_t> n_of_vertex(vertices_.n_owned, 0);
  std::vector<std::vector<std::int32_t>> replies(mesh_.neighbours().size());
  for (std::size_t n = 0; n < replies.size(); ++n) replies[n].resize(n_from[n]);
  for (const auto& [low, other] : at_corner) {
    const std::int32_t at = n_of_vertex[index(low)]++;
    if (other.side >= 0) {
      place[other.side] = at;
    } else {
      const auto n = std::ranges::lower_bound(mesh_.neighbours(), other.from) - mesh_.neighbours().begin();
      replies[n][other.at] = at;
    }
  }
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const LocalId low = sides_.corners()[side][0];
    if (index(low) < vertices_.n_owned && !is_shared[index(low)]) place[side] = n_of_vertex[index(low)]++;
  }
  auto back = hood.begin_round<std::int32_t>();
  for (std::size_t n = 0; n < replies.size(); ++n)
    std::ranges::copy(replies[n], back.allocate(mesh_.neighbours()[n], replies[n].size()).begin());
  back.close();
  std::vector<std::size_t> n_read(asked.size(), 0);
  for (const auto& run : back.received_runs()) {
    const auto n = std::ranges::lower_bound(mesh_.neighbours(), run.from) - mesh_.neighbours().begin();
    for (const std::int32_t at : run.messages) place[asked[n][n_read[n]++]] = at;
  }

  // 3. Number all sides in the order of their lowest corners.
  const std::vector<std::int64_t> begins = begins_of_vertices(n_of_vertex);
  ids_.resize(sides_.size());
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const std::int64_t begin = begins[index(sides_.corners()[side][0])];
    ids_[side] = owners_[side] == me ? GlobalId{begin + place[side]} : no_global_id;
  }
}

template <int n_corners>
std::vector<std::int64_t> Sides::Builder<n_corners>::begins_of_vertices(std::span<const std::int32_t> n_of_vertex) {
  GlobalId highest = no_global_id;
  for (std::size_t v = 0; v < vertices_.n_owned; ++v) highest = std::max(highest, vertices_.global_ids[v]);
  const Slabs slabs{mpi::max(context_, barrio::value(highest)) + 1, context_.size()};
  // A run of consecutive vertex ids is counted as one; the counts within a run are known locally.
  struct Run {
    std::int32_t row;  // of the first vertex, in the home's slab
    std::int32_t n;    // sides of all vertices of the run
  };
  std::vector<Rank> to;
  std::vector<Run> runs;
  std::vector<std::int64_t> begin_of(vertices_.size(), 0);
  std::vector<LocalId> first_vertices;
  GlobalId next = no_global_id;
  GlobalId end = no_global_id;  // end of the home's slab
  for (std::size_t v = 0; v < vertices_.n_owned; ++v) {
    const GlobalId id = vertices_.global_ids[v];
    if (id != next || id == end) {
      to.push_back(slabs.rank_of(id));
      end = GlobalId{slabs.first(to.back() + 1)};
      runs.push_back({static_cast<std::int32_t>(barrio::value(id) - slabs.first(to.back())), 0});
      first_vertices.push_back(local_id(v));
    }
    begin_of[v] = runs.back().n;
    runs.back().n += n_of_vertex[v];
    next = GlobalId{barrio::value(id) + 1};
  }
  first_vertices.push_back(local_id(vertices_.n_owned));
  const auto number_rows = [&](const exchange::Parcels<Run>& counted) {
    std::vector<std::int64_t> first(slabs.size(context_.rank()) + 1, 0);
    for (const Run& run : counted.items) first[run.row + 1] = run.n;
    for (std::size_t row = 0; row + 1 < first.size(); ++row) first[row + 1] += first[row];
    const std::int64_t offset = mpi::exclusive_sum(context_, first.back());
    out_.table_.n_global = mpi::sum(context_, first.back());
    std::vector<std::int64_t> begins;
    begins.reserve(counted.items.size());
    for (const Run& run : counted.items) begins.push_back(offset + first[run.row]);
    return begins;
  };
  const std::vector<std::int64_t> begins =
      exchange::ask_together(context_, to, runs, number_rows, exchange::Route::automatic);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t low = index(first_vertices[i]);
    const std::size_t high = index(first_vertices[i + 1]);
    for (std::size_t v = low; v < high; ++v) begin_of[v] += begins[i];
  }
  exchange::HaloExchange<std::int64_t>(context_, mesh_.halo_plan(Dim::vertex), begin_of, 1).exchange();
  return begin_of;
}

/// Set the ids of sides that other ranks own: for sides of owned cells by the list that two ranks share, for sides of
/// ghosts from the owner of the cell.
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
    const std::size_t s = side;
    if (owners_[s] != me) {
      list.push_back({key_of(s), side, owners_[s]});
    } else {
      for (const Rank rank : out_.table_.rank_sets[set])
        if (rank != me) list.push_back({key_of(s), side, rank});
    }
  }
  std::ranges::sort(list, {}, [](const Named& one) { return std::tuple(one.with, one.key); });
  exchange::Neighborhood hood(context_, mesh_.neighbours(), {.delivery = exchange::Delivery::by_rank});
  auto round = hood.begin_round<GlobalId>();
  for (const Named& one : list)
    if (owners_[one.side] == me) round.allocate(one.with) = ids_[one.side];
  round.close();
  std::erase_if(list, [&](const Named& one) { return owners_[one.side] == me; });
  std::size_t next = 0;
  for (const auto& [from, id] : round.received()) ids_[list[next++].side] = id;

  if (mesh_.ghost_layers() == 0) return;
  const EntityTable& cells = mesh_.cells();
  std::int64_t most = out_.per_cell_;
  for (std::size_t c = 0; c < cells.size() && !out_.offsets_.empty(); ++c)
    most = std::max(most, std::ssize(out_.of_cell(c)));
  most = mpi::max(context_, most);
  // The memory stays uninitialised: pages of cells that are neither sent nor received are never touched.
  const auto memory = std::make_unique_for_overwrite<Identity[]>(most * cells.size());
  const std::span<Identity> of_slots(memory.get(), most * cells.size());
  for (const LocalId c : mesh_.halo_plan(mesh_.cell_dim())->out) {
    std::size_t slot = most * index(c);
    for (const LocalId side : out_.of_cell(index(c))) of_slots[slot++] = {ids_[at(side)], owners_[at(side)]};
    for (; slot < most * (index(c) + 1); ++slot) of_slots[slot] = {no_global_id, 0};
  }
  exchange::HaloExchange<Identity>(context_, mesh_.halo_plan(mesh_.cell_dim()), of_slots, static_cast<int>(most))
      .exchange();
  for (std::size_t c = cells.n_owned; c < cells.size(); ++c) {
    std::size_t slot = most * c;
    for (const LocalId side : out_.of_cell(c)) {
      const Identity& identity = of_slots[slot++];
      ids_[at(side)] = identity.id;
      owners_[at(side)] = static_cast<Rank>(identity.owner);
    }
  }
}

template <int n_corners>
void Sides::Builder<n_corners>::order() {
  const Rank me = context_.rank();
  const std::size_t n = sides_.size();
  EntityTable& table = out_.table_;
  const auto is_interior = [&](std::int32_t s) {
    return std::ranges::all_of(corners_of(s), [&](LocalId v) { return index(v) < vertices_.n_owned; });
  };
  detail::LocalOrder local_order(
      me, n, std::views::iota(0, static_cast<std::int32_t>(n)), [&](std::int32_t s) { return owners_[s]; },
      is_interior);
  table.n_interior = local_order.n_interior;
  table.n_owned = local_order.n_owned;
  table.owners = std::move(local_order.owners);

  // If all sides have the same shape, it follows from the types of the cells.
  std::vector<LocalId> local_of(n);
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
    table.nodes.reserve(4 * n);
  }
  for (const std::int32_t s : local_order.places) {
    local_of[s] = local_id(table.global_ids.size());
    table.global_ids.push_back(ids_[s]);
    const std::span<const LocalId> corners = corners_of(s);
    table.nodes.insert(table.nodes.end(), corners.begin(), corners.end());
    if (table.nodes_per_entity > 0) continue;
    table.offsets.push_back(static_cast<std::int32_t>(table.nodes.size()));
    table.types.push_back(corners.size() == 3 ? CellType::triangle
                                              : (corners.size() == 4 ? CellType::quad : CellType::polygon));
  }
  std::vector<LocalId> of_number(n);
  for (std::size_t number = 0; number < n; ++number) of_number[number] = local_of[sides_.place_of()[number]];
  for (LocalId& side : out_.of_cells_) side = of_number[index(side)];
  for (LocalId& side : out_.of_listed_)
    if (side != no_local_id) side = of_number[index(side)];
  std::vector<std::pair<LocalId, std::int32_t>> shared;
  for (const auto& [side, set] : shared_) shared.emplace_back(local_of[side], set);
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
  std::vector<Rank> owners;
  for (const Owners::Run& run : table.owners.copies()) owners.insert(owners.end(), run.ids.size(), run.owner);
  out_.halo_ = std::make_shared<exchange::HaloPlan>(exchange::plan_halo(
      context_, copies, owners, local_id(table.n_owned), [&](GlobalId id) { return detail::find_owned(table, id); }));
}

Sides::Sides(const Mesh& mesh, Dim dim) : context_(&mesh.context()), dim_(dim) {
  if (value(dim) < 1 || value(dim) >= value(mesh.cell_dim())) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("sides of dimension {}", value(dim)),
                       .cause = fmt::format("do not exist for cells of dimension {}", value(mesh.cell_dim())),
                       .remedy = "ask for edges, or for faces in a mesh of volume cells"});
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
  // The capacity for corners must be the same on every rank, because it is the size of the messages' items.
  const std::int64_t most = mpi::max(mesh.context(), max_corners(cells));
  if (most <= 4) {
    Builder<4>(mesh, *this).build();
  } else if (most <= 8) {
    Builder<8>(mesh, *this).build();
  } else if (most <= largest_face) {
    Builder<largest_face>(mesh, *this).build();
  } else {
    throw AgreedError(ErrorCode::bad_input,
                      {.subject = fmt::format("a face of {} corners", most),
                       .cause = fmt::format("is too large: a face may have at most {} corners", largest_face),
                       .remedy = "cut such cells into smaller ones"});
  }
}

std::uint64_t Sides::checksum(const Mesh& mesh) const {
  std::uint64_t total = 0;
  for (std::size_t s = 0; s < table_.n_owned; ++s) {
    Hash64 hash(index(dim_));
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
