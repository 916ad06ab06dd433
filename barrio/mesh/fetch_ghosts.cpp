#include <algorithm>
#include <tuple>

#include "barrio/mesh/detail/builder.hpp"
#include "barrio/mesh/detail/message.hpp"

// A cell is a ghost of layer 1 of every rank with which it shares a vertex; those ranks are known to its owner, who
// sends it. For a further layer a rank tells the users of the vertices that came with the last one that it reaches
// them, and they send what lies around. Only owners send, so no cell comes twice. All in rounds of the neighbourhood,
// which ranks that meet for the first time enter by introduction.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName ghost_region{"mesh.ghosts"};

/// The sets of some of the places that runs cover.
class SetsOfPlaces {
 public:
  /// @param places  ascending, different
  SetsOfPlaces(std::span<const SetRun> runs, std::span<const std::int32_t> places) : offsets_(places.size() + 1, 0) {
    if (runs.empty()) return;
    std::vector<SetRun> sorted(runs.begin(), runs.end());
    std::ranges::sort(sorted, {}, [](const SetRun& run) { return std::tuple(run.first, run.set); });
    struct Member {
      std::size_t at;
      std::int32_t set;
    };
    std::vector<Member> members;
    std::size_t low = 0;
    for (const SetRun& run : sorted) {
      while (low < places.size() && places[low] < run.first) ++low;
      for (std::size_t at = low; at < places.size() && places[at] < run.first + run.count; ++at)
        members.push_back({at, run.set});
    }
    std::ranges::stable_sort(members, {}, &Member::at);
    for (const Member& member : members) {
      offsets_[member.at + 1] += 1;
      sets_.push_back(member.set);
    }
    for (std::size_t i = 0; i < places.size(); ++i) offsets_[i + 1] += offsets_[i];
  }
  [[nodiscard]] std::span<const std::int32_t> of(std::size_t i) const {
    return std::span<const std::int32_t>(sets_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> sets_;
};

void sort_unique(std::vector<std::int32_t>& items) {
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

std::size_t place_in(std::span<const std::int32_t> sorted, std::int32_t item) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, item) - sorted.begin());
}

}  // namespace

std::vector<std::int32_t>& MeshBuilder::PlacesByRank::of(Rank rank) {
  const auto at = std::ranges::lower_bound(ranks, rank);
  const auto i = at - ranks.begin();
  if (at == ranks.end() || *at != rank) {
    ranks.insert(at, rank);
    places.insert(places.begin() + i, std::vector<std::int32_t>());
  }
  return places[static_cast<std::size_t>(i)];
}

void MeshBuilder::fetch_ghosts() {
  const Region region(context_.trace(), ghost_region);
  hood_.emplace(context_, out_.neighbours,
                exchange::NeighborhoodOptions{.termination = exchange::Termination::introductions,
                                              .delivery = exchange::Delivery::by_rank});
  for (int layer = 0; layer < options_.ghost_layers; ++layer) {
    const std::size_t n_known = index_.size();
    if (layer == 0) {
      exchange_layer(sharers_at_, out_.vertices.rank_sets);
    } else {
      RankSets sets;
      const std::vector<std::int32_t> reached = announce_reach(first_new_, sets);
      exchange_layer(reached, sets);
    }
    first_new_ = n_known;
  }
}

std::vector<std::int32_t> MeshBuilder::announce_reach(std::size_t first_new, RankSets& sets) {
  const Rank me = context_.rank();
  PlacesByRank reaching;  // vertices to name, by rank
  for (std::size_t place = first_new; place < index_.size(); ++place) {
    if (sharers_at_[place] < 0) {
      reaching.of(vertex_owners_[place]).push_back(static_cast<std::int32_t>(place));
    } else {
      for (const Rank user : out_.vertices.rank_sets[sharers_at_[place]])
        if (user != me) reaching.of(user).push_back(static_cast<std::int32_t>(place));
    }
  }
  auto round = hood_->begin_round<GlobalId>();
  for (std::size_t r = 0; r < reaching.ranks.size(); ++r) {
    const std::span<GlobalId> out = round.allocate(reaching.ranks[r], reaching.places[r].size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = index_.ids()[static_cast<std::size_t>(reaching.places[r][i])];
  }
  round.close();
  struct Reach {
    std::int32_t place;
    Rank by;
  };
  std::vector<Reach> all;
  for (const auto& [from, id] : round.received()) all.push_back({index_.find(id), from});
  std::ranges::sort(all, {}, [](const Reach& r) { return std::tuple(r.place, r.by); });
  std::vector<std::int32_t> reached(index_.size(), -1);
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < all.size();) {
    const std::int32_t place = all[i].place;
    ranks.clear();
    for (; i < all.size() && all[i].place == place; ++i) ranks.push_back(all[i].by);
    reached[static_cast<std::size_t>(place)] = sets.add(ranks);
  }
  return reached;
}

