#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace barrio::mobile::detail {

struct ObjectRecord;

/// Objects that wait for their turns, first in, first out: a ring that doubles when it is full.
class ReadyQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return n_ == 0; }
  [[nodiscard]] ObjectRecord& front() const noexcept { return *ring_[first_]; }
  void push(ObjectRecord& object) {
    if (n_ == ring_.size()) [[unlikely]]
      grow();
    ring_[(first_ + n_++) & (ring_.size() - 1)] = &object;
  }
  /// @pre not empty
  ObjectRecord& pop() noexcept {
    ObjectRecord& object = *ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    n_ -= 1;
    return object;
  }
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// Return the object at a place, from the one whose turn is next.
  [[nodiscard]] ObjectRecord& operator[](std::size_t i) const noexcept {
    return *ring_[(first_ + i) & (ring_.size() - 1)];
  }
  /// Remove objects, in the order of the queue. @param leaves  called with (object, place)
  template <class Leaves>
  void remove_if(Leaves&& leaves) {
    const std::size_t n_before = std::exchange(n_, 0);
    for (std::size_t i = 0; i < n_before; ++i) {
      ObjectRecord& object = (*this)[i];
      if (!leaves(object, i)) ring_[(first_ + n_++) & (ring_.size() - 1)] = &object;
    }
  }
  void clear() noexcept { first_ = n_ = 0; }

 private:
  void grow() {
    std::vector<ObjectRecord*> larger(2 * ring_.size());
    for (std::size_t i = 0; i < n_; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    first_ = 0;
  }
  std::vector<ObjectRecord*> ring_ = std::vector<ObjectRecord*>(64);
  std::size_t first_ = 0;
  std::size_t n_ = 0;
};

}  // namespace barrio::mobile::detail
