#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Distinct set memberships of the vertices, faces or cells of all ranks. Each has a number that is the same on all
/// ranks; tetrahedra carry it through all changes.
class SetMemberships {
 public:
  /// Add a membership, unless it was added before. Local, before `agree`. @param[in] sets  ascending
  /// @return its place among those added
  std::size_t add(std::span<const std::int32_t> sets);
  /// Number the memberships of all ranks, from `first`. Collective. @return number of each, by the result of `add`
  /// @throws AgreedError{usage} for more than 32 000
  std::vector<std::uint16_t> agree(mpi::Context& context, std::uint16_t first);
  /// Return the sets of a membership. @param number  as `agree` gave it
  [[nodiscard]] std::span<const std::int32_t> sets_of(std::size_t number) const noexcept {
    return number < first_ || number - first_ >= sets_.size() ? std::span<const std::int32_t>()
                                                              : sets_[number - first_];
  }
  /// Return those of all ranks, ascending. @pre `agree` was called
  [[nodiscard]] const std::vector<std::vector<std::int32_t>>& all() const noexcept { return sets_; }
  [[nodiscard]] bool is_known(std::size_t number) const noexcept {
    return number >= first_ && number - first_ < sets_.size();
  }

 private:
  std::vector<std::vector<std::int32_t>> sets_;
  std::size_t first_ = 0;
};

}  // namespace barrio::adapt::detail
