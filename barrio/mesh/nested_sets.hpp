#pragma once

/// @file Sets that contain sets: the groups they form, and sets found by name.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Groups of sets by containment: sets that contain each other, directly or through others, form one group and have the
/// same members; any other set is a group of its own. Local. Cost: O(sets + links), without recursion.
/// Source: Tarjan 1972.
class NestedSets {
 public:
  /// Find the groups.
  /// @pre all contained sets exist
  explicit NestedSets(std::span<const SetInfo> sets);

  /// Return the number of groups; sets in no cycle count as one each.
  [[nodiscard]] std::size_t n_groups() const noexcept { return first_of_.size() - 1; }
  /// Return the sets of a group, ascending. A group contains only sets of itself and of groups with lower numbers.
  [[nodiscard]] std::span<const std::int32_t> group(std::size_t g) const& noexcept {
    return std::span(order_).subspan(first_of_[g], first_of_[g + 1] - first_of_[g]);
  }
  /// Return the number of the group that a set is in, 0 .. n_groups() - 1.
  [[nodiscard]] std::int32_t group_of(std::int32_t set) const noexcept { return group_of_[set]; }
  /// Return the sets that contain themselves, directly or through others, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& in_themselves() const& noexcept { return in_themselves_; }

 private:
  std::vector<std::int32_t> group_of_;
  std::vector<std::int32_t> order_;  // group after group
  std::vector<std::size_t> first_of_;
  std::vector<std::int32_t> in_themselves_;
};

/// Find sets by their names, or by kind and id ("material 3"), with the sets that they contain. All ranks find the
/// same. Local.
/// @param purpose  for the message: "ghosts of"
/// @return for each set whether it was found
/// @throws AgreedError{usage} for a name that no set has
std::vector<bool> named_sets(const std::vector<std::string>& names, std::span<const SetInfo> infos,
                             const std::string& purpose);

}  // namespace barrio::mesh
