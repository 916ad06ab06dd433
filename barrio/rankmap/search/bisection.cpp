#include "barrio/rankmap/search/bisection.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "barrio/base/ragged.hpp"
#include "barrio/rankmap/search/random.hpp"

namespace barrio::rankmap::detail {
namespace {

constexpr int coarsest = 48;
constexpr int n_seeds = 8;
constexpr int max_passes = 6;

std::size_t at(int i) noexcept { return i; }

float bias_of(const CutGraph& graph, int vertex) noexcept { return graph.bias.empty() ? 0.0F : graph.bias[at(vertex)]; }
int fixed_side(const CutGraph& graph, int vertex) noexcept {
  return graph.fixed.empty() ? -1 : graph.fixed[at(vertex)];
}

/// Moves between two sides, each the best one that keeps the balance, finally undone back to the best state.
class Refiner {
 public:
  Refiner(const CutGraph& graph, std::vector<signed char>& side, int n_low, int tolerance)
      : graph_(graph), side_(side), n_low_(n_low), tolerance_(tolerance), gains_(side.size()), is_moved_(side.size()) {
    slack_ = std::max(tolerance_, *std::ranges::max_element(graph.sizes));
    for (int vertex = 0; vertex < graph_.n_vertices(); ++vertex)
      if (side_[at(vertex)] == 0) low_ += graph_.sizes[at(vertex)];
  }

  void run() {
    for (int pass = 0; pass < max_passes; ++pass)
      if (!improve()) break;
  }

  /// Return the imbalance of the sides beyond the tolerance, and the weight across.
  [[nodiscard]] std::pair<int, double> quality() const {
    double cut = 0.0;
    for (int vertex = 0; vertex < graph_.n_vertices(); ++vertex) {
      if (side_[at(vertex)] == 1) cut += 2.0 * bias_of(graph_, vertex);
      for (int k = graph_.offsets[at(vertex)]; k < graph_.offsets[at(vertex) + 1]; ++k)
        if (side_[at(graph_.targets[at(k)])] != side_[at(vertex)]) cut += graph_.weights[at(k)];
    }
    return {excess(), cut / 2};
  }

 private:
  struct Candidate {
    float gain;
    int vertex;
    bool operator<(const Candidate& other) const noexcept {
      return gain != other.gain ? gain < other.gain : vertex > other.vertex;
    }
  };
  using Queue = std::priority_queue<Candidate>;

  [[nodiscard]] int excess() const noexcept { return std::max(0, std::abs(low_ - n_low_) - tolerance_); }

  [[nodiscard]] float gain_of(int vertex) const noexcept {
    const int mine = side_[at(vertex)];
    float gain = mine == 0 ? -bias_of(graph_, vertex) : bias_of(graph_, vertex);
    for (int k = graph_.offsets[at(vertex)]; k < graph_.offsets[at(vertex) + 1]; ++k)
      gain += side_[at(graph_.targets[at(k)])] == mine ? -graph_.weights[at(k)] : graph_.weights[at(k)];
    return gain;
  }

  /// Return the best vertex of a side that may leave it, or -1.
  int top(Queue& queue) const {
    for (; !queue.empty(); queue.pop()) {
      const Candidate& best = queue.top();
      if (!is_moved_[at(best.vertex)] && best.gain == gains_[at(best.vertex)]) return best.vertex;
    }
    return -1;
  }

  [[nodiscard]] bool fits(int vertex) const noexcept {
    const int size = graph_.sizes[at(vertex)];
    const int after = low_ + (side_[at(vertex)] == 0 ? -size : size) - n_low_;
    return std::abs(after) <= slack_ || std::abs(after) < std::abs(low_ - n_low_);
  }

  void flip(int vertex) noexcept {
    signed char& side = side_[at(vertex)];
    low_ += side == 0 ? -graph_.sizes[at(vertex)] : graph_.sizes[at(vertex)];
    side = static_cast<signed char>(1 - side);
  }

  int choose(Queue (&queues)[2]) const {
    const int low = top(queues[0]), high = top(queues[1]);
    // Out of balance: move from the heavy side.
    if (low_ - n_low_ > tolerance_ && low >= 0) return low;
    if (n_low_ - low_ > tolerance_ && high >= 0) return high;
    const bool low_fits = low >= 0 && fits(low), high_fits = high >= 0 && fits(high);
    if (low_fits && high_fits) return gains_[at(low)] >= gains_[at(high)] ? low : high;
    return low_fits ? low : high_fits ? high : -1;
  }

