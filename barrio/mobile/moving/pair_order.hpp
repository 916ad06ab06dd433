#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/mobile/moving/word_counts.hpp"

namespace barrio::mobile::detail {

/// Numbers of the messages between an object and others: those of one sender are handed on in the order of sending,
/// whichever ways they took while either of the two moved. It moves with the object. Pure.
class PairOrder {
 public:
  /// Message that has come before one that was sent earlier.
  struct Early {
    std::uint64_t from;
    std::uint64_t number;
    std::uint64_t head;  // second word of its MessageHead
    std::vector<std::byte> bytes;
  };
  /// Return the number of the next message to an object.
  std::uint64_t next_to(std::uint64_t to) { return sent_.next(to); }
  /// Tell whether a message is the next of its sender; it is counted then.
  [[nodiscard]] bool is_next(std::uint64_t from, std::uint64_t number) {
    std::uint64_t& n = received_[from];
    if (n != number) return false;
    n += 1;
    return true;
  }
  /// Return the number of the message of a sender that is to come next.
  [[nodiscard]] std::uint64_t expected(std::uint64_t from) { return received_[from]; }
  /// Keep a message until those before it have come. @return place for its bytes, valid until the next call
  std::byte* keep(std::uint64_t from, std::uint64_t number, std::uint64_t head, std::size_t n_bytes) {
    early_.push_back({from, number, head, std::vector<std::byte>(n_bytes)});
    return early_.back().bytes.data();
  }
  /// Hand on the messages of a sender that are no longer early. @param take  called with each Early, in order
  template <class Take>
  void release(std::uint64_t from, Take&& take) {
    for (std::size_t i = 0; i < early_.size();) {
      if (early_[i].from != from || !is_next(from, early_[i].number)) {
        i += 1;
        continue;
      }
      const Early one = std::move(early_[i]);
      early_[i] = std::move(early_.back());
      early_.pop_back();
      take(one);
      i = 0;
    }
  }
  void clear() noexcept {
    sent_.clear();
    received_.clear();
    early_.clear();
  }
  [[nodiscard]] const WordCounts& sent() const noexcept { return sent_; }
  [[nodiscard]] const WordCounts& received() const noexcept { return received_; }
  [[nodiscard]] const std::vector<Early>& early() const noexcept { return early_; }
  [[nodiscard]] WordCounts& sent() noexcept { return sent_; }
  [[nodiscard]] WordCounts& received() noexcept { return received_; }

 private:
  WordCounts sent_;      // to each object
  WordCounts received_;  // from each object or program, and handed on
  std::vector<Early> early_;
};

}  // namespace barrio::mobile::detail