void MeshBuilder::exchange_layer(std::span<const std::int32_t> reached, const RankSets& sets) {
  const Rank me = context_.rank();
  const EntityTable& table = cells();

  // 1. Who gets which cells.
  PlacesByRank going;
  std::vector<std::int32_t> any;  // cells that go somewhere
  std::vector<std::int32_t> found;
  std::vector<Rank> readers;
  for (std::size_t c = 0; c < n_own_cells_; ++c) {
    found.clear();
    for (const LocalId node : table.nodes_of(c)) {
      const std::int32_t set = reached[index(node)];
      if (set >= 0 && std::ranges::find(found, set) == found.end()) found.push_back(set);
    }
    if (found.empty()) continue;
    readers.clear();
    for (const std::int32_t set : found) readers.insert(readers.end(), sets[set].begin(), sets[set].end());
    if (found.size() > 1) sort_unique(readers);
    const auto place = static_cast<std::int32_t>(c);
    bool goes = false;
    for (const Rank reader : readers) {
      if (reader == me) continue;
      std::vector<std::int32_t>& sent = sent_.of(reader);
      if (std::ranges::binary_search(sent, place)) continue;
      going.of(reader).push_back(place);
      goes = true;
    }
    if (goes) any.push_back(place);
  }

  // 2. Their sets, and those of their vertices.
  const SetsOfPlaces sets_of_cells(set_runs_[static_cast<std::size_t>(value(out_.cell_dim))], any);
  std::vector<std::int32_t> vertices;
  if (!set_runs_[0].empty()) {
    for (const std::int32_t c : any)
      for (const LocalId node : table.nodes_of(static_cast<std::size_t>(c))) vertices.push_back(barrio::value(node));
    sort_unique(vertices);
  }
  const SetsOfPlaces sets_of_vertices(set_runs_[0], vertices);

  // 3. One message to each rank: its vertices, then its cells, with nodes as places in the message.
  auto round = hood_->begin_byte_round();
  std::vector<std::int32_t> place_in_message(index_.size(), -1);
  for (std::size_t r = 0; r < going.ranks.size(); ++r) {
    std::vector<std::int32_t> carried;
    std::vector<LocalId> nodes;
    std::vector<std::int32_t> sizes;
    std::vector<CellType> types;
    std::vector<GlobalId> ids;
    std::vector<std::int32_t> parts;
    std::vector<SetRun> cell_sets;
    for (std::size_t i = 0; i < going.places[r].size(); ++i) {
      const auto c = static_cast<std::size_t>(going.places[r][i]);
      const auto of_cell = table.nodes_of(c);
      for (const LocalId node : of_cell) {
        std::int32_t& at = place_in_message[index(node)];
        if (at < 0) {
          at = static_cast<std::int32_t>(carried.size());
          carried.push_back(barrio::value(node));
        }
        nodes.push_back(LocalId{at});
      }
      if (table.nodes_per_entity == 0) sizes.push_back(static_cast<std::int32_t>(of_cell.size()));
      if (!table.has_one_type) types.push_back(table.types[c]);
      ids.push_back(table.global_ids[c]);
      parts.push_back(out_.cell_parts[c]);
      for (const std::int32_t set : sets_of_cells.of(place_in(any, going.places[r][i])))
        detail::append(cell_sets, set, static_cast<std::int32_t>(i));
    }
    std::vector<GlobalId> vertex_ids;
    std::vector<Rank> owners;
    std::vector<double> coordinates;
    std::vector<std::int32_t> sharers;
    std::vector<SetRun> vertex_sets;
    RankSets carried_sets;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const auto v = static_cast<std::size_t>(carried[i]);
      place_in_message[v] = -1;
      vertex_ids.push_back(index_.ids()[v]);
      owners.push_back(vertex_owners_[v]);
      for (std::size_t k = 0; k < 3; ++k) coordinates.push_back(coordinates_[3 * v + k]);
      sharers.push_back(sharers_at_[v] < 0 ? -1 : carried_sets.add(out_.vertices.rank_sets[sharers_at_[v]]));
      if (vertices.empty()) continue;
      for (const std::int32_t set : sets_of_vertices.of(place_in(vertices, carried[i])))
        vertex_sets.push_back({set, static_cast<std::int32_t>(i), 1});
    }
    std::vector<std::int32_t> set_sizes;
    std::vector<Rank> set_ranks;
    for (std::size_t s = 0; s < carried_sets.size(); ++s) {
      const auto ranks = carried_sets[static_cast<std::int32_t>(s)];
      set_sizes.push_back(static_cast<std::int32_t>(ranks.size()));
      set_ranks.insert(set_ranks.end(), ranks.begin(), ranks.end());
    }
    MessageWriter out;
    out.put(vertex_ids);
    out.put(owners);
    out.put(coordinates);
    out.put(sharers);
    out.put(set_sizes);
    out.put(set_ranks);
    out.put(vertex_sets);
    out.put(ids);
    out.put(parts);
    out.put(types);
    out.put(sizes);
    out.put(nodes);
    out.put(cell_sets);
    const std::span<std::byte> message = round.allocate(going.ranks[r], out.bytes().size());
    std::ranges::copy(out.bytes(), message.begin());

    std::vector<std::int32_t>& sent = sent_.of(going.ranks[r]);
    const auto middle = static_cast<std::ptrdiff_t>(sent.size());
    sent.insert(sent.end(), going.places[r].begin(), going.places[r].end());
    std::inplace_merge(sent.begin(), sent.begin() + middle, sent.end());
  }
  round.close();
  for (const auto& [from, message] : round.received()) unpack_ghosts(from, message);
}

