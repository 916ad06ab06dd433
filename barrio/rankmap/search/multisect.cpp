#include "barrio/rankmap/search/multisect.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/rankmap/search/bisection.hpp"

namespace barrio::rankmap {
namespace {

std::size_t at(int i) noexcept { return i; }

class Multisection {
 public:
  Multisection(const CommunicationGraph& graph, const Machine& machine, std::uint64_t seed, const Placement* fixed,
               const std::vector<bool>& is_fixed, Deadline deadline)
      : graph_(graph),
        machine_(machine),
        seed_(seed),
        fixed_(fixed),
        is_fixed_(is_fixed),
        deadline_(deadline),
        core_of_(at(graph.n_ranks()), -1),
        centre_of_(core_of_.size(), 0),
        local_(core_of_.size(), -1) {}

  Placement run() {
    std::vector<Rank> ranks(core_of_.size());
    std::vector<int> groups(at(machine_.n_groups()));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::iota(groups.begin(), groups.end(), 0);
    split(ranks, groups);
    return {std::move(core_of_), machine_.n_cores()};
  }

 private:
  [[nodiscard]] bool is_fixed(Rank rank) const { return !is_fixed_.empty() && is_fixed_[at(rank)]; }
  [[nodiscard]] int capacity(const std::vector<int>& groups) const {
    int sum = 0;
    for (const int group : groups) sum += machine_.group_size(group);
    return sum;
  }

  void split(const std::vector<Rank>& ranks, const std::vector<int>& groups) {
    if (ranks.empty()) return;
    if (groups.size() == 1) return seat(ranks, groups.front());
    const auto [low_groups, high_groups] = machine_.halve(groups);
    const std::vector<signed char> side = cut(ranks, low_groups, high_groups);
    std::vector<Rank> low, high;
    for (std::size_t i = 0; i < ranks.size(); ++i) (side[i] == 0 ? low : high).push_back(ranks[i]);
    for (const Rank rank : low) centre_of_[at(rank)] = low_groups[low_groups.size() / 2];
    for (const Rank rank : high) centre_of_[at(rank)] = high_groups[high_groups.size() / 2];
    split(low, low_groups);
    split(high, high_groups);
  }

  std::vector<signed char> cut(const std::vector<Rank>& ranks, const std::vector<int>& low_groups,
                               const std::vector<int>& high_groups) {
    const int n = static_cast<int>(ranks.size());
    detail::CutGraph graph;
    if (deadline_.has_passed_now()) return in_order(ranks, low_groups, high_groups);
    graph.sizes.assign(ranks.size(), 1);
    for (int i = 0; i < n; ++i) local_[at(ranks[at(i)])] = i;
    const int low = low_groups[low_groups.size() / 2], high = high_groups[high_groups.size() / 2];
    const double apart = machine_.group_distance(low, high);
    bool has_bias = false;
    std::vector<float> bias(ranks.size(), 0.0F);
    for (int i = 0; i < n; ++i) {
      const auto partners = graph_.partners_of(ranks[at(i)]);
      const auto weights = graph_.weights_of(ranks[at(i)]);
      for (std::size_t k = 0; k < partners.size(); ++k) {
        if (const int there = local_[at(partners[k])]; there >= 0) {
          graph.targets.push_back(there);
          graph.weights.push_back(static_cast<float>(weights[k]));
          continue;
        }
        // In units of the cost of an edge across the cut.
        const int centre = centre_of_[at(partners[k])];
        const double more = machine_.group_distance(high, centre) - machine_.group_distance(low, centre);
        if (more == 0.0 || !(apart > 0.0)) continue;
        has_bias = true;
        bias[at(i)] += static_cast<float>(weights[k] * more / apart);
      }
      graph.offsets.push_back(static_cast<int>(graph.targets.size()));
    }
    if (has_bias) graph.bias = std::move(bias);
    fix(ranks, low_groups, graph);
    for (const Rank rank : ranks) local_[at(rank)] = -1;
    const auto n_fixed_high = static_cast<int>(std::ranges::count(graph.fixed, 1));
    const int n_low = std::min(n - n_fixed_high, capacity(low_groups));
    BARRIO_ASSERT(cheap, n - n_low <= capacity(high_groups), n, n_low);
    return detail::bisect(graph, n_low, mix64(seed_ ^ mix64(n_cuts_++)));
  }

  // Send the first ranks to the lower side, except fixed ones.
  std::vector<signed char> in_order(const std::vector<Rank>& ranks, const std::vector<int>& low_groups,
                                    const std::vector<int>& high_groups) const {
    detail::CutGraph graph;
    fix(ranks, low_groups, graph);
    graph.fixed.resize(ranks.size(), -1);
    const std::int64_t n_fixed_high = std::ranges::count(graph.fixed, 1);
    const std::int64_t n_low = std::min<std::int64_t>(std::ssize(ranks) - n_fixed_high, capacity(low_groups));
    BARRIO_ASSERT(cheap, std::ssize(ranks) - n_low <= capacity(high_groups), ranks.size(), n_low);
    std::int64_t n_left = n_low - std::ranges::count(graph.fixed, 0);
    for (signed char& side : graph.fixed)
      if (side < 0) side = n_left-- > 0 ? 0 : 1;
    return std::move(graph.fixed);
  }

  void fix(const std::vector<Rank>& ranks, const std::vector<int>& low_groups, detail::CutGraph& graph) const {
    if (is_fixed_.empty()) return;
    for (const Rank rank : ranks)
      graph.fixed.push_back(!is_fixed(rank)                                                                    ? -1
                            : std::ranges::binary_search(low_groups, machine_.group_of(fixed_->core_of(rank))) ? 0
                                                                                                               : 1);
  }

  void seat(const std::vector<Rank>& ranks, int group) {
    BARRIO_ASSERT(cheap, std::ssize(ranks) <= machine_.group_size(group), ranks.size(), group);
    std::vector<bool> is_taken(at(machine_.group_size(group)), false);
    const int begin = machine_.group_begin(group);
    for (const Rank rank : ranks) {
      if (!is_fixed(rank)) continue;
      core_of_[at(rank)] = fixed_->core_of(rank);
      is_taken[at(fixed_->core_of(rank) - begin)] = true;
    }
    int next = 0;
    for (const Rank rank : ranks) {
      if (is_fixed(rank)) continue;
      while (is_taken[at(next)]) ++next;
      core_of_[at(rank)] = begin + next++;
    }
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  std::uint64_t seed_;
  const Placement* fixed_;
  const std::vector<bool>& is_fixed_;
  Deadline deadline_;
  std::uint64_t n_cuts_ = 0;
  std::vector<int> core_of_;
  std::vector<int> centre_of_;  // a central group of the part of the machine that currently has the rank
  std::vector<int> local_;      // index of a rank in the graph that is being cut
};

}  // namespace

Placement multisect(const CommunicationGraph& graph, const Machine& machine, std::uint64_t seed, const Placement* fixed,
                    const std::vector<bool>& is_fixed, Deadline deadline) {
  return Multisection(graph, machine, seed, fixed, is_fixed, deadline).run();
}

}  // namespace barrio::rankmap
