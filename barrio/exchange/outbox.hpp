#pragma once

/// @file Records of 64-bit words, collected per destination rank and read back word by word.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/exchange/router.hpp"

namespace barrio::exchange {

/// Records of varying length, of 64-bit words, for several ranks. Records for one rank keep their order.
class Outbox {
 public:
  /// Begin a record to a rank: push its words to the returned vector, before the next call.
  std::vector<std::int64_t>& begin(Rank to) {
    to_.push_back(to);
    first_.push_back(words_.size());
    return words_;
  }

  /// Return the records, grouped by rank. Cost: that of `order_by_rank` for the number of records, and one copy of the
  /// words.
  [[nodiscard]] Parcels<std::int64_t> parcels() const {
    Parcels<std::int64_t> out;
    out.items.reserve(words_.size());
    for (const std::size_t i : order_by_rank(to_)) {
      if (out.peers.empty() || out.peers.back() != to_[i]) {
        out.peers.push_back(to_[i]);
        out.offsets.push_back(out.items.size());
      }
      const std::size_t end = i + 1 < first_.size() ? first_[i + 1] : words_.size();
      const auto record = std::span(words_).subspan(first_[i], end - first_[i]);
      out.items.insert(out.items.end(), record.begin(), record.end());
      out.offsets.back() = out.items.size();
    }
    return out;
  }

 private:
  std::vector<Rank> to_;
  std::vector<std::size_t> first_;  // in words_
  std::vector<std::int64_t> words_;
};

/// Reader of such records, word by word, in the order they were written.
class WordReader {
 public:
  /// Read words from the first one on. @param words  borrowed
  explicit WordReader(std::span<const std::int64_t> words) : words_(words) {}
  /// Take the next word. @pre !done()
  std::int64_t get() { return words_[at_++]; }
  /// Take the next word as a global id.
  GlobalId get_id() { return GlobalId{get()}; }
  /// Take the next word as a double with the same bits.
  double get_double() { return std::bit_cast<double>(get()); }
  /// Take the next `n` words, in place. @pre there are as many
  std::span<const std::int64_t> get(std::size_t n) {
    at_ += n;
    return words_.subspan(at_ - n, n);
  }
  /// Tell whether all words were taken.
  [[nodiscard]] bool done() const noexcept { return at_ == words_.size(); }

 private:
  std::span<const std::int64_t> words_;
  std::size_t at_ = 0;
};

}  // namespace barrio::exchange
