#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "benchmarks/exchange/tile_graph.hpp"

namespace barrio::bench {

/// Who writes to whom. `ring`: the ranks before and after. `tile`: Ovcharenko et al. 2012, figure 9. `meet`: `tile`,
/// and in each round each rank writes to one or two ranks besides that are neighbours of its neighbours but not its
/// own; on fewer than 16 ranks, which make no tile, on the ring. `cube`: the 26 around a rank in a periodic grid of
/// three dimensions, or as many as there are. `all`: all others.
/// A rank finds all of it from its number, the number of ranks and the seed.
class Pattern {
 public:
  static const std::vector<std::string>& names();

  /// @throws AgreedError{usage} for `tile` on fewer than 16 ranks
  Pattern(std::string name, Rank rank, int n_ranks, std::uint64_t seed = 0);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool has_strangers() const noexcept { return name_ == "meet"; }
  /// Mutual, ascending.
  [[nodiscard]] const std::vector<Rank>& neighbours() const& noexcept { return neighbours_; }
  /// Ranks that this rank writes to in a round beside its neighbours, ascending.
  [[nodiscard]] std::vector<Rank> strangers_to(std::uint64_t round) const { return strangers_of(rank_, round); }
  /// Ranks whose stranger this rank is in a round, ascending. Cost: O(degree^4)
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
