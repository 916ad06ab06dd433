#include "barrio/rankmap/anneal.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "barrio/rankmap/detail/gain_table.hpp"
#include "barrio/rankmap/detail/random.hpp"

namespace barrio::rankmap {
namespace {

using detail::GainLists;
using detail::GainTable;
using detail::Seats;

constexpr std::uint64_t max_table_bytes = 64U << 20U;
constexpr int n_samples = 1000;
constexpr int n_temperatures = 100;
constexpr int n_between_refreshes = 10;
constexpr int n_between_looks = 5;
constexpr int max_ranks_for_all_pairs = 2048;
constexpr double coldest = 0.01;  // of the hottest

struct Move {
  int vertex;
  int other;
};

// A rank and a vertex of another group; both the same if nothing was found.
Move draw(const CommunicationGraph& graph, const Machine& machine, const Seats& seats,
          detail::Random& random) noexcept {
  const std::uint64_t bits = random.next();
  const std::uint64_t more = random.next();
  const int vertex = detail::Random::scale(static_cast<std::uint32_t>(bits), seats.n_ranks());
  const auto partners = graph.partners_of(vertex);
  int core = detail::Random::scale(static_cast<std::uint32_t>(more), seats.n_vertices());
  if ((bits >> 62U) != 0 && !partners.empty()) {
    const int place = detail::Random::scale(static_cast<std::uint32_t>(bits >> 30U), static_cast<int>(partners.size()));
    const int group = seats.group_of(partners[static_cast<std::size_t>(place)]);
    if (group != seats.group_of(vertex))
      core = machine.group_begin(group) +
             detail::Random::scale(static_cast<std::uint32_t>(more >> 32U), machine.group_size(group));
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
      : graph_(graph), machine_(machine), gains_(graph, machine, seats), options_(options), random_(options.seed) {}

  AnnealCounts run(Placement& best, Deadline deadline) {
    double best_cost = cost(graph_, machine_, best);
    const double cooling = std::pow(coldest, 1.0 / (n_temperatures - 1));
    double temperature = options_.hottest;
    for (int step = 0; step < n_temperatures && counts_.is_complete; ++step, temperature *= cooling) {
      if (step % n_between_refreshes == n_between_refreshes - 1) gains_.refresh();
      const std::uint64_t end = options_.n_moves * static_cast<std::uint64_t>(step + 1) / n_temperatures;
      counts_.is_complete = search(end, static_cast<float>(temperature), deadline);
      const bool is_last = step == n_temperatures - 1 || !counts_.is_complete;
      if (!is_last && (step < n_temperatures / 2 || step % n_between_looks != 0)) continue;
      if (is_last && counts_.is_complete) descend();
      const Placement now = gains_.seats().placement();
      const double cost_now = cost(graph_, machine_, now);
      if (cost_now >= best_cost) continue;
      best_cost = cost_now;
      best = now;
    }
    return counts_;
  }

 private:
  bool search(std::uint64_t end, float temperature, Deadline& deadline) noexcept {
    for (; counts_.n_tried < end; ++counts_.n_tried) {
      if (deadline.has_passed()) return false;
      const auto [vertex, other] = draw(graph_, machine_, gains_.seats(), random_);
      if (vertex == other) continue;
      const float limit = temperature * exponentials_.draw(static_cast<std::uint32_t>(random_.next() >> 40U));
      const float bound = gains_.bound(vertex, other);
      if (!(bound < limit) || !(bound + gains_.correction(vertex, other) < limit)) continue;
      gains_.exchange(vertex, other);
      ++counts_.n_exchanged;
    }
    return true;
  }

  // All pairs of vertices, until no exchange gains. With a table a pair is a few look-ups.
  void descend() noexcept {
    const Seats& seats = gains_.seats();
    if (!std::is_same_v<Gains, GainTable> || seats.n_ranks() > max_ranks_for_all_pairs) return;
    gains_.refresh();
    const auto least = static_cast<float>(1e-4 * options_.hottest);
    for (bool has_gained = true; has_gained;) {
      has_gained = false;
      for (int vertex = 0; vertex < seats.n_ranks(); ++vertex) {
        if (seats.is_fixed(vertex)) continue;
        for (int other = vertex + 1; other < seats.n_vertices(); ++other) {
          if (!(gains_.bound(vertex, other) < -least) || seats.is_fixed(other)) continue;
          if (seats.group_of(other) == seats.group_of(vertex)) continue;
          if (!(gains_.bound(vertex, other) + gains_.correction(vertex, other) < -least)) continue;
          gains_.exchange(vertex, other);
          ++counts_.n_exchanged;
          has_gained = true;
        }
      }
    }
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Gains gains_;
  const AnnealOptions& options_;
  detail::Random random_;
  detail::Exponentials exponentials_;
  AnnealCounts counts_;
};

}  // namespace

AnnealCounts anneal(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
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
  const double degree = static_cast<double>(graph.partners.size()) / graph.n_ranks();
  if (!has_gain_table(graph, machine)) return 60e-9 + 45e-9 * degree;
  // A table beyond the second-level cache costs misses; a move that is made, all sums of two ranks' partners.
  const auto slices = machine.told_apart_by(0, machine.n_groups() - 1);
  const double n_sums = slices[0].end - slices[0].begin + slices[1].end - slices[1].begin;
  const double part_made = machine.is_dense() ? 0.3 : 0.05;
  return (GainTable::bytes(graph, machine) < (1U << 20U) ? 40e-9 : 80e-9) + part_made * 2 * degree * n_sums * 0.4e-9;
}

}  // namespace barrio::rankmap
