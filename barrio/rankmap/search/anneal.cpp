#include "barrio/rankmap/search/anneal.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "barrio/rankmap/search/gain_table.hpp"
#include "barrio/rankmap/search/random.hpp"

namespace barrio::rankmap {
namespace {

using detail::GainLists;
using detail::GainTable;
using detail::Seats;

constexpr std::uint64_t max_table_bytes = 64U << 20U;
constexpr int n_samples = 1000;
constexpr int n_temperatures = 100;
constexpr std::uint64_t n_between_refreshes = 100'000;  // exchanges; rounding errors accumulate
constexpr int n_between_looks = 5;
constexpr int max_ranks_for_all_pairs = 2048;
constexpr double coldest = 0.01;  // part of the hottest

struct Move {
  int vertex;
  int other;
};

// Draw a rank and a vertex of another group; both the same if none was found.
Move draw(const CommunicationGraph& graph, const Machine& machine, const Seats& seats,
          detail::Random& random) noexcept {
  const std::uint64_t bits = random.next();
  const std::uint64_t more = random.next();
  const int vertex = detail::Random::scale(bits, seats.n_ranks());
  const auto partners = graph.partners_of(vertex);
  int core = detail::Random::scale(more, seats.n_vertices());
  if ((bits >> 62U) != 0 && !partners.empty()) {
    const int place = detail::Random::scale(bits >> 30U, partners.size());
    const int group = seats.group_of(partners[place]);
    if (group != seats.group_of(vertex))
      core = machine.group_begin(group) + detail::Random::scale(more >> 32U, machine.group_size(group));
  }
  const int other = seats.vertex_at(core);
  if (seats.group_of(other) == seats.group_of(vertex) || seats.is_fixed(vertex) || seats.is_fixed(other))
    return {vertex, vertex};
  return {vertex, other};
}

template <class Gains>
class Annealer {
 public:
  Annealer(const CommunicationGraph& graph, const Machine& machine, Seats& seats, const AnnealOptions& options)
      : graph_(graph),
        machine_(machine),
        seats_(seats),
        gains_(graph, machine, seats),
        lists_(graph, machine, seats),
        options_(options),
        random_(options.seed) {}

  SearchCounts run(Placement& best, Deadline deadline) {
    double best_cost = cost(graph_, machine_, best);
    const double cooling = std::pow(coldest, 1.0 / (n_temperatures - 1));
    double temperature = options_.hottest;
    std::uint64_t n_at_refresh = 0;
    for (int step = 0; step < n_temperatures && counts_.is_complete; ++step, temperature *= cooling) {
      if (counts_.n_exchanged - n_at_refresh > n_between_refreshes) {
        gains_.refresh();
        n_at_refresh = counts_.n_exchanged;
      }
      const std::uint64_t end = options_.n_moves / n_temperatures * (step + 1);
      counts_.is_complete = search(end, static_cast<float>(temperature), deadline);
      if (step < n_temperatures / 2 || step % n_between_looks != 0) continue;
      look(best, best_cost);
    }
    if (counts_.is_complete) descend(deadline);
    look(best, best_cost);
    // The best may be from between the steps; then it may still have something to gain.
    if (counts_.is_complete && !(seats_.placement() == best)) {
      seats_ = Seats(machine_, best, options_.is_fixed);
      descend(deadline);
      look(best, best_cost);
    }
    return counts_;
  }

 private:
  void look(Placement& best, double& best_cost) const {
    Placement now = seats_.placement();
    const double cost_now = cost(graph_, machine_, now);
    if (cost_now >= best_cost) return;
    best_cost = cost_now;
    best = std::move(now);
  }

  bool search(std::uint64_t end, float temperature, Deadline& deadline) noexcept {
    for (; counts_.n_tried < end; ++counts_.n_tried) {
      if (deadline.has_passed()) return false;
      const auto [vertex, other] = draw(graph_, machine_, gains_.seats(), random_);
      if (vertex == other) continue;
      const float limit = temperature * exponentials_.draw(random_.next() >> 40U);
      const float bound = gains_.bound(vertex, other);
      if (!(bound < limit) || !(bound + gains_.correction(vertex, other) < limit)) continue;
      gains_.exchange(vertex, other);
      ++counts_.n_exchanged;
    }
    return true;
  }

