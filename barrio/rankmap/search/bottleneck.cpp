#include "barrio/rankmap/search/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "barrio/base/sort_unique.hpp"
#include "barrio/rankmap/search/random.hpp"

namespace barrio::rankmap {
namespace {

constexpr int n_calm_nodes = 4;
constexpr double power = 12;  // of the norm: nodes within a tenth of the busiest count a third as much or more

std::size_t at(int i) noexcept { return i; }

constexpr double min_looks = 1000;

// Return the seconds to evaluate an exchange: its partners, and all nodes' loads.
double look_seconds(const CommunicationGraph& graph, const Machine& machine) {
  const double degree = graph.n_edge_ends() / std::max(1, graph.n_ranks());
  return 50e-9 + 30e-9 * degree + 1e-9 * machine.n_nodes();
}

double filled_nodes(const Machine& machine, int n_ranks) {
  const int most = std::max(1, machine.max_cores_per_node());
  const int n_nodes = (n_ranks + most - 1) / most;
  return n_nodes;
}

class Relief {
 public:
  Relief(const CommunicationGraph& graph, const Machine& machine, Placement& placement, double share,
         const std::vector<bool>& is_fixed, Deadline deadline, double seconds)
      : graph_(graph),
        machine_(machine),
        placement_(placement),
        share_(share),
        is_fixed_(is_fixed),
        deadline_(deadline),
        n_looks_left_(std::max(min_looks, seconds / look_seconds(graph, machine))),
        half_nodes_(filled_nodes(machine, graph.n_ranks()) / 2),
        loads_(compute_node_loads(graph, machine, placement)),
        change_(loads_.size(), 0.0),
        min_(1e-12 * mixed_cost(graph, machine, placement, share)) {}

  bool run(double n_moves, std::uint64_t seed) {
    descend();
    const Placement best = placement_;
    const double cost = mixed_cost(graph_, machine_, placement_, share_);
    anneal(n_moves, seed);
    descend();
    if (mixed_cost(graph_, machine_, placement_, share_) > cost) placement_ = best;
    return !is_late_;
  }

 private:
  [[nodiscard]] int busiest() const { return static_cast<int>(std::ranges::max_element(loads_) - loads_.begin()); }
  [[nodiscard]] bool is_fixed(Rank rank) const { return rank != no_rank && !is_fixed_.empty() && is_fixed_[at(rank)]; }

  void descend() {
    while (n_looks_left_ > 0 && relieve(busiest())) {
    }
  }

  // Most exchanges do not change the largest load, so a norm smooths it.
  [[nodiscard]] double norm_of(double sum) const { return scale_ * std::pow(sum, 1.0 / power); }
  [[nodiscard]] double term(double load) const {
    const double x = std::max(load, 0.0) / scale_, squared = x * x, fourth = squared * squared;
    return fourth * fourth * squared * squared;
  }

