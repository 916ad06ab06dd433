#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"

namespace barrio::mobile::detail {

/// Counts by words that are not 0, such as the names of objects.
class WordCounts {
 public:
  struct Entry {
    std::uint64_t word;  // 0: a free place
    std::uint64_t n;
  };
  /// Return the count of a word, 0 at first, and raise it by one.
  std::uint64_t next(std::uint64_t word) { return place_of(word).n++; }
  /// Return the count of a word; it may be raised.
  std::uint64_t& operator[](std::uint64_t word) { return place_of(word).n; }
  void clear() noexcept {
    constexpr std::size_t max_kept = 64;
    if (entries_.size() > max_kept)
      entries_ = {};
    else
      entries_.clear();
    n_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }
  /// Call `visit(word, n)` for each, in any order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Entry& entry : entries_)
      if (entry.word != 0) visit(entry.word, entry.n);
  }

 private:
  Entry& place_of(std::uint64_t word) {
    if (2 * (n_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[find(word)];
    if (entry.word == 0) {
      entry.word = word;
      n_ += 1;
    }
    return entry;
  }
  [[nodiscard]] std::size_t find(std::uint64_t word) const noexcept {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = mix64(word) & mask;
    while (entries_[at].word != 0 && entries_[at].word != word) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    constexpr std::size_t least = 4;
    const std::vector<Entry> before =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? least : 2 * entries_.size()));
    for (const Entry& entry : before)
      if (entry.word != 0) entries_[find(entry.word)] = entry;
  }
  std::vector<Entry> entries_;
  std::size_t n_ = 0;
};

}  // namespace barrio::mobile::detail
