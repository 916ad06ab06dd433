#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>

#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/assembly/ghosts/cell_message.hpp"
#include "barrio/mesh/assembly/ghosts/cells_around.hpp"
#include "barrio/mesh/assembly/ghosts/ghosts.hpp"
#include "barrio/mesh/tables/side_key.hpp"

// Over a bridge of vertices, a cell is a layer-1 ghost on every rank that shares one of its vertices; its owner knows
// these ranks and sends it. For each further layer, a rank announces the vertices that came with the last layer to
// their
// users, and these send the cells around them. Over a bridge of edges or faces, ranks name sides instead, from the
// first
// layer on. Only owners send, so no cell comes twice. All messages go in rounds of the neighbourhood; ranks that meet
// for the first time join it by introduction.

namespace barrio::mesh::detail {
namespace {

constexpr RegionName ghost_region{"mesh.ghosts"};

/// Finds the own cells that are ghosts elsewhere, layer by layer, and takes the ghosts that arrive.
class GhostSearch {
 public:
  GhostSearch(mpi::Context& context, const BuildOptions& options, const GhostChoice& choice, KnownCells& known)
      : context_(context),
        options_(options),
        choice_(choice),
        known_(known),
        ghosts_{.neighbours = known.rank_sets.all_but(context.rank()),
                .hood = exchange::Neighborhood(
                    context, ghosts_.neighbours,
                    {.termination = exchange::Termination::introductions, .delivery = exchange::Delivery::by_rank})} {}
  Ghosts run();

 private:
  /// Own cells to send to each rank in one layer.
  using Going = PlacesByRank;
  /// Choose the own cells that go to the ranks that reach their vertices.
  /// @param[in] own  places of own cells, ascending
  /// @param[in] reached  for each vertex place the number of the set of ranks that reach it, or -1
  template <class Cells>
  [[nodiscard]] Going cells_at_vertices(const Cells& own, std::span<const std::int32_t> reached, const RankSets& sets);
  /// Tell the users of new vertices that this rank reaches them.
  /// @return by place, the set of ranks that reach it
  std::vector<std::int32_t> announce_vertices(std::size_t first_new, RankSets& sets);
  /// Choose the own cells that go to the ranks that reach their sides of the bridge's dimension.
  /// @param first_new  first of the cells whose sides are reached
  [[nodiscard]] Going cells_at_sides(std::size_t first_new);
  /// Find the other ranks that may have a cell with all of these vertices.
  void ranks_around(std::span<const LocalId> vertices, std::vector<Rank>& ranks) const;
  /// Record that an own cell goes to those readers that do not have it yet.
  /// @param readers  ascending
  /// @return whether it goes to any
  bool note_readers(std::int32_t cell, std::span<const Rank> readers, Going& going);
  void send_cells(const Going& going);
  void unpack_ghosts(Rank from, std::span<const std::byte> message);
  [[nodiscard]] EntityTable& cells() { return known_.cells; }