void MeshBuilder::unpack_ghosts(Rank from, std::span<const std::byte> message) {
  MessageReader in(message);
  const auto vertex_ids = in.get<GlobalId>();
  const auto owners = in.get<Rank>();
  const auto coordinates = in.get<double>();
  const auto sharers = in.get<std::int32_t>();
  const auto set_sizes = in.get<std::int32_t>();
  const auto set_ranks = in.get<Rank>();
  const auto vertex_sets = in.get<SetRun>();
  std::vector<std::int32_t> numbers;
  std::size_t first = 0;
  for (const std::int32_t size : set_sizes) {
    numbers.push_back(out_.vertices.rank_sets.add(set_ranks.subspan(first, static_cast<std::size_t>(size))));
    first += static_cast<std::size_t>(size);
  }
  const std::size_t n_known = index_.size();
  std::vector<LocalId> places;
  for (std::size_t i = 0; i < vertex_ids.size(); ++i) {
    const std::size_t n_before = index_.size();
    places.push_back(LocalId{index_.add(vertex_ids[i])});
    if (index_.size() == n_before) continue;
    vertex_owners_.push_back(owners[i]);
    coordinates_.insert(coordinates_.end(), &coordinates[3 * i], &coordinates[3 * i] + 3);
    sharers_at_.push_back(sharers[i] < 0 ? -1 : numbers[static_cast<std::size_t>(sharers[i])]);
  }
  for (const SetRun& run : vertex_sets) {
    const LocalId place = places[static_cast<std::size_t>(run.first)];
    if (index(place) >= n_known) set_runs_[0].push_back({run.set, barrio::value(place), 1});
  }

  EntityTable& table = cells();
  const auto ids = in.get<GlobalId>();
  const auto parts = in.get<std::int32_t>();
  const auto types = in.get<CellType>();
  const auto sizes = in.get<std::int32_t>();
  const auto nodes = in.get<LocalId>();
  const auto first_cell = static_cast<std::int32_t>(table.size());
  table.global_ids.insert(table.global_ids.end(), ids.begin(), ids.end());
  out_.cell_parts.insert(out_.cell_parts.end(), parts.begin(), parts.end());
  table.types.insert(table.types.end(), types.begin(), types.end());
  for (const std::int32_t size : sizes) table.offsets.push_back(table.offsets.back() + size);
  for (const LocalId node : nodes) table.nodes.push_back(places[index(node)]);
  ghost_owners_.insert(ghost_owners_.end(), ids.size(), from);
  for (const SetRun& run : in.get<SetRun>())
    set_runs_[static_cast<std::size_t>(value(out_.cell_dim))].push_back({run.set, first_cell + run.first, run.count});
}

}  // namespace barrio::mesh