  bool improve() {
    Queue queues[2];
    is_moved_.assign(is_moved_.size(), false);
    for (int vertex = 0; vertex < graph_.n_vertices(); ++vertex) {
      if (fixed_side(graph_, vertex) >= 0) continue;
      gains_[at(vertex)] = gain_of(vertex);
      queues[side_[at(vertex)]].push({gains_[at(vertex)], vertex});
    }
    std::vector<int> moves;
    double gained = 0.0, best_gained = 0.0;
    int best_excess = excess();
    const int start_excess = best_excess;
    std::size_t n_best = 0;
    const std::size_t patience = std::max<std::size_t>(40, side_.size() / 20);
    while (moves.size() < n_best + patience) {
      const int vertex = choose(queues);
      if (vertex < 0) break;
      gained += gains_[at(vertex)];
      is_moved_[at(vertex)] = true;
      flip(vertex);
      moves.push_back(vertex);
      for (int k = graph_.offsets[at(vertex)]; k < graph_.offsets[at(vertex) + 1]; ++k) {
        const int other = graph_.targets[at(k)];
        if (is_moved_[at(other)] || fixed_side(graph_, other) >= 0) continue;
        // It gains by following, or loses by being left.
        const float change = 2 * graph_.weights[at(k)];
        gains_[at(other)] += side_[at(other)] == side_[at(vertex)] ? -change : change;
        queues[side_[at(other)]].push({gains_[at(other)], other});
      }
      if (std::pair(excess(), -gained) < std::pair(best_excess, -best_gained - 1e-9)) {
        best_excess = excess();
        best_gained = gained;
        n_best = moves.size();
      }
    }
    while (moves.size() > n_best) {
      flip(moves.back());
      moves.pop_back();
    }
    return best_excess < start_excess || best_gained > 1e-9;
  }

