#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace barrio::adapt::detail {

/// Memberships of vertices in sets, by number: the sets of each, ascending. Number 0 is that in no set; whatever two
/// memberships have in common has a number too. Local.
class NodeSets {
 public:
  using Number = std::uint16_t;
  NodeSets() = default;
  /// Construct from memberships, and add what any have in common.
  /// @param sets  ascending, each one ascending, the first one empty
  /// @throws AgreedError{usage} if there are more than 4 000 then
  explicit NodeSets(std::vector<std::vector<std::int32_t>> sets);

  /// Return the number of a membership that was given, or that two have in common.
  [[nodiscard]] Number number_of(const std::vector<std::int32_t>& sets) const;
  [[nodiscard]] const std::vector<std::int32_t>& sets_of(Number number) const { return sets_[number]; }
  /// Return the membership in the sets that both have.
  [[nodiscard]] Number common(Number a, Number b) const;
  /// Return a rank of a membership: by the number of its sets, then by its own number.
  [[nodiscard]] std::pair<std::size_t, Number> rank_of(Number number) const { return {sets_[number].size(), number}; }
  /// Tell whether `a` is in all sets that `b` is in.
  [[nodiscard]] bool has_all_of(Number a, Number b) const { return a == b || b == 0 || common(a, b) == b; }

 private:
  std::vector<std::vector<std::int32_t>> sets_;
};

}  // namespace barrio::adapt::detail
