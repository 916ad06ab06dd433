#pragma once

/// @file Sets of ranks, each stored once under a small number.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/ragged.hpp"

namespace barrio::mesh {

/// Sets of ranks, each stored once under a small number. Entities with the same sharers refer to one set, so memory
/// grows with the number of distinct sets, not of entities. All members are local.
class RankSets {
 public:
  /// Add a set if it is new, and return its number.
  /// @param[in] ranks  ascending, without repetition
  /// Cost: O(size of the set).
  std::int32_t add(std::span<const Rank> ranks);

  /// Return the number of distinct sets.
  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::span<const Rank> operator[](std::size_t set) const& noexcept { return ranks_[set]; }
  std::span<const Rank> operator[](std::size_t) const&& = delete;

  /// Return the ranks of all sets except one rank, ascending, without repetition.
  [[nodiscard]] std::vector<Rank> all_but(Rank one) const;
  /// Return the bytes of the sets and of their hash table.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  void grow();
  Ragged<Rank, std::uint32_t> ranks_;
  std::vector<std::int32_t> table_;  // open addressing by hash, -1 is free
};

}  // namespace barrio::mesh