  // Anneal the mixed cost with the norm instead of the largest load; keep the best placement on the way.
  void anneal(double n_moves, std::uint64_t seed) {
    scale_ = loads_[at(busiest())];
    if (!(scale_ > 0.0) || n_moves < 1 || graph_.partners.empty()) return;
    const double norm_share = share_ * half_nodes_;
    detail::Random random(seed);
    const detail::Exponentials exponentials;
    double sum = 0.0;
    for (const double load : loads_) sum += term(load);
    Placement best = placement_;
    double mixed = mixed_cost(graph_, machine_, placement_, share_), best_mixed = mixed;
    // Temperatures as parts of the mean cost of a pair of partners between nodes.
    const double pair = 2 * mixed / graph_.n_edge_ends();
    constexpr double first_heat = 3.0, last_heat = 0.03;
    for (double move = 0; move < n_moves && !is_late_; ++move) {
      if (deadline_.has_passed()) is_late_ = true;
      const Rank rank = random.below(graph_.n_ranks());
      const auto partners = graph_.partners_of(rank);
      if (partners.empty() || is_fixed(rank)) continue;
      const int core = placement_.core_of(rank);
      const int towards = placement_.core_of(partners[random.below(partners.size())]);
      const int node = machine_.node_of(towards);
      if (node == machine_.node_of(core)) continue;
      const int other = machine_.first_core(node) + random.below(machine_.cores_of_node(node));
      if (is_fixed(placement_.rank_at(other))) continue;
      const Changes changes = changes_of(core, other);
      double new_sum = sum, largest = 0.0;
      for (const int one : touched_) new_sum += term(loads_[at(one)] + change_[at(one)]) - term(loads_[at(one)]);
      const double rise = (1 - share_) * changes.of_z + share_ * changes.inside +
                          norm_share * (norm_of(std::max(new_sum, 0.0)) - norm_of(sum));
      const double heat = pair * first_heat * std::pow(last_heat / first_heat, move / n_moves);
      if (rise > heat * exponentials.draw(random.next())) {
        forget_changes();
        continue;
      }
      const double largest_before = loads_[at(busiest())];
      for (const int one : touched_) loads_[at(one)] += change_[at(one)];
      forget_changes();
      sum = std::max(new_sum, 0.0);
      placement_.exchange(core, other);
      largest = loads_[at(busiest())];
      mixed += (1 - share_) * changes.of_z + share_ * (changes.inside + half_nodes_ * (largest - largest_before));
      if (mixed < best_mixed - min_) {
        best_mixed = mixed;
        best = placement_;
      }
    }
    placement_ = best;
    loads_ = compute_node_loads(graph_, machine_, placement_);
  }

  // Make the best exchange of a rank of this node. @return false if none helps
  bool relieve(int node) {
    // A difference by rounding is not a gain.
    const double least = std::max(1e-9 * half_nodes_ * loads_[at(node)], min_);
    double best = -least;
    int best_core = -1, best_other = -1;
    for (int core = machine_.first_core(node); core < machine_.first_core(node) + machine_.cores_of_node(node);
         ++core) {
      const Rank rank = placement_.rank_at(core);
      if (rank == no_rank || is_fixed(rank)) continue;
      for (const int other : candidates(rank, node)) {
        if (deadline_.has_passed()) {
          is_late_ = true;
          return false;
        }
        n_looks_left_ -= 1;
        if (n_looks_left_ < 0) break;
        if (const double change = try_exchange(core, other, node); change < best) {
          best = change;
          best_core = core;
          best_other = other;
        }
      }
    }
    if (best_core < 0) return false;
    placement_.exchange(best_core, best_other);
    loads_ = compute_node_loads(graph_, machine_, placement_);
    return true;
  }

  // List the cores of other nodes to try for a rank: of ranks near it in the graph, beside them, and on the calmest
  // nodes.
  std::vector<int> candidates(Rank rank, int node) {
    std::vector<int> cores;
    const auto add = [&](int core) {
      if (machine_.node_of(core) != node && !is_fixed(placement_.rank_at(core))) cores.push_back(core);
    };
    const auto add_node = [&](int other) {
      for (int core = machine_.first_core(other); core < machine_.first_core(other) + machine_.cores_of_node(other);
           ++core)
        add(core);
    };
    for (const Rank partner : graph_.partners_of(rank)) {
      add_node(machine_.node_of(placement_.core_of(partner)));
      for (const Rank next : graph_.partners_of(partner)) add(placement_.core_of(next));
    }
    std::vector<int> order(loads_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto n = std::min<std::ptrdiff_t>(n_calm_nodes, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int a, int b) {
      return loads_[at(a)] != loads_[at(b)] ? loads_[at(a)] < loads_[at(b)] : a < b;
    });
    for (std::ptrdiff_t i = 0; i < n; ++i) add_node(order[i]);
    sort_unique(cores);
    return cores;
  }

  struct Changes {
    double of_z = 0.0, inside = 0.0;
  };

