#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::test {

/// A list of ranks for each rank, ascending.
using Lists = std::vector<std::vector<Rank>>;

/// Script of some rounds of one Neighborhood: the neighbours, and the strangers that ranks write to.
struct Script {
  bool introduces = true;
  int n_packets = 1;                        ///< on each directed edge in each round, including the last packet
  bool takes_passes_while_closing = false;  ///< a fault, see the test
  std::vector<Lists> neighbours;            ///< [epoch][rank], mutual
  std::vector<Lists> strangers;             ///< [epoch][rank], at two hops

  [[nodiscard]] int n_epochs() const { return static_cast<int>(neighbours.size()); }
  [[nodiscard]] int n_ranks() const { return static_cast<int>(neighbours.front().size()); }
  /// Count the edges between neighbours in the first round.
  [[nodiscard]] std::size_t n_edges() const {
    std::size_t n = 0;
    for (const auto& list : neighbours.front()) n += list.size();
    return n / 2;
  }
  [[nodiscard]] bool has_strangers() const {
    return std::ranges::any_of(strangers, [](const Lists& lists) {
      return std::ranges::any_of(lists, [](const auto& list) { return !list.empty(); });
    });
  }
};

/// Neighbours of a round after the first.
enum class Next {
  grown,  ///< with the ranks discovered so far
  kept,   ///< the same as in the first round
};

/// List every script of `n_epochs` rounds over every connected graph of `n_ranks` <= 5 ranks and every set of messages
/// to strangers in each round. Of scripts that differ only in the numbering of ranks, one.
std::vector<Script> all_scripts(int n_ranks, int n_epochs, Next next);

/// Make rounds over a sparse random graph, not always connected, with random strangers. Neighbours change sometimes.
Script random_script(std::mt19937_64& random, int n_ranks, int n_epochs);

}  // namespace barrio::test
