#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Distinct memberships of the faces or cells of all ranks, each known by a number that is the same everywhere: what a
/// tetrahedron carries through all changes.
class SetMemberships {
 public:
  /// The number that a membership gets. Local, before `agree`. @param[in] sets  ascending
  std::size_t add(std::span<const std::int32_t> sets);
  /// Number all memberships alike. Collective. @return number of each added one, by what `add` returned
  /// @throws AgreedError{usage} for more than 32 000
  std::vector<std::uint16_t> agree(mpi::Context& context, std::uint16_t first);
  /// Return the sets of a membership. @param number  as `agree` gave it
  [[nodiscard]] std::span<const std::int32_t> sets_of(std::size_t number) const noexcept {
    return number < first_ || number - first_ >= sets_.size() ? std::span<const std::int32_t>()
                                                              : sets_[number - first_];
  }
  [[nodiscard]] bool is_known(std::size_t number) const noexcept {
    return number >= first_ && number - first_ < sets_.size();
  }

 private:
  std::vector<std::vector<std::int32_t>> sets_;
  std::size_t first_ = 0;
};

}  // namespace barrio::adapt::detail