  // Compute the changes of Z and of the cost inside nodes; and of loads, in `change_` for the nodes in `touched_`.
  Changes changes_of(int core, int other) {
    Changes changes;
    const Rank rank = placement_.rank_at(core), other_rank = placement_.rank_at(other);
    const auto move = [&](Rank moved, Rank stays, int from, int to) {
      if (moved == no_rank) return;
      const auto partners = graph_.partners_of(moved);
      const auto weights = graph_.weights_of(moved);
      for (std::size_t k = 0; k < partners.size(); ++k) {
        if (partners[k] == stays) continue;  // the two keep their distance, and their nodes
        const int there = placement_.core_of(partners[k]);
        for (const int side : {0, 1}) {
          const int place = side == 0 ? from : to;
          const double sign = side == 0 ? -1.0 : 1.0;
          const double part = sign * weights[k] * machine_.distance(place, there);
          changes.of_z += part;
          const int node = machine_.node_of(place), there_node = machine_.node_of(there);
          if (node == there_node) {
            changes.inside += part;
          } else {
            touch(node, part);
            touch(there_node, part);
          }
        }
      }
    };
    move(rank, other_rank, core, other);
    move(other_rank, rank, other, core);
    return changes;
  }

  void forget_changes() {
    for (const int node : touched_) change_[at(node)] = 0.0;
    touched_.clear();
  }

  // Return the change of the mixed cost.
  double try_exchange(int core, int other, int busiest_node) {
    const Changes changes = changes_of(core, other);
    // The largest load afterwards, over all nodes.
    double largest = 0.0;
    for (std::size_t node = 0; node < loads_.size(); ++node) largest = std::max(largest, loads_[node] + change_[node]);
    forget_changes();
    const double change_of_bottleneck = changes.inside + half_nodes_ * (largest - loads_[at(busiest_node)]);
    return (1 - share_) * changes.of_z + share_ * change_of_bottleneck;
  }

  void touch(int node, double change) {
    if (std::ranges::find(touched_, node) == touched_.end()) touched_.push_back(node);
    change_[at(node)] += change;
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Placement& placement_;
  double share_;
  const std::vector<bool>& is_fixed_;
  Deadline deadline_;
  double n_looks_left_;
  double half_nodes_;
  std::vector<double> loads_, change_;
  double min_;
  double scale_ = 1.0;
  std::vector<int> touched_;
  bool is_late_ = false;
};

}  // namespace

std::vector<double> compute_node_loads(const CommunicationGraph& graph, const Machine& machine,
                                       const Placement& placement) {
  std::vector<double> loads(at(machine.n_nodes()), 0.0);
  for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
    const int core = placement.core_of(rank), node = machine.node_of(core);
    const auto partners = graph.partners_of(rank);
    const auto weights = graph.weights_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k) {
      const int there = placement.core_of(partners[k]);
      if (machine.node_of(there) != node) loads[at(node)] += weights[k] * machine.distance(core, there);
    }
  }
  return loads;
}

double busiest_load(const CommunicationGraph& graph, const Machine& machine, const Placement& placement) {
  const std::vector<double> loads = compute_node_loads(graph, machine, placement);
  return loads.empty() ? 0.0 : *std::ranges::max_element(loads);
}

double bottleneck_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement) {
  const std::vector<double> loads = compute_node_loads(graph, machine, placement);
  if (loads.empty()) return 0.0;
  const double outside = std::accumulate(loads.begin(), loads.end(), 0.0) / 2;
  return cost(graph, machine, placement) - outside +
         filled_nodes(machine, graph.n_ranks()) / 2 * *std::ranges::max_element(loads);
}

double mixed_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement, double share) {
  const double sum = share < 1.0 ? (1 - share) * cost(graph, machine, placement) : 0.0;
  return sum + (share > 0.0 ? share * bottleneck_cost(graph, machine, placement) : 0.0);
}

bool relieve_bottleneck(const CommunicationGraph& graph, const Machine& machine, Placement& placement, double share,
                        const std::vector<bool>& is_fixed, Deadline deadline, double seconds, std::uint64_t seed) {
  if (graph.n_ranks() == 0 || machine.n_nodes() < 2 || !(share > 0.0)) return true;
  const double n_moves = graph.n_ranks() > 1 ? seconds / (1.5 * look_seconds(graph, machine)) : 0.0;
  return Relief(graph, machine, placement, share, is_fixed, deadline, seconds).run(n_moves, seed);
}

}  // namespace barrio::rankmap