  const CutGraph& graph_;
  std::vector<signed char>& side_;
  int n_low_, tolerance_, slack_ = 0, low_ = 0;
  std::vector<float> gains_;
  std::vector<bool> is_moved_;
};

/// Pair each vertex with the neighbour of heaviest relative edge. @return the coarse vertex of each
std::vector<int> match(const CutGraph& graph, int max_size, Random& random, int& n_coarse) {
  const int n = graph.n_vertices();
  std::vector<int> order(at(n)), coarse(at(n), -1);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[at(i)], order[at(random.below(i + 1))]);
  n_coarse = 0;
  for (const int vertex : order) {
    if (coarse[at(vertex)] >= 0) continue;
    int best = -1;
    float most = 0.0F;
    for (int k = graph.offsets[at(vertex)]; k < graph.offsets[at(vertex) + 1]; ++k) {
      const int other = graph.targets[at(k)];
      if (coarse[at(other)] >= 0 || graph.sizes[at(vertex)] + graph.sizes[at(other)] > max_size) continue;
      if (fixed_side(graph, vertex) != fixed_side(graph, other)) continue;
      // Small ones first, so that sizes stay similar.
      const float value = graph.weights[at(k)] /
                          (static_cast<float>(graph.sizes[at(vertex)]) * static_cast<float>(graph.sizes[at(other)]));
      if (best >= 0 && value <= most) continue;
      best = other;
      most = value;
    }
    coarse[at(vertex)] = n_coarse;
    if (best >= 0) coarse[at(best)] = n_coarse;
    ++n_coarse;
  }
  return coarse;
}

CutGraph contract(const CutGraph& graph, const std::vector<int>& coarse, int n_coarse) {
  CutGraph result;
  result.sizes.assign(at(n_coarse), 0);
  if (!graph.bias.empty()) result.bias.assign(at(n_coarse), 0.0F);
  if (!graph.fixed.empty()) result.fixed.assign(at(n_coarse), -1);
  const auto members = Ragged<int, int>::grouped(at(n_coarse), [&](auto&& put) {
    for (int vertex = 0; vertex < graph.n_vertices(); ++vertex) put(coarse[at(vertex)], vertex);
  });
  std::vector<int> place(at(n_coarse), -1);  // index of a target in the current row
  int n_targets = 0;
  for (int c = 0; c < n_coarse; ++c) {
    const int row = n_targets;
    for (const int vertex : members[at(c)]) {
      result.sizes[at(c)] += graph.sizes[at(vertex)];
      if (!graph.bias.empty()) result.bias[at(c)] += graph.bias[at(vertex)];
      if (!graph.fixed.empty()) result.fixed[at(c)] = graph.fixed[at(vertex)];
      for (int k = graph.offsets[at(vertex)]; k < graph.offsets[at(vertex) + 1]; ++k) {
        const int target = coarse[at(graph.targets[at(k)])];
        if (target == c) continue;
        if (place[at(target)] < row) {
          place[at(target)] = n_targets++;
          result.targets.push_back(target);
          result.weights.push_back(0.0F);
        }
        result.weights[at(place[at(target)])] += graph.weights[at(k)];
      }
    }
    result.offsets.push_back(n_targets);
  }
  return result;
}

/// Grow side 0 from a vertex, always by the vertex with the strongest ties to it.
std::vector<signed char> grow(const CutGraph& graph, int n_low, int seed) {
  std::vector<signed char> side(graph.sizes.size(), 1);
  std::vector<float> ties(side.size());
  std::vector<bool> is_in(side.size(), false);
  std::priority_queue<std::pair<float, int>> queue;
  int low = 0;
  const auto add = [&](int vertex) {
    side[at(vertex)] = 0;
    is_in[at(vertex)] = true;
    low += graph.sizes[at(vertex)];
    for (int k = graph.offsets[at(vertex)]; k < graph.offsets[at(vertex) + 1]; ++k) {
      const int other = graph.targets[at(k)];
      if (is_in[at(other)] || fixed_side(graph, other) == 1) continue;
      ties[at(other)] += 2 * graph.weights[at(k)];
      queue.emplace(ties[at(other)], other);
    }
  };
  for (int vertex = 0; vertex < graph.n_vertices(); ++vertex) {
    ties[at(vertex)] = bias_of(graph, vertex);
    for (int k = graph.offsets[at(vertex)]; k < graph.offsets[at(vertex) + 1]; ++k)
      ties[at(vertex)] -= graph.weights[at(k)];
  }
  for (int vertex = 0; vertex < graph.n_vertices(); ++vertex)
    if (fixed_side(graph, vertex) == 0) add(vertex);
  int next = seed;
  while (low < n_low) {
    int vertex = -1;
    for (; !queue.empty() && vertex < 0; queue.pop())
      if (!is_in[at(queue.top().second)] && queue.top().first == ties[at(queue.top().second)])
        vertex = queue.top().second;
    if (vertex < 0) {
      // At the start, and again where the graph is disconnected.
      int n_seen = 0;
      while (n_seen < graph.n_vertices() && (is_in[at(next)] || fixed_side(graph, next) == 1)) {
        next = (next + 1) % graph.n_vertices();
        ++n_seen;
      }
      if (n_seen == graph.n_vertices()) break;
      vertex = next;
    }
    add(vertex);
  }
  return side;
}

std::vector<signed char> cut_coarsest(const CutGraph& graph, int n_low, int tolerance, Random& random) {
  std::vector<signed char> best;
  std::pair<int, double> best_quality{std::numeric_limits<int>::max(), 0.0};
  for (int i = 0; i < n_seeds; ++i) {
    std::vector<signed char> side = grow(graph, n_low, random.below(graph.n_vertices()));
    Refiner refiner(graph, side, n_low, tolerance);
    refiner.run();
    const auto quality = refiner.quality();
    if (!best.empty() && quality >= best_quality) continue;
    best_quality = quality;
    best = std::move(side);
  }
  return best;
}

/// Return the tolerance: with sizes other than 1, the sides may be out of balance by the largest size.
int tolerance_of(const CutGraph& graph) {
  const int largest = *std::ranges::max_element(graph.sizes);
  return largest == 1 ? 0 : largest;
}

std::vector<signed char> cut(const CutGraph& graph, int n_low, Random& random) {
  const int n = graph.n_vertices();
  const int tolerance = tolerance_of(graph);
  if (n <= coarsest) return cut_coarsest(graph, n_low, tolerance, random);
  const int total = std::accumulate(graph.sizes.begin(), graph.sizes.end(), 0);
  int n_coarse = 0;
  const std::vector<int> coarse = match(graph, std::max(2, total / 16), random, n_coarse);
  if (n_coarse > n - n / 20) return cut_coarsest(graph, n_low, tolerance, random);
  const std::vector<signed char> coarse_side = cut(contract(graph, coarse, n_coarse), n_low, random);
  std::vector<signed char> side(at(n));
  for (int vertex = 0; vertex < n; ++vertex) side[at(vertex)] = coarse_side[at(coarse[at(vertex)])];
  Refiner(graph, side, n_low, tolerance).run();
  return side;
}

}  // namespace

std::vector<signed char> bisect(const CutGraph& graph, int n_low, std::uint64_t seed) {
  if (graph.n_vertices() == 0) return {};
  Random random(seed);
  return cut(graph, n_low, random);
}

}  // namespace barrio::rankmap::detail
