#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/rank_sets.hpp"

namespace barrio::mesh::detail {

/// Ranks that will use each of some entities. Most entities have one user, and the same few sets of users recur, so
/// each entity holds the number of a set. All members are local.
class Users {
 public:
  Users() = default;
  explicit Users(std::size_t n) : set_of_(n, -1) {}

  /// Return the number of the set of one rank, for `add`.
  std::int32_t alone(Rank rank) { return sets_.add({&rank, 1}); }
  /// Add a user to an entity.
  /// @param alone  of the rank
  /// Cost: O(1) if the rank is among the users
  void add(std::size_t at, std::int32_t alone, Rank rank) {
    std::int32_t& set = set_of_[at];
    if (set == alone) return;
    set = set < 0 ? alone : with(set, rank);
  }
  [[nodiscard]] std::size_t size() const noexcept { return set_of_.size(); }
  /// Return the number of the users' set, -1 without users.
  [[nodiscard]] std::int32_t set_of(std::size_t at) const { return set_of_[at]; }
  /// Return the users, ascending.
  /// @pre there are some
  [[nodiscard]] std::span<const Rank> of(std::size_t at) const& { return sets_[set_of_[at]]; }
  [[nodiscard]] const RankSets& sets() const& noexcept { return sets_; }

 private:
  std::int32_t with(std::int32_t set, Rank rank) {
    const std::span<const Rank> ranks = sets_[set];
    const auto place = std::ranges::lower_bound(ranks, rank);
    if (place != ranks.end() && *place == rank) return set;
    more_.assign(ranks.begin(), place);
    more_.push_back(rank);
    more_.insert(more_.end(), place, ranks.end());
    return sets_.add(more_);
  }

  std::vector<std::int32_t> set_of_;
  RankSets sets_;
  std::vector<Rank> more_;
};

}  // namespace barrio::mesh::detail
