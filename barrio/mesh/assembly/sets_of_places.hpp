#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ragged.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh::detail {

/// Sets that contain each of some places, from runs. Cost: O(runs log places), and a sort of the memberships.
class SetsOfPlaces {
 public:
  SetsOfPlaces() = default;
  /// @param places  ascending, distinct; borrowed
  SetsOfPlaces(std::span<const SetRun> runs, std::span<const std::int32_t> places) : places_(places) {
    if (runs.empty()) return;
    struct Member {
      std::ptrdiff_t at;
      std::int32_t set;
      auto operator<=>(const Member&) const = default;
    };
    std::vector<Member> members;
    for (const SetRun& run : runs) {
      auto at = std::ranges::lower_bound(places, run.first);
      for (; at != places.end() && *at < run.first + run.count; ++at) members.push_back({at - places.begin(), run.set});
    }
    std::ranges::sort(members);
    sets_ = Ragged<std::int32_t>::grouped(places.size(), [&](auto&& put) {
      for (const Member& member : members) put(member.at, member.set);
    });
  }
  /// Return the sets of a place.
  /// @pre the place is one of those given
  [[nodiscard]] std::span<const std::int32_t> of(std::int32_t place) const {
    if (sets_.items().empty()) return {};
    const std::size_t i = std::ranges::lower_bound(places_, place) - places_.begin();
    return sets_[i];
  }

 private:
  std::span<const std::int32_t> places_;
  Ragged<std::int32_t> sets_;  // by place in places_
};

}  // namespace barrio::mesh::detail