  mpi::Context& context_;
  const BuildOptions& options_;
  const GhostChoice& choice_;
  KnownCells& known_;
  Ghosts ghosts_;
};

Ghosts GhostSearch::run() {
  if (known_.rank_sets.size() > 0) {
    const std::span<const std::int32_t> sharers = known_.vertex_sharers;
    for (std::int32_t c = 0; std::cmp_less(c, known_.n_own); ++c)
      if (std::ranges::any_of(cells().nodes_of(c), [&](LocalId v) { return sharers[index(v)] >= 0; }))
        ghosts_.interface_cells.push_back(c);
  }
  std::size_t first_new_vertex = 0;
  std::size_t first_new_cell = 0;
  for (int layer = 0; layer < options_.ghost_layers; ++layer) {
    const std::size_t n_vertices = known_.vertices.size();
    const std::size_t n_cells = cells().size();
    if (options_.bridge != Dim::vertex) {
      send_cells(cells_at_sides(first_new_cell));
    } else if (layer == 0) {
      send_cells(cells_at_vertices(ghosts_.interface_cells, known_.vertex_sharers, known_.rank_sets));
    } else {
      RankSets sets;
      const std::vector<std::int32_t> reached = announce_vertices(first_new_vertex, sets);
      send_cells(cells_at_vertices(std::views::iota(0, static_cast<std::int32_t>(known_.n_own)), reached, sets));
    }
    first_new_vertex = n_vertices;
    first_new_cell = n_cells;
  }
  return std::move(ghosts_);
}

std::vector<std::int32_t> GhostSearch::announce_vertices(std::size_t first_new, RankSets& sets) {
  PlacesByRank reaching;  // vertices to name, by rank
  std::vector<Rank> users;
  for (std::size_t place = first_new; place < known_.vertices.size(); ++place) {
    const LocalId vertex = local_id(place);
    ranks_around({&vertex, 1}, users);
    for (const Rank user : users) reaching.of(user).push_back(barrio::value(vertex));
  }
  auto round = ghosts_.hood.begin_round<GlobalId>();
  for (std::size_t r = 0; r < reaching.ranks.size(); ++r) {
    const std::span<GlobalId> out = round.allocate(reaching.ranks[r], reaching.places[r].size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = known_.vertices.ids()[reaching.places[r][i]];
  }
  round.close();
  struct Reach {
    std::int32_t place;
    Rank by;
  };
  std::vector<Reach> all;
  for (const auto& [from, id] : round.received()) all.push_back({known_.vertices.find(id), from});
  std::ranges::sort(all, {}, [](const Reach& r) { return std::tuple(r.place, r.by); });
  std::vector<std::int32_t> reached(known_.vertices.size(), -1);
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < all.size();) {
    const std::int32_t place = all[i].place;
    ranks.clear();
    for (; i < all.size() && all[i].place == place; ++i) ranks.push_back(all[i].by);
    reached[place] = sets.add(ranks);
  }
  return reached;
}

void GhostSearch::ranks_around(std::span<const LocalId> vertices, std::vector<Rank>& ranks) const {
  ranks.clear();
  std::vector<Rank> both;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::size_t place = index(vertices[i]);
    const std::span<const Rank> users = known_.vertex_sharers[place] < 0
                                            ? std::span(&known_.vertex_owners[place], 1)
                                            : known_.rank_sets[known_.vertex_sharers[place]];
    if (i == 0) {
      ranks.assign(users.begin(), users.end());
      continue;
    }
    both.clear();
    std::ranges::set_intersection(ranks, users, std::back_inserter(both));
    ranks.swap(both);
    if (ranks.size() == 1) break;  // only the rank of the known cell is left
  }
  std::erase(ranks, context_.rank());
}

bool GhostSearch::note_readers(std::int32_t cell, std::span<const Rank> readers, Going& going) {
  bool goes = false;
  if (!choice_.may_leave.empty() && !choice_.may_leave[cell]) return goes;
  for (const Rank reader : readers) {
    if (!choice_.ranks.empty() && !std::ranges::binary_search(choice_.ranks, reader)) continue;
    if (reader == context_.rank() || std::ranges::binary_search(ghosts_.sent.of(reader), cell)) continue;
    std::vector<std::int32_t>& places = going.of(reader);
    if (!places.empty() && places.back() == cell) continue;
    places.push_back(cell);
    goes = true;
  }
  return goes;
}

template <class Cells>
GhostSearch::Going GhostSearch::cells_at_vertices(const Cells& own, std::span<const std::int32_t> reached,
                                                  const RankSets& sets) {
  Going going;
  std::vector<std::int32_t> found;
  std::vector<Rank> readers;
  for (const std::int32_t c : own) {
    found.clear();
    for (const LocalId node : cells().nodes_of(c)) {
      const std::int32_t set = reached[index(node)];
      if (set >= 0 && std::ranges::find(found, set) == found.end()) found.push_back(set);
    }
    if (found.empty()) continue;
    readers.clear();
    for (const std::int32_t set : found) readers.insert(readers.end(), sets[set].begin(), sets[set].end());
    if (found.size() > 1) sort_unique(readers);
    note_readers(c, readers, going);
  }
  return going;
}

GhostSearch::Going GhostSearch::cells_at_sides(std::size_t first_new) {
  // Name the sides of new cells to all ranks that may have cells behind them.
  const EntityTable& table = cells();
  auto round = ghosts_.hood.begin_round<SideKey>();
  std::vector<Rank> behind;
  std::vector<GlobalId> corners;
  for (std::size_t c = first_new; c < table.size(); ++c) {
    for_each_side<LocalId>(options_.bridge, table.type(c), table.nodes_of(c), [&](std::span<const LocalId> side) {
      ranks_around(side, behind);
      if (behind.empty()) return;
      corners.clear();
      for (const LocalId v : side) corners.push_back(known_.vertices.ids()[index(v)]);
      const SideKey key = side_key(corners);
      for (const Rank rank : behind) round.allocate(rank) = key;
    });
  }
  round.close();
  struct Named {
    SideKey key;
    LocalId lowest;
    Rank by;
  };
  std::vector<Named> named;
  std::vector<LocalId> anchors;
  for (const auto& [from, key] : round.received()) {
    const LocalId lowest{known_.vertices.find(key[0])};
    if (lowest == no_local_id) continue;
    named.push_back({key, lowest, from});
    anchors.push_back(lowest);
  }
  const CellsAround around(table, known_.n_own, anchors, known_.vertices.size());
  std::vector<std::pair<std::int32_t, Rank>> wanted;  // cell, reader
  for (const Named& side : named) {
    for (const std::int32_t c : around.of(side.lowest)) {
      const std::size_t cell = c;
      bool is_there = false;
      for_each_side<LocalId>(options_.bridge, table.type(cell), table.nodes_of(cell),
                             [&](std::span<const LocalId> of_cell) {
                               if (std::ranges::find(of_cell, side.lowest) == of_cell.end()) return;
                               corners.clear();
                               for (const LocalId v : of_cell) corners.push_back(known_.vertices.ids()[index(v)]);
                               is_there = is_there || side_key(corners) == side.key;
                             });
      if (is_there) wanted.emplace_back(c, side.by);
    }
  }
  std::ranges::sort(wanted);
  Going going;
  for (const auto& [cell, reader] : wanted) note_readers(cell, {&reader, 1}, going);
  return going;
}

void GhostSearch::send_cells(const Going& going) {
  std::vector<std::int32_t> leaving;
  for (const std::vector<std::int32_t>& places : going.places)
    leaving.insert(leaving.end(), places.begin(), places.end());
  sort_unique(leaving);
  CellPacker packer({.cells = cells(),
                     .parts = known_.parts,
                     .vertex_ids = known_.vertices.ids(),
                     .coordinates = known_.coordinates,
                     .vertex_owners = known_.vertex_owners,
                     .sharers = known_.vertex_sharers,
                     .rank_sets = known_.rank_sets,
                     .cell_sets = known_.cell_sets,
                     .vertex_sets = known_.vertex_sets},
                    std::move(leaving));
  auto round = ghosts_.hood.begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < going.ranks.size(); ++r) {
    message.clear();
    packer.put_into(message, going.places[r]);
    std::ranges::copy(message.bytes(), round.allocate(going.ranks[r], message.bytes().size()).begin());
    std::vector<std::int32_t>& sent = ghosts_.sent.of(going.ranks[r]);
    const std::ptrdiff_t middle = sent.size();
    sent.insert(sent.end(), going.places[r].begin(), going.places[r].end());
    std::inplace_merge(sent.begin(), sent.begin() + middle, sent.end());
  }
  round.close();
  for (const auto& [from, bytes] : round.received()) unpack_ghosts(from, bytes);
}