  // Check all pairs of vertices, until no exchange gains. The table is in single precision and only tells where to
  // look. The gain is computed in double, or two placements could alternate for ever.
  void descend(Deadline& deadline) {
    if (!std::is_same_v<Gains, GainTable> || seats_.n_ranks() > max_ranks_for_all_pairs) return;
    gains_.refresh();
    const double least = 1e-12 * cost(graph_, machine_, seats_.placement());
    std::vector<int> tried_by(machine_.n_groups(), -1);
    for (bool has_gained = true; has_gained;) {
      has_gained = false;
      for (int vertex = 0; vertex < seats_.n_ranks(); ++vertex) {
        if (deadline.has_passed_now()) return;
        if (!seats_.is_fixed(vertex) && descend(vertex, least, tried_by)) has_gained = true;
      }
      std::ranges::fill(tried_by, -1);
    }
  }

  // @param[in,out] tried_by  by group, the last vertex for which one of its free cores was tried: free cores of a group
  // are equivalent
  bool descend(int vertex, double least, std::vector<int>& tried_by) {
    bool has_gained = false;
    for (int other = vertex + 1; other < seats_.n_vertices(); ++other) {
      const int group = seats_.group_of(other);
      if (group == seats_.group_of(vertex)) continue;
      if (!seats_.is_rank(other) && std::exchange(tried_by[group], vertex) == vertex) continue;
      if (!(gains_.bound(vertex, other) < 0.0F) || seats_.is_fixed(other)) continue;
      if (!(lists_.delta(vertex, other) < -least)) continue;
      gains_.exchange(vertex, other);
      ++counts_.n_exchanged;
      has_gained = true;
    }
    return has_gained;
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Seats& seats_;
  Gains gains_;
  GainLists lists_;
  const AnnealOptions& options_;
  detail::Random random_;
  detail::Exponentials exponentials_;
  SearchCounts counts_;
};

}  // namespace

SearchCounts anneal(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                    const AnnealOptions& options, Deadline deadline) {
  if (graph.n_ranks() == 0 || machine.n_groups() < 2) return {};
  Seats seats(machine, placement, options.is_fixed);
  if (has_gain_table(graph, machine))
    return Annealer<GainTable>(graph, machine, seats, options).run(placement, deadline);
  return Annealer<GainLists>(graph, machine, seats, options).run(placement, deadline);
}

double mean_loss(const CommunicationGraph& graph, const Machine& machine, const Placement& placement,
                 std::uint64_t seed) {
  if (graph.n_ranks() == 0 || machine.n_groups() < 2) return 0.0;
  Seats seats(machine, placement);
  const GainLists gains(graph, machine, seats);
  detail::Random random(seed);
  double sum = 0.0;
  int n = 0;
  for (int i = 0; i < n_samples; ++i) {
    const auto [vertex, other] = draw(graph, machine, seats, random);
    if (vertex == other) continue;
    const double loss = gains.bound(vertex, other);
    if (loss <= 0.0) continue;
    sum += loss;
    ++n;
  }
  return n > 0 ? sum / n : 0.0;
}

bool has_gain_table(const CommunicationGraph& graph, const Machine& machine) noexcept {
  return GainTable::bytes(graph, machine) <= max_table_bytes;
}

bool ends_with_all_pairs(const CommunicationGraph& graph, const Machine& machine) noexcept {
  return has_gain_table(graph, machine) && graph.n_ranks() <= max_ranks_for_all_pairs;
}

double nominal_move_seconds(const CommunicationGraph& graph, const Machine& machine) noexcept {
  if (graph.n_ranks() == 0) return 0.0;
  const double degree = graph.n_edge_ends() / graph.n_ranks();
  if (!has_gain_table(graph, machine)) return 60e-9 + 45e-9 * degree;
  // A table beyond the second-level cache costs misses; a move that is made costs all sums of two ranks' partners.
  const auto slices = machine.told_apart_by(0, machine.n_groups() - 1);
  const double n_sums = slices[0].end - slices[0].begin + slices[1].end - slices[1].begin;
  const double part_made = machine.is_dense() ? 0.3 : 0.05;
  return (GainTable::bytes(graph, machine) < (1U << 20U) ? 40e-9 : 80e-9) + part_made * 2 * degree * n_sums * 0.4e-9;
}

}  // namespace barrio::rankmap
