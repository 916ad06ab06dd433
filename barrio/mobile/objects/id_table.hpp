#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "barrio/mobile/mobile_ptr.hpp"

namespace barrio::mobile::detail {

/// Table that finds what belongs to the name of an object in constant time.
template <class T>
class IdTable {
 public:
  /// Return what belongs to a name; null if the name is not there, or not set.
  [[nodiscard]] T* find(ObjectId id) const noexcept {
    const Entry* const entries = entries_.data();
    for (std::size_t at = first(id);; at = next(at)) {
      if (entries[at].word == id.word()) [[likely]]
        return entries[at].item;
      if (entries[at].word == 0) return nullptr;
    }
  }
  /// Return what belongs to a name, if it stands in the first place where it may be; else null.
  [[nodiscard]] T* find_at_once(ObjectId id) const noexcept {
    const Entry& entry = entries_.data()[first(id)];
    return entry.word == id.word() ? entry.item : nullptr;
  }
  /// Add a name that is not there. @pre it is set
  void add(ObjectId id, T* item) {
    if (2 * ++n_ > entries_.size()) grow();
    put({id.word(), item});
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
    T* item = nullptr;
  };
  [[nodiscard]] std::size_t first(ObjectId id) const noexcept {
    return ((id.word() * 0x9E3779B97F4A7C15U) >> 32U) & mask_;
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }
  void put(const Entry& entry) noexcept {
    std::size_t at = first(ObjectId::of_word(entry.word));
    while (entries_[at].word != 0) at = next(at);
    entries_[at] = entry;
  }
  void grow() {
    const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(4 * entries_.size()));
    mask_ = entries_.size() - 1;
    for (const Entry& entry : before)
      if (entry.word != 0) put(entry);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(16);
  std::size_t mask_ = 15;
  std::size_t n_ = 0;
};

}  // namespace barrio::mobile::detail
