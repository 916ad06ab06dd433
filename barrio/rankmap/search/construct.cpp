#include "barrio/rankmap/search/construct.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <vector>

namespace barrio::rankmap {
namespace {

// Queue for the free rank with the largest sum, ties to the lowest rank. Sums only grow, so outdated entries are
// skipped.
class RankQueue {
 public:
  explicit RankQueue(int n_ranks) : sums_(n_ranks, 0.0), placed_(sums_.size(), false) {}

  void add(Rank rank, double weight) {
    const std::size_t i = rank;
    if (placed_[i]) return;
    sums_[i] += weight;
    heap_.push({sums_[i], rank});
  }

  Rank take() {
    while (!heap_.empty()) {
      const Entry top = heap_.top();
      heap_.pop();
      const std::size_t i = top.rank;
      if (placed_[i] || top.sum != sums_[i]) continue;
      placed_[i] = true;
      return top.rank;
    }
    // No free rank communicates with a placed one.
    while (placed_[next_silent_]) ++next_silent_;
    placed_[next_silent_] = true;
    return next_silent_;
  }

  void place(Rank rank) { placed_[rank] = true; }

 private:
  struct Entry {
    double sum;
    Rank rank;
    bool operator<(const Entry& other) const noexcept { return sum != other.sum ? sum < other.sum : rank > other.rank; }
  };
  std::vector<double> sums_;
  std::vector<bool> placed_;
  std::priority_queue<Entry> heap_;
  Rank next_silent_ = 0;
};

// Queue for the free core with the smallest distance sum. Free cores of one group have the same sum, so groups suffice.
class CoreQueue {
 public:
  explicit CoreQueue(const Machine& machine)
      : machine_(machine), sums_(machine.n_groups(), 0.0), n_used_(sums_.size(), 0) {}

  int take_first() {
    // Distances to all cores of the machine; equal for cores of a group too.
    std::vector<double> totals(sums_.size(), 0.0);
    for (int group = 0; group < machine_.n_groups(); ++group) totals[group] = machine_.total_distance(group);
    return take_from(static_cast<int>(std::ranges::min_element(totals) - totals.begin()));
  }

  int take() {
    int best = -1;
    for (int group = 0; group < machine_.n_groups(); ++group) {
      if (n_used_[group] == machine_.group_size(group)) continue;
      if (best < 0 || sums_[group] < sums_[best]) best = group;
    }
    return take_from(best);
  }

  /// Take the free core that is nearest to partners in these groups, of these weights.
  int take_near(std::span<const int> groups, std::span<const double> weights) {
    int best = -1;
    double least = 0.0;
    for (int group = 0; group < machine_.n_groups(); ++group) {
      const std::size_t at = group;
      if (n_used_[at] == machine_.group_size(group)) continue;
      double sum = 0.0;
      for (std::size_t k = 0; k < groups.size(); ++k) sum += weights[k] * machine_.group_distance(group, groups[k]);
      if (best >= 0 && (sum > least || (sum == least && sums_[at] >= sums_[best]))) continue;
      best = group;
      least = sum;
    }
    return take_from(best);
  }

 private:
  int take_from(int group) {
    for (int other = 0; other < machine_.n_groups(); ++other) sums_[other] += machine_.group_distance(group, other);
    return machine_.group_begin(group) + n_used_[group]++;
  }

  const Machine& machine_;
  std::vector<double> sums_;
  std::vector<int> n_used_;
};

}  // namespace

namespace {

// @param choose  called with a rank and the placement so far, as core or -1 per rank; takes a core
template <class Choose>
Placement construct_by(const CommunicationGraph& graph, const Machine& machine, const Choose& choose) {
  const int n_ranks = graph.n_ranks();
  std::vector<int> core_of_rank(n_ranks, -1);
  RankQueue ranks(n_ranks);
  CoreQueue cores(machine);
  const auto place = [&](Rank rank, int core) {
    core_of_rank[rank] = core;
    const auto partners = graph.partners_of(rank);
    const auto weights = graph.weights_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k) ranks.add(partners[k], weights[k]);
  };
  Rank first = 0;
  double most = -1.0;
  for (Rank rank = 0; rank < n_ranks; ++rank) {
    double load = 0.0;
    for (const double weight : graph.weights_of(rank)) load += weight;
    if (load > most) {
      most = load;
      first = rank;
    }
  }
  if (n_ranks > 0) {
    ranks.place(first);
    place(first, cores.take_first());
  }
  for (int step = 1; step < n_ranks; ++step) {
    const Rank rank = ranks.take();
    place(rank, choose(cores, rank, core_of_rank));
  }
  return {std::move(core_of_rank), machine.n_cores()};
}

}  // namespace

Placement construct(const CommunicationGraph& graph, const Machine& machine) {
  return construct_by(graph, machine, [](CoreQueue& cores, Rank, const std::vector<int>&) { return cores.take(); });
}

Placement construct_nearest(const CommunicationGraph& graph, const Machine& machine) {
  std::vector<int> groups;
  std::vector<double> weights;
  return construct_by(graph, machine, [&](CoreQueue& cores, Rank rank, const std::vector<int>& core_of_rank) {
    groups.clear();
    weights.clear();
    const auto partners = graph.partners_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k) {
      const int core = core_of_rank[partners[k]];
      if (core < 0) continue;
      groups.push_back(machine.group_of(core));
      weights.push_back(graph.weights_of(rank)[k]);
    }
    return cores.take_near(groups, weights);
  });
}

}  // namespace barrio::rankmap
