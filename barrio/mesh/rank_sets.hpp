#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/ragged.hpp"

namespace barrio::mesh {

/// Sets of ranks, each held once and known by a small number. Entities that the same ranks share refer to one set, so
/// lists of ranks cost memory by the number of distinct sets, not of entities. Everything is local.
class RankSets {
 public:
  /// The number of a set; a new one if it was not known. @param[in] ranks  ascending, without repetition
  /// Cost: O(size of the set).
  std::int32_t add(std::span<const Rank> ranks);

  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::span<const Rank> operator[](std::int32_t set) const& noexcept { return ranks_[set]; }
  std::span<const Rank> operator[](std::int32_t) const&& = delete;

  /// All ranks of all sets but one, ascending, without repetition.
  [[nodiscard]] std::vector<Rank> all_but(Rank one) const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  void grow();
  Ragged<Rank, std::uint32_t> ranks_;
  std::vector<std::int32_t> table_;  // open addressing by hash, -1 is free
};

}  // namespace barrio::mesh
