#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh::detail {

/// The sets of some of the places that runs cover. Cost: O(runs log places), and a sort of the memberships of the
/// places.
class SetsOfPlaces {
 public:
  SetsOfPlaces() = default;
  /// @param places  ascending, different; borrowed
  SetsOfPlaces(std::span<const SetRun> runs, std::span<const std::int32_t> places)
      : places_(places), offsets_(places.size() + 1, 0) {
    if (runs.empty()) return;
    struct Member {
      std::size_t at;
      std::int32_t set;
      auto operator<=>(const Member&) const = default;
    };
    std::vector<Member> members;
    for (const SetRun& run : runs) {
      auto at = std::ranges::lower_bound(places, run.first);
      for (; at != places.end() && *at < run.first + run.count; ++at)
        members.push_back({static_cast<std::size_t>(at - places.begin()), run.set});
    }
    std::ranges::sort(members);
    for (const Member& member : members) {
      offsets_[member.at + 1] += 1;
      sets_.push_back(member.set);
    }
    for (std::size_t i = 0; i < places.size(); ++i) offsets_[i + 1] += offsets_[i];
  }
  /// @pre the place is one of those given
  [[nodiscard]] std::span<const std::int32_t> of(std::int32_t place) const {
    if (sets_.empty()) return {};
    const auto i = static_cast<std::size_t>(std::ranges::lower_bound(places_, place) - places_.begin());
    return std::span<const std::int32_t>(sets_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }

 private:
  std::span<const std::int32_t> places_;
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> sets_;
};

}  // namespace barrio::mesh::detail
