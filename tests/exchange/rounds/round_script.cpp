#include "tests/exchange/rounds/round_script.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "barrio/base/sort_unique.hpp"

namespace barrio::test {
namespace {

/// A directed graph, as bits from * n + to.
class Relation {
 public:
  explicit Relation(int n, std::uint32_t bits = 0) : n_(n), bits_(bits) {}
  [[nodiscard]] bool has(int from, int to) const { return ((bits_ >> shift(from, to)) & 1U) != 0; }
  void add(int from, int to) { bits_ |= 1U << shift(from, to); }
  [[nodiscard]] int n_ranks() const { return n_; }
  [[nodiscard]] std::uint32_t bits() const { return bits_; }

  [[nodiscard]] Relation renumbered(const std::vector<int>& names) const {
    Relation other(n_);
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (has(a, b)) other.add(names[static_cast<std::size_t>(a)], names[static_cast<std::size_t>(b)]);
    return other;
  }
  [[nodiscard]] Relation joined(const Relation& other) const {
    Relation all(n_, bits_);
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (other.has(a, b) || other.has(b, a)) all.add(a, b);
    return all;
  }
  [[nodiscard]] bool is_connected() const {
    std::uint32_t reached = 1;
    for (int hop = 0; hop < n_; ++hop)
      for (int a = 0; a < n_; ++a)
        for (int b = 0; b < n_; ++b)
          if (((reached >> static_cast<unsigned>(a)) & 1U) != 0 && has(a, b)) reached |= 1U << static_cast<unsigned>(b);
    return reached == (1U << static_cast<unsigned>(n_)) - 1;
  }
  [[nodiscard]] std::vector<std::pair<int, int>> two_hops() const {
    std::vector<std::pair<int, int>> pairs;
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (a == b || has(a, b)) continue;
        for (int middle = 0; middle < n_; ++middle) {
          if (!has(a, middle) || !has(middle, b)) continue;
          pairs.emplace_back(a, b);
          break;
        }
      }
    }
    return pairs;
  }
  [[nodiscard]] Lists lists() const {
    Lists all(n_);
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (has(a, b)) all[a].push_back(b);
    return all;
  }

 private:
  [[nodiscard]] unsigned shift(int from, int to) const { return from * n_ + to; }
  int n_;
  std::uint32_t bits_;
};

/// Relations of a script: neighbours and strangers of each epoch in turn.
using Row = std::vector<Relation>;

bool is_first_of_its_likes(const Row& row, int n_ranks) {
  std::vector<int> names(n_ranks);
  std::iota(names.begin(), names.end(), 0);
  do {
    for (const Relation& relation : row) {
      const std::uint32_t other = relation.renumbered(names).bits();
      if (other > relation.bits()) break;
      if (other < relation.bits()) return false;
    }
  } while (std::ranges::next_permutation(names).found);
  return true;
}

/// Add every script that begins with `row` and continues with `graph`.
void add_rounds(const Row& row, const Relation& graph, int n_epochs, Next next, std::vector<Script>& all) {
  const auto pairs = graph.two_hops();
  for (std::uint32_t chosen = 0; chosen < (1U << pairs.size()); ++chosen) {
    Relation strangers(graph.n_ranks());
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (((chosen >> i) & 1U) != 0) strangers.add(pairs[i].first, pairs[i].second);
    Row longer = row;
    longer.push_back(graph);
    longer.push_back(strangers);
    if (n_epochs > 1) {
      add_rounds(longer, next == Next::kept ? graph : graph.joined(strangers), n_epochs - 1, next, all);
    } else if (is_first_of_its_likes(longer, graph.n_ranks())) {
      Script script;
      for (std::size_t i = 0; i < longer.size(); i += 2) {
        script.neighbours.push_back(longer[i].lists());
        script.strangers.push_back(longer[i + 1].lists());
      }
      all.push_back(std::move(script));
    }
  }
}

std::vector<Rank> two_hops_from(const Lists& neighbours, Rank rank) {
  const auto& near = neighbours[static_cast<std::size_t>(rank)];
  std::vector<Rank> found;
  for (const Rank middle : near)
    for (const Rank far : neighbours[middle])
      if (far != rank && !std::ranges::binary_search(near, far)) found.push_back(far);
  sort_unique(found);
  return found;
}

void connect(Lists& lists, Rank a, Rank b) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    auto& list = lists[static_cast<std::size_t>(from)];
    const auto at = std::ranges::lower_bound(list, to);
    if (at == list.end() || *at != to) list.insert(at, to);
  }
}

}  // namespace

std::vector<Script> all_scripts(int n_ranks, int n_epochs, Next next) {
  std::vector<Script> all;
  const int n_pairs = n_ranks * (n_ranks - 1) / 2;
  for (std::uint32_t chosen = 0; chosen < (1U << static_cast<unsigned>(n_pairs)); ++chosen) {
    Relation graph(n_ranks);
    unsigned pair = 0;
    for (int a = 0; a < n_ranks; ++a) {
      for (int b = a + 1; b < n_ranks; ++b, ++pair) {
        if (((chosen >> pair) & 1U) == 0) continue;
        graph.add(a, b);
        graph.add(b, a);
      }
    }
    if (graph.is_connected()) add_rounds({}, graph, n_epochs, next, all);
  }
  return all;
}

Script random_script(std::mt19937_64& random, int n_ranks, int n_epochs) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  const auto graph = [&] {
    Lists lists(n_ranks);
    const int n_edges = n_ranks + below(n_ranks);
    for (int edge = 0; edge < n_edges; ++edge) {
      const Rank a = below(n_ranks);
      const Rank b = below(n_ranks);
      if (a != b) connect(lists, a, b);
    }
    return lists;
  };
  Script script;
  script.n_packets = 1 + below(2);
  const int rarity = 1 + below(6);
  Lists now = graph();
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    Lists strangers(n_ranks);
    Lists grown = now;
    for (Rank rank = 0; rank < n_ranks; ++rank) {
      for (const Rank far : two_hops_from(now, rank)) {
        if (below(rarity) != 0) continue;
        strangers[rank].push_back(far);
        connect(grown, rank, far);
      }
    }
    script.neighbours.push_back(std::exchange(now, below(3) == 0 ? graph() : std::move(grown)));
    script.strangers.push_back(std::move(strangers));
  }
  return script;
}

}  // namespace barrio::test
