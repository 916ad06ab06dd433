#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "benchmarks/exchange/tile_graph.hpp"

namespace barrio::bench {

/// Communication patterns. `ring`: the ranks before and after. `tile`: Ovcharenko et al. 2012, figure 9. `meet`:
/// `tile`, and in each round each rank also writes to one or two ranks at distance two; on fewer than 16 ranks, which
/// make no tile, on the ring. `cube`: the 26 ranks around a rank in a periodic 3-D grid, or as many as there are.
/// `all`: all other ranks. A rank derives its pattern from its number, the number of ranks and the seed.
class Pattern {
 public:
  static const std::vector<std::string>& names();

  /// Make a pattern. @throws AgreedError{usage} for `tile` on fewer than 16 ranks
  Pattern(std::string name, Rank rank, int n_ranks, std::uint64_t seed = 0);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool has_strangers() const noexcept { return name_ == "meet"; }
  /// Return the neighbours: mutual, ascending.
  [[nodiscard]] const std::vector<Rank>& neighbours() const& noexcept { return neighbours_; }
  /// Return the ranks that this rank writes to in a round in addition to its neighbours, ascending.
  [[nodiscard]] std::vector<Rank> strangers_to(std::uint64_t round) const { return strangers_of(rank_, round); }
  /// Return the ranks that write to this rank as a stranger in a round, ascending. Cost: O(degree^4)
  [[nodiscard]] std::vector<Rank> strangers_from(std::uint64_t round) const;

 private:
  [[nodiscard]] std::vector<Rank> neighbours_of(Rank rank) const;
  [[nodiscard]] std::vector<Rank> around(Rank rank) const;
  [[nodiscard]] std::vector<Rank> two_away_from(Rank rank) const;
  [[nodiscard]] std::vector<Rank> strangers_of(Rank rank, std::uint64_t round) const;

  std::string name_;
  Rank rank_;
  int n_ranks_;
  std::uint64_t seed_;
  std::optional<TileGraph> tiles_;  ///< of tile and meet
  static constexpr int n_axes = 3;
  std::array<int, n_axes> sides_{};  ///< of the grid of ranks
  std::vector<Rank> neighbours_;
};

}  // namespace barrio::bench
