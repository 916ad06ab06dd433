#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "barrio/mobile/mobile_ptr.hpp"

namespace barrio::mobile::detail {

/// Table that finds the place of an object by its name in constant time.
class IdTable {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] std::uint32_t find(ObjectId id) const noexcept {
    const Entry* const entries = entries_.data();
    for (std::size_t at = first(id);; at = (at + 1) & mask_) {
      if (entries[at].word == id.word()) [[likely]]
        return entries[at].place;
      if (entries[at].word == 0) return none;
    }
  }
  /// Add a name that is not there.
  void add(ObjectId id, std::uint32_t place) {
    if (2 * ++n_ > entries_.size()) grow();
    put({id.word(), place});
  }
  /// Remove a name that is there.
  void remove(ObjectId id) noexcept {
    std::size_t hole = first(id);
    while (entries_[hole].word != id.word()) hole = next(hole);
    n_ -= 1;
    // entries behind the hole move up, unless they would come before their first place
    for (std::size_t at = next(hole); entries_[at].word != 0; at = next(at)) {
      const std::size_t wanted = first(ObjectId::of_word(entries_[at].word));
      const bool may_move = ((at - wanted) & mask_) >= ((at - hole) & mask_);
      if (!may_move) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
  }

 private:
  struct Entry {
    std::uint64_t word = 0;
    std::uint32_t place = none;
  };
  [[nodiscard]] std::size_t first(ObjectId id) const noexcept { return (id.word() * 0x9E3779B97F4A7C15U) >> shift_; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }
  void put(const Entry& entry) noexcept {
    std::size_t at = first(ObjectId::of_word(entry.word));
    while (entries_[at].word != 0) at = next(at);
    entries_[at] = entry;
  }
  void grow() {
    const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(4 * entries_.size()));
    mask_ = entries_.size() - 1;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(entries_.size()));
    for (const Entry& entry : before)
      if (entry.word != 0) put(entry);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(16);
  std::size_t mask_ = 15;
  unsigned shift_ = 60;
  std::size_t n_ = 0;
};

}  // namespace barrio::mobile::detail
