#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::test {

/// For each rank a list of ranks, ascending.
using Lists = std::vector<std::vector<Rank>>;

/// What happens in some rounds of one Neighborhood: who borders on whom, and who writes to which strangers.
struct Script {
  bool introduces = true;
  int n_packets = 1;                        ///< on each directed edge in each round, with the last one
  bool takes_passes_while_closing = false;  ///< which is wrong, see the test
  std::vector<Lists> neighbours;            ///< [epoch][rank], mutual
  std::vector<Lists> strangers;             ///< [epoch][rank], at two hops

  [[nodiscard]] int n_epochs() const { return static_cast<int>(neighbours.size()); }
  [[nodiscard]] int n_ranks() const { return static_cast<int>(neighbours.front().size()); }
  /// Between neighbours in the first round.
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

/// How a round begins that follows another one.
enum class Next {
  grown,  ///< who has met stays together
  kept,   ///< the neighbours of the first round again
};

/// Every script of `n_epochs` rounds over every connected graph of `n_ranks` <= 5 ranks and every set of messages to
/// strangers in each round; of scripts that are alike up to the numbering of ranks one.
std::vector<Script> all_scripts(int n_ranks, int n_epochs, Next next);

/// Rounds over a sparse random graph, not always connected, with random strangers; now and then the neighbours change
/// altogether.
Script random_script(std::mt19937_64& random, int n_ranks, int n_epochs);

}  // namespace barrio::test
