#include "barrio/rankmap/search/tabu.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/rankmap/search/random.hpp"
#include "barrio/rankmap/search/seats.hpp"

namespace barrio::rankmap {
namespace {

// As multiples of the number of vertices.
constexpr double shortest_tenure = 0.9;
constexpr double longest_tenure = 1.1;
constexpr std::uint64_t stagnation_per_vertex = 12;
constexpr double weakest_shake = 0.2;
constexpr double strongest_shake = 0.5;

/// A square of numbers, by rows.
template <class T>
class Square {
 public:
  explicit Square(int n, T value = {}) : n_(n), values_(n_ * n_, value) {}
  T* row(int i) noexcept { return values_.data() + i * n_; }
  const T* row(int i) const noexcept { return values_.data() + i * n_; }

 private:
  std::size_t n_;
  std::vector<T> values_;
};

class TabuSearch {
 public:
  TabuSearch(const CommunicationGraph& graph, const Machine& machine, const Placement& start,
             const TabuOptions& options)
      : options_(options),
        random_(options.seed),
        seats_(machine, start, options.is_fixed),
        n_(seats_.n_vertices()),
        flows_(n_),
        distances_(n_),
        deltas_(n_),
        sums_(n_),
        forbidden_(n_),
        u_(n_),
        v_(u_.size()),
        by_core_(u_.size()),
        cost_(cost(graph, machine, start)) {
    for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
      const auto partners = graph.partners_of(rank);
      for (std::size_t k = 0; k < partners.size(); ++k) flows_.row(rank)[partners[k]] = graph.weights_of(rank)[k];
    }
    for (int core = 0; core < n_; ++core)
      for (int other = 0; other < n_; ++other) distances_.row(core)[other] = machine.distance(core, other);
    compute_sums(graph);
  }

  TabuCounts run(Placement& best, Deadline deadline) {
    TabuCounts counts;
    Best best_so_far{seats_, sums_, cost_};
    compute_deltas();
    double round_cost = cost_;
    std::uint64_t last_gain = 0;
    const std::uint64_t stagnation = stagnation_per_vertex * n_;
    const double least = 1e-12 * cost_;
    while (counts.n_steps < options_.n_steps) {
      if ((counts.n_steps & 15U) == 0 && is_late(deadline)) {
        counts.is_complete = false;
        break;
      }
      if (!step(++counts.n_steps, best_so_far.cost)) break;
      if (cost_ < round_cost - least) {
        round_cost = cost_;
        last_gain = counts.n_steps;
      }
      if (cost_ < best_so_far.cost - least) best_so_far = {seats_, sums_, cost_};
      if (counts.n_steps - last_gain < stagnation) continue;
      restart(best_so_far);
      ++counts.n_restarts;
      round_cost = cost_;
      last_gain = counts.n_steps;
    }
    best = best_so_far.seats.placement();
    return counts;
  }

 private:
  using Seats = detail::Seats;
  struct Best {
    Seats seats;
    Square<double> sums;
    double cost;
  };

  // Called once in sixteen steps; the deadline reads the clock once in 256 questions.
  static bool is_late(Deadline& deadline) noexcept {
    for (int i = 0; i < 16; ++i)
      if (deadline.has_passed()) return true;
    return false;
  }

  [[nodiscard]] double delta_of(int i, int j) const noexcept {
    const int from = seats_.core_of(i), to = seats_.core_of(j);
    const double* const a = sums_.row(i);
    const double* const b = sums_.row(j);
    return a[to] - a[from] + (b[from] - b[to]) + 2 * flows_.row(i)[j] * distances_.row(from)[to];
  }

  void compute_sums(const CommunicationGraph& graph) noexcept {
    for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
      double* const sums = sums_.row(rank);
      const auto partners = graph.partners_of(rank);
      for (std::size_t k = 0; k < partners.size(); ++k) {
        const double* const from_there = distances_.row(seats_.core_of(partners[k]));
        for (int core = 0; core < n_; ++core) sums[core] += graph.weights_of(rank)[k] * from_there[core];
      }
    }
  }

  void compute_deltas() noexcept {
    for (int i = 0; i < n_; ++i)
      for (int j = i + 1; j < n_; ++j) deltas_.row(i)[j] = delta_of(i, j);
  }

  // Exchange two vertices, and update the sums. Cost: O(cores * partners of the two)
  void reseat(int r, int s) noexcept {
    const double* const at_r = distances_.row(seats_.core_of(r));
    const double* const at_s = distances_.row(seats_.core_of(s));
    const double* const a = flows_.row(r);
    const double* const b = flows_.row(s);
    for (int core = 0; core < n_; ++core) by_core_[core] = at_s[core] - at_r[core];
    for (int i = 0; i < seats_.n_ranks(); ++i) {
      const double change = a[i] - b[i];
      if (change == 0.0) continue;
      double* const sums = sums_.row(i);
      for (int core = 0; core < n_; ++core) sums[core] += change * by_core_[core];
    }
    seats_.exchange(r, s);
  }

