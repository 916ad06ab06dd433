#include "barrio/rankmap/search/regroup.hpp"

#include <algorithm>

#include "barrio/rankmap/search/anneal.hpp"

namespace barrio::rankmap::detail {
namespace {

constexpr double heat = 0.4;

std::size_t at(int i) noexcept { return i; }

// Compute the traffic between groups, as if each were a rank.
CommunicationGraph contract_groups(const CommunicationGraph& graph, const Machine& machine,
                                   const Placement& placement) {
  CommunicationGraph groups;
  std::vector<double> sum(at(machine.n_groups()), 0.0);
  std::vector<int> touched;
  for (int group = 0; group < machine.n_groups(); ++group) {
    touched.clear();
    for (int core = machine.group_begin(group); core < machine.group_end(group); ++core) {
      const Rank rank = placement.rank_at(core);
      if (rank == no_rank) continue;
      const auto partners = graph.partners_of(rank);
      const auto weights = graph.weights_of(rank);
      for (std::size_t k = 0; k < partners.size(); ++k) {
        const int there = machine.group_of(placement.core_of(partners[k]));
        if (there == group) continue;
        if (sum[at(there)] == 0.0) touched.push_back(there);
        sum[at(there)] += weights[k];
      }
    }
    std::ranges::sort(touched);
    for (const int there : touched) {
      groups.partners.push_back(there);
      groups.weights.push_back(sum[at(there)]);
      sum[at(there)] = 0.0;
    }
    groups.offsets.push_back(groups.partners.size());
  }
  return groups;
}

}  // namespace

bool can_move_groups(const Machine& machine) {
  if (machine.n_groups() < 3 || machine.has_equal_groups() || machine.is_dense() || machine.group_size(0) == 1)
    return false;
  for (int group = 1; group < machine.n_groups(); ++group)
    if (machine.group_size(group) != machine.group_size(0)) return false;
  return true;
}

void move_groups(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                 const std::vector<bool>& is_fixed, std::uint64_t n_moves, std::uint64_t seed, Deadline deadline) {
  if (!can_move_groups(machine)) return;
  const CommunicationGraph of_groups = contract_groups(graph, machine, placement);
  const Machine coarse = machine.of_groups();
  std::vector<bool> stays;
  if (!is_fixed.empty()) {
    stays.assign(at(machine.n_groups()), false);
    for (Rank rank = 0; rank < placement.n_ranks(); ++rank)
      if (is_fixed[at(rank)]) stays[at(machine.group_of(placement.core_of(rank)))] = true;
  }
  Placement group_at = Placement::in_order(machine.n_groups(), machine.n_groups());
  anneal(of_groups, coarse, group_at,
         {.n_moves = n_moves,
          .seed = seed,
          .hottest = heat * mean_loss(of_groups, coarse, group_at, seed),
          .is_fixed = std::move(stays)},
         deadline);
  std::vector<int> core_of_rank;
  for (const int core : placement.core_of_rank()) {
    const int group = machine.group_of(core);
    core_of_rank.push_back(machine.group_begin(group_at.core_of(group)) + core - machine.group_begin(group));
  }
  placement = Placement(std::move(core_of_rank), machine.n_cores());
}

}  // namespace barrio::rankmap::detail
