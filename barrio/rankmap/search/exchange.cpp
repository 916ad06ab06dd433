#include "barrio/rankmap/search/exchange.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/hash.hpp"

namespace barrio::rankmap {
namespace {

// Return the smallest gain beyond rounding errors; without it two equal placements could alternate for ever.
double min_gain(const CommunicationGraph& graph, const Machine& machine, const Placement& placement) {
  return 1e-12 * cost(graph, machine, placement);
}

class NearSearch {
 public:
  NearSearch(const CommunicationGraph& graph, const Machine& machine, Placement& placement, Deadline deadline,
             const std::vector<bool>& is_fixed)
      : graph_(graph),
        machine_(machine),
        placement_(placement),
        deadline_(deadline),
        is_fixed_(is_fixed),
        min_gain_(min_gain(graph, machine, placement)),
        last_seen_by_(graph.n_ranks(), no_rank),
        is_waiting_(graph.n_ranks(), false) {}

  SearchCounts run(std::uint64_t seed) {
    std::vector<Rank> order(graph_.n_ranks());
    std::iota(order.begin(), order.end(), 0);
    if (seed != 0) {
      const auto key = [&](Rank rank) { return mix64(mix64(seed) ^ static_cast<std::uint64_t>(rank)); };
      std::ranges::sort(order, {}, key);
    }
    for (const Rank rank : order) wake(rank);
    while (!waiting_.empty() && counts_.is_complete) {
      const Rank rank = waiting_.front();
      waiting_.pop_front();
      is_waiting_[rank] = false;
      visit(rank);
    }
    return counts_;
  }

 private:
  [[nodiscard]] bool is_fixed(Rank rank) const { return rank != no_rank && !is_fixed_.empty() && is_fixed_[rank]; }

  void wake(Rank rank) {
    if (rank == no_rank || graph_.degree_of(rank) == 0) return;
    if (is_waiting_[rank]) return;
    is_waiting_[rank] = true;
    waiting_.push_back(rank);
  }

  // Wake all ranks whose best exchange may have changed.
  void wake_around(Rank rank) {
    if (rank == no_rank) return;
    wake(rank);
    for (const Rank partner : graph_.partners_of(rank)) wake(partner);
  }

  void visit(Rank rank) {
    // In a dense graph two steps lead everywhere, by many paths; one pass over all ranks is cheaper then.
    std::size_t n_steps = 0;
    for (const Rank partner : graph_.partners_of(rank)) n_steps += graph_.degree_of(partner);
    if (std::cmp_greater_equal(n_steps, graph_.n_ranks())) {
      for (Rank other = 0; other < graph_.n_ranks(); ++other)
        if (other != rank) try_exchange(rank, placement_.core_of(other));
    } else {
      last_seen_by_[rank] = rank;
      const auto meet = [&](Rank other) {
        if (std::exchange(last_seen_by_[other], rank) != rank) try_exchange(rank, placement_.core_of(other));
      };
      for (const Rank partner : graph_.partners_of(rank)) {
        meet(partner);
        for (const Rank other : graph_.partners_of(partner)) meet(other);
      }
      // Clear the marks: the next visit to the same rank must not see those of this one.
      for (const Rank partner : graph_.partners_of(rank)) {
        last_seen_by_[partner] = no_rank;
        for (const Rank other : graph_.partners_of(partner)) last_seen_by_[other] = no_rank;
      }
    }
    if (placement_.n_cores() > placement_.n_ranks())
      for (const Rank partner : graph_.partners_of(rank))
        try_free_core(rank, machine_.group_of(placement_.core_of(partner)));
  }

  void try_free_core(Rank rank, int group) {
    for (int core = machine_.group_begin(group); core < machine_.group_end(group); ++core)
      if (placement_.rank_at(core) == no_rank) return try_exchange(rank, core);
  }

  void try_exchange(Rank rank, int core) {
    const int from = placement_.core_of(rank);
    if (machine_.group_of(from) == machine_.group_of(core)) return;
    if (is_fixed(rank) || is_fixed(placement_.rank_at(core))) return;
    if (deadline_.has_passed()) {
      counts_.is_complete = false;
      return;
    }
    ++counts_.n_tried;
    if (exchange_delta(graph_, machine_, placement_, from, core) >= -min_gain_) return;
    ++counts_.n_exchanged;
    const Rank other = placement_.rank_at(core);
    placement_.exchange(from, core);
    wake_around(rank);
    wake_around(other);
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Placement& placement_;
  Deadline deadline_;
  const std::vector<bool>& is_fixed_;
  double min_gain_;
  std::vector<Rank> last_seen_by_;
  std::vector<bool> is_waiting_;
  std::deque<Rank> waiting_;
  SearchCounts counts_;
};

// Search the pairs of cores in [begin, end) until none improves. @return false if the deadline passed
bool exchange_in_block(const CommunicationGraph& graph, const Machine& machine, Placement& placement, int begin,
                       int end, double gain, Deadline& deadline, SearchCounts& counts) {
  int last_i = -1, last_j = -1;  // the last exchange: the search is over when the scan returns here without another
  do {
    for (int i = begin; i < end; ++i) {
      for (int j = machine.group_end(machine.group_of(i)); j < end; ++j) {
        if (i == last_i && j == last_j) return true;
        if (placement.rank_at(i) == no_rank && placement.rank_at(j) == no_rank) continue;
        if (deadline.has_passed()) return false;
        ++counts.n_tried;
        if (exchange_delta(graph, machine, placement, i, j) >= -gain) continue;
        ++counts.n_exchanged;
        placement.exchange(i, j);
        last_i = i;
        last_j = j;
      }
    }
  } while (last_i >= 0);
  return true;
}

}  // namespace

SearchCounts exchange_in_blocks(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                                int block, Deadline deadline) {
  BARRIO_ASSERT(cheap, block >= 1, block);
  SearchCounts counts;
  const double gain = min_gain(graph, machine, placement);
  for (int begin = 0; begin < machine.n_cores();) {
    const int end = block < machine.n_cores() - begin ? begin + block : machine.n_cores();
    if (!exchange_in_block(graph, machine, placement, begin, end, gain, deadline, counts)) {
      counts.is_complete = false;
      break;
    }
    begin = end;
  }
  return counts;
}

SearchCounts exchange_near_partners(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                                    std::uint64_t seed, Deadline deadline, const std::vector<bool>& is_fixed) {
  return NearSearch(graph, machine, placement, deadline, is_fixed).run(seed);
}

}  // namespace barrio::rankmap
