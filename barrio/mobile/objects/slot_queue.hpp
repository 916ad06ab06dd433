#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barrio::mobile::detail {

/// Objects that wait for their turns, first in, first out: a ring that doubles when it is full.
class SlotQueue {
 public:
  using Slot = std::uint32_t;

  [[nodiscard]] bool empty() const noexcept { return n_ == 0; }
  [[nodiscard]] Slot front() const noexcept { return ring_[first_]; }
  void push(Slot slot) {
    if (n_ == ring_.size()) [[unlikely]]
      grow();
    ring_[(first_ + n_++) & (ring_.size() - 1)] = slot;
  }
  /// @pre not empty
  Slot pop() noexcept {
    const Slot slot = ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    n_ -= 1;
    return slot;
  }
  void clear() noexcept { first_ = n_ = 0; }

 private:
  void grow() {
    std::vector<Slot> larger(2 * ring_.size());
    for (std::size_t i = 0; i < n_; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    first_ = 0;
  }
  std::vector<Slot> ring_ = std::vector<Slot>(64);
  std::size_t first_ = 0;
  std::size_t n_ = 0;
};

}  // namespace barrio::mobile::detail