void GhostSearch::unpack_ghosts(Rank from, std::span<const std::byte> bytes) {
  MessageReader reader(bytes);
  const CellMessage in(reader);
  std::vector<std::int32_t> numbers;
  for (std::size_t s = 0; s < in.rank_sets.size(); ++s) numbers.push_back(known_.rank_sets.add(in.rank_sets[s]));
  const std::size_t n_known = known_.vertices.size();
  std::vector<LocalId> places;
  for (std::size_t i = 0; i < in.vertex_ids.size(); ++i) {
    const std::size_t n_before = known_.vertices.size();
    places.push_back(LocalId{known_.vertices.add(in.vertex_ids[i])});
    if (known_.vertices.size() == n_before) continue;
    known_.vertex_owners.push_back(in.vertex_owners[i]);
    known_.coordinates.insert(known_.coordinates.end(), &in.coordinates[3 * i], &in.coordinates[3 * i] + 3);
    known_.vertex_sharers.push_back(in.sharers[i] < 0 ? -1 : numbers[in.sharers[i]]);
  }
  for (const SetRun& run : in.vertex_sets) {
    const LocalId place = places[run.first];
    if (index(place) >= n_known) known_.vertex_sets.push_back({run.set, barrio::value(place), 1});
  }

  EntityTable& table = cells();
  const auto first_cell = static_cast<std::int32_t>(table.size());
  table.global_ids.insert(table.global_ids.end(), in.ids.begin(), in.ids.end());
  known_.parts.insert(known_.parts.end(), in.parts.begin(), in.parts.end());
  table.types.insert(table.types.end(), in.types.begin(), in.types.end());
  for (const std::int32_t size : in.sizes) table.offsets.push_back(table.offsets.back() + size);
  for (const std::int32_t node : in.nodes) table.nodes.push_back(places[node]);
  ghosts_.owners.insert(ghosts_.owners.end(), in.ids.size(), from);
  for (const SetRun& run : in.cell_sets) known_.cell_sets.push_back({run.set, first_cell + run.first, run.count});
}

}  // namespace

std::vector<std::int32_t>& PlacesByRank::of(Rank rank) {
  const auto at = std::ranges::lower_bound(ranks, rank);
  const auto i = at - ranks.begin();
  if (at == ranks.end() || *at != rank) {
    ranks.insert(at, rank);
    places.insert(places.begin() + i, std::vector<std::int32_t>());
  }
  return places[i];
}

Ghosts add_ghosts(mpi::Context& context, const BuildOptions& options, const GhostChoice& choice, KnownCells& known) {
  const Region region(context.trace(), ghost_region);
  return GhostSearch(context, options, choice, known).run();
}

}  // namespace barrio::mesh::detail
