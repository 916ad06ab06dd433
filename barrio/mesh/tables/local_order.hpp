#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mesh/owners.hpp"

namespace barrio::mesh::detail {

/// The local order of entities: interior, fringe, copies by owner; each group in the given order. Local.
struct LocalOrder {
  std::vector<std::int32_t> places;
  std::size_t n_interior = 0;
  std::size_t n_owned = 0;
  Owners owners;

  /// Cost: O(n) and a sort of the copies. @param given  places of all entities @param owner_of  owner of a place
  /// @param is_interior  called for owned places only
  template <std::ranges::input_range Places, class OwnerOf, class IsInterior>
  LocalOrder(Rank me, std::size_t n, Places&& given, OwnerOf&& owner_of, IsInterior&& is_interior) {
    std::vector<std::int32_t> fringe;
    std::vector<std::int32_t> copies;
    places.reserve(n);
    for (const std::int32_t place : given) {
      if (owner_of(place) != me) {
        copies.push_back(place);
      } else {
        (is_interior(place) ? places : fringe).push_back(place);
      }
    }
    n_interior = places.size();
    places.insert(places.end(), fringe.begin(), fringe.end());
    n_owned = places.size();
    owners = Owners(me, n_owned);
    std::ranges::stable_sort(copies, {}, owner_of);
    for (const std::int32_t place : copies) owners.add(owner_of(place), 1);
    places.insert(places.end(), copies.begin(), copies.end());
  }
};

}  // namespace barrio::mesh::detail
