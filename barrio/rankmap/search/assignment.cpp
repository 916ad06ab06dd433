#include "barrio/rankmap/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "barrio/base/error.hpp"

namespace barrio::rankmap {

Placement::Placement(std::vector<int> core_of_rank, int n_cores) : core_of_rank_(std::move(core_of_rank)) {
  if (n_ranks() > n_cores) {
    throw Error(ErrorCode::usage, {.subject = "placement",
                                   .cause = fmt::format("{} ranks and only {} cores", n_ranks(), n_cores),
                                   .remedy = "describe a machine with at least one core per rank"});
  }
  rank_at_core_.assign(n_cores, no_rank);
  for (Rank rank = 0; rank < n_ranks(); ++rank) {
    const int core = core_of(rank);
    const std::string subject = fmt::format("placement of rank {}", rank);
    if (core < 0 || core >= n_cores)
      throw Error(ErrorCode::bad_input,
                  {.subject = subject, .cause = fmt::format("core {} is not in 0..{}", core, n_cores - 1)});
    Rank& there = rank_at_core_[core];
    if (there != no_rank)
      throw Error(ErrorCode::bad_input,
                  {.subject = subject, .cause = fmt::format("core {} is already taken by rank {}", core, there)});
    there = rank;
  }
}

Placement Placement::in_order(int n_ranks, int n_cores) {
  std::vector<int> cores(n_ranks);
  std::iota(cores.begin(), cores.end(), 0);
  return {std::move(cores), n_cores};
}

Placement Placement::first_of(std::vector<int> cores, int n_ranks, const Machine& machine) {
  const std::size_t n = n_ranks;
  if (n > cores.size()) return in_order(n_ranks, machine.n_cores());  // its constructor refuses them as too many
  cores.resize(n);
  return {std::move(cores), machine.n_cores()};
}

Placement Placement::filled(int n_ranks, const Machine& machine) {
  std::vector<int> cores;
  for (const int node : machine.fill_order())
    for (int slot = 0; slot < machine.cores_of_node(node); ++slot) cores.push_back(machine.first_core(node) + slot);
  return first_of(std::move(cores), n_ranks, machine);
}

Placement Placement::cyclic(int n_ranks, const Machine& machine) {
  const std::vector<int> nodes = machine.fill_order();
  std::vector<int> cores;
  for (int slot = 0; slot < machine.max_cores_per_node(); ++slot)
    for (const int node : nodes)
      if (slot < machine.cores_of_node(node)) cores.push_back(machine.first_core(node) + slot);
  return first_of(std::move(cores), n_ranks, machine);
}

void Placement::exchange(int core_a, int core_b) noexcept {
  Rank& rank_a = rank_at_core_[core_a];
  Rank& rank_b = rank_at_core_[core_b];
  std::swap(rank_a, rank_b);
  if (rank_a != no_rank) core_of_rank_[rank_a] = core_a;
  if (rank_b != no_rank) core_of_rank_[rank_b] = core_b;
}

void Placement::validate() const {
  const Placement again(core_of_rank_, n_cores());
  if (!(again == *this))
    throw Error(ErrorCode::internal, {.subject = "placement", .cause = "rank -> core and core -> rank disagree"});
}

namespace {

/// Match groups of one size: for each new one the best old one, the largest overlaps first.
std::vector<int> match_groups(const Placement& placement, const Placement& old, const Machine& machine) {
  struct Overlap {
    int n, group, old_group;
  };
  std::vector<std::pair<int, int>> pairs;  // group and old group of a rank
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank)
    pairs.emplace_back(machine.group_of(placement.core_of(rank)), machine.group_of(old.core_of(rank)));
  std::ranges::sort(pairs);
  std::vector<Overlap> overlaps;
  for (const auto& [group, old_group] : pairs) {
    if (overlaps.empty() || overlaps.back().group != group || overlaps.back().old_group != old_group)
      overlaps.push_back({0, group, old_group});
    ++overlaps.back().n;
  }
  std::ranges::stable_sort(overlaps, std::greater{}, &Overlap::n);
  const std::size_t n_groups = machine.n_groups();
  std::vector<int> place_of(n_groups, -1);
  std::vector<bool> is_taken(n_groups, false);
  const auto give = [&](int group, int place) {
    if (place_of[group] >= 0 || is_taken[place]) return;
    if (machine.group_size(group) != machine.group_size(place)) return;
    place_of[group] = place;
    is_taken[place] = true;
  };
  for (const Overlap& overlap : overlaps) give(overlap.group, overlap.old_group);
  for (int group = 0; group < machine.n_groups(); ++group) give(group, group);
  // The others go to the remaining groups of their size.
  std::map<int, std::vector<int>> free_by_size;
  for (int place = machine.n_groups() - 1; place >= 0; --place)
    if (!is_taken[place]) free_by_size[machine.group_size(place)].push_back(place);
  for (int group = 0; group < machine.n_groups(); ++group) {
    if (place_of[group] >= 0) continue;
    std::vector<int>& free = free_by_size[machine.group_size(group)];
    place_of[group] = free.back();
    free.pop_back();
  }
  return place_of;
}

}  // namespace

