#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::exchange::detail {

/// Table that finds the place of a rank among neighbours in constant time. Memory O(neighbours).
class RankTable {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  RankTable() { assign({}); }
  /// Fill the table. @param ranks  without repetition
  void assign(std::span<const Rank> ranks) {
    // At least half of the entries are empty, so a look-up ends after a step or two.
    const std::size_t n_entries = std::bit_ceil(2 * ranks.size() + 2);
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(n_entries));
    entries_.assign(n_entries, {-1, none});
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      std::size_t at = first_place(ranks[i]);
      while (entries_[at].rank >= 0) at = next_place(at);
      entries_[at] = {ranks[i], static_cast<std::uint32_t>(i)};
    }
  }

  /// Add a rank that is not there. Cost: constant on average; now and then the table is filled anew.
  /// @param ranks  those that are there, by place; the last one is the new one
  void add(std::span<const Rank> ranks) {
    if (2 * ranks.size() + 2 > entries_.size()) return assign(ranks);
    std::size_t at = first_place(ranks.back());
    while (entries_[at].rank >= 0) at = next_place(at);
    entries_[at] = {ranks.back(), static_cast<std::uint32_t>(ranks.size() - 1)};
  }

  /// Find a rank. @return its place, or `none`
  [[nodiscard]] std::uint32_t find(Rank rank) const noexcept {
    std::size_t at = first_place(rank);
    while (entries_[at].rank != rank && entries_[at].rank >= 0) at = next_place(at);
    return entries_[at].rank == rank ? entries_[at].place : none;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    Rank rank;
    std::uint32_t place;
  };
  [[nodiscard]] std::size_t first_place(Rank rank) const noexcept {
    // Neighbours in a grid differ by powers of two: the upper bits of a product spread them.
    const std::uint64_t product = static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) * 0x9E3779B97F4A7C15U;
    return product >> shift_;
  }
  [[nodiscard]] std::size_t next_place(std::size_t at) const noexcept { return (at + 1) & (entries_.size() - 1); }

  std::vector<Entry> entries_;
  unsigned shift_ = 63;
};

/// Return the table of a round that was moved from: empty.
inline const RankTable& no_channels() {
  static const RankTable none;
  return none;
}

}  // namespace barrio::exchange::detail