  // Make the best exchange that is allowed, or that leads below the best cost. @return false if there is none
  bool step(std::uint64_t now, double best_cost) noexcept {
    double least = std::numeric_limits<double>::infinity();
    int best_i = -1, best_j = -1;
    for (int i = 0; i < seats_.n_ranks(); ++i) {
      if (seats_.is_fixed(i)) continue;
      const double* const deltas = deltas_.row(i);
      const std::uint64_t* const forbidden = forbidden_.row(i);
      const int core = seats_.core_of(i);
      for (int j = i + 1; j < n_; ++j) {
        if (deltas[j] >= least || seats_.is_fixed(j)) continue;
        const bool is_forbidden = forbidden[seats_.core_of(j)] > now && forbidden_.row(j)[core] > now;
        if (is_forbidden && !(cost_ + deltas[j] < best_cost - 1e-12 * best_cost)) continue;
        least = deltas[j];
        best_i = i;
        best_j = j;
      }
    }
    if (best_i < 0) {
      // All exchanges are forbidden: wait.
      return n_ > 2;
    }
    forbidden_.row(best_i)[seats_.core_of(best_i)] = now + tenure();
    forbidden_.row(best_j)[seats_.core_of(best_j)] = now + tenure();
    exchange(best_i, best_j);
    return true;
  }

  std::uint64_t tenure() noexcept {
    return static_cast<std::uint64_t>((shortest_tenure + (longest_tenure - shortest_tenure) * random_.uniform()) * n_) +
           1;
  }

  // For all other pairs the change of the difference is a product of two differences; pairs with these two are
  // recomputed.
  void exchange(int r, int s) noexcept {
    cost_ += deltas_.row(std::min(r, s))[std::max(r, s)];
    const double* const at_r = distances_.row(seats_.core_of(r));
    const double* const at_s = distances_.row(seats_.core_of(s));
    const double* const a = flows_.row(r);
    const double* const b = flows_.row(s);
    for (int k = 0; k < n_; ++k) {
      const std::size_t at = k;
      u_[at] = a[k] - b[k];
      v_[at] = at_r[seats_.core_of(k)] - at_s[seats_.core_of(k)];
    }
    reseat(r, s);
    for (int i = 0; i < n_; ++i) {
      double* const deltas = deltas_.row(i);
      const double u = u_[i], v = v_[i];
      for (int j = i + 1; j < n_; ++j) deltas[j] += (u - u_[j]) * (v - v_[j]);
    }
    for (int k = 0; k < n_; ++k) {
      if (k != r) deltas_.row(std::min(k, r))[std::max(k, r)] = delta_of(std::min(k, r), std::max(k, r));
      if (k != s) deltas_.row(std::min(k, s))[std::max(k, s)] = delta_of(std::min(k, s), std::max(k, s));
    }
  }

  // Restart from the best placement or from the current one, with a part of the vertices shuffled.
  void restart(const Best& best) noexcept {
    // Half of the time from the current one: the valley of the best may be the wrong one.
    if (random_.below(2) == 0) {
      seats_ = best.seats;
      sums_ = best.sums;
      cost_ = best.cost;
    }
    const double part = weakest_shake + (strongest_shake - weakest_shake) * random_.uniform();
    const int n_shaken = std::max(3, static_cast<int>(part * n_));
    for (int i = 0; i < n_shaken; ++i) {
      const int one = random_.below(seats_.n_ranks()), other = random_.below(n_);
      if (one == other || seats_.is_fixed(one) || seats_.is_fixed(other)) continue;
      cost_ += delta_of(one, other);
      reseat(one, other);
    }
    compute_deltas();
    forbidden_ = Square<std::uint64_t>(n_);
  }

  const TabuOptions& options_;
  detail::Random random_;
  Seats seats_;
  int n_;
  Square<double> flows_, distances_, deltas_;
  Square<double> sums_;              // by vertex and core, the vertex' cost there
  Square<std::uint64_t> forbidden_;  // by vertex and core, until which step
  std::vector<double> u_, v_, by_core_;
  double cost_;
};

}  // namespace

TabuCounts tabu_search(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                       const TabuOptions& options, Deadline deadline) {
  BARRIO_ASSERT(cheap, machine.n_cores() <= max_cores_for_tabu, machine.n_cores());
  if (graph.n_ranks() == 0 || machine.n_cores() < 2) return {};
  return TabuSearch(graph, machine, placement, options).run(placement, deadline);
}

double nominal_tabu_step_seconds(const Machine& machine) noexcept {
  const double n = machine.n_cores();
  return 1.05e-9 * n * n + 10e-9 * n;
}

}  // namespace barrio::rankmap