Placement keep_in_place(const Placement& placement, const Placement& old, const Machine& machine) {
  std::vector<int> place_of(machine.n_groups());
  std::iota(place_of.begin(), place_of.end(), 0);
  if (machine.has_equal_groups()) place_of = match_groups(placement, old, machine);
  std::vector<int> core_of(placement.n_ranks(), -1);
  std::vector<bool> is_used(machine.n_cores(), false);
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank) {
    const int core = old.core_of(rank);
    if (machine.group_of(core) != place_of[machine.group_of(placement.core_of(rank))]) continue;
    core_of[rank] = core;
    is_used[core] = true;
  }
  std::vector<int> next(machine.n_groups());
  for (int group = 0; group < machine.n_groups(); ++group) next[group] = machine.group_begin(group);
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank) {
    if (core_of[rank] >= 0) continue;
    int& core = next[place_of[machine.group_of(placement.core_of(rank))]];
    while (is_used[core]) ++core;
    is_used[core] = true;
    core_of[rank] = core;
  }
  return {std::move(core_of), machine.n_cores()};
}

double cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement) {
  double sum = 0.0;
  for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
    const auto partners = graph.partners_of(rank);
    const auto weights = graph.weights_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k)
      if (partners[k] > rank)
        sum += weights[k] * machine.distance(placement.core_of(rank), placement.core_of(partners[k]));
  }
  return sum;
}

double cost(const TrafficMatrix& traffic, const Machine& machine, const Placement& placement, Weighing weighing) {
  double sum = cost(traffic.compute_graph(weighing), machine, placement);
  if (!machine.has_core_costs()) return sum;
  for (const TrafficEntry& entry : traffic.entries())
    if (entry.from == entry.to) sum += value_of(entry, weighing) * machine.core_cost(placement.core_of(entry.from));
  return sum;
}

double exchange_delta(const CommunicationGraph& graph, const Machine& machine, const Placement& placement, int core_a,
                      int core_b) noexcept {
  const auto moved = [&](Rank rank, Rank other, int from, int to) {
    if (rank == no_rank) return 0.0;
    const auto partners = graph.partners_of(rank);
    const auto weights = graph.weights_of(rank);
    double change = 0.0;
    for (std::size_t k = 0; k < partners.size(); ++k) {
      if (partners[k] == other) continue;  // the two keep their distance
      const int there = placement.core_of(partners[k]);
      change += weights[k] * (machine.distance(to, there) - machine.distance(from, there));
    }
    return change;
  };
  const Rank rank_a = placement.rank_at(core_a), rank_b = placement.rank_at(core_b);
  return moved(rank_a, rank_b, core_a, core_b) + moved(rank_b, rank_a, core_b, core_a);
}

PlacementFigures compute_figures(const TrafficMatrix& traffic, const Machine& machine, const Placement& placement,
                                 Weighing weighing) {
  PlacementFigures figures{.cost = cost(traffic, machine, placement, weighing)};
  std::vector<double> out_bytes(machine.n_nodes(), 0.0);
  for (const TrafficEntry& entry : traffic.entries()) {
    if (entry.from == entry.to) continue;
    const int from = machine.node_of(placement.core_of(entry.from));
    figures.total_weight += value_of(entry, weighing);
    if (from == machine.node_of(placement.core_of(entry.to))) continue;
    figures.inter_node_weight += value_of(entry, weighing);
    out_bytes[from] += entry.bytes;
  }
  if (!out_bytes.empty()) figures.max_node_out_bytes = *std::ranges::max_element(out_bytes);
  return figures;
}

std::vector<double> compute_node_bytes(const TrafficMatrix& traffic, const Machine& machine,
                                       const Placement& placement) {
  const std::size_t n = machine.n_nodes();
  std::vector<double> bytes(n * n, 0.0);
  for (const TrafficEntry& entry : traffic.entries()) {
    if (entry.from == entry.to) continue;
    const std::size_t from = machine.node_of(placement.core_of(entry.from));
    const std::size_t to = machine.node_of(placement.core_of(entry.to));
    bytes[from * n + to] += entry.bytes;
  }
  return bytes;
}

double compute_lower_bound(const CommunicationGraph& graph, const Machine& machine) {
  const std::vector<Machine::Ring> rings = machine.rings();
  if (rings.empty()) return 0.0;
  double twice = 0.0;
  std::vector<double> weights;
  for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
    const auto of_rank = graph.weights_of(rank);
    weights.assign(of_rank.begin(), of_rank.end());
    std::ranges::sort(weights, std::greater{});
    auto ring = rings.begin();
    std::int64_t left = ring->n_cores;
    for (const double weight : weights) {
      while (left == 0 && ring + 1 != rings.end()) left = (++ring)->n_cores;
      twice += weight * ring->distance;
      --left;
    }
  }
  return twice / 2.0;
}

}  // namespace barrio::rankmap
