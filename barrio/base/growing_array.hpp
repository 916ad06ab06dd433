#pragma once

/// @file Array that grows without copying: large ones move by remapping pages.

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace barrio {

namespace detail {
/// Resize a block from `old_bytes` to `new_bytes`. Small blocks come from malloc; large ones have pages of their own,
/// which move without being copied. @return null if memory is exhausted; the block is unchanged then
[[nodiscard]] void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept;
void free_block(void* block, std::size_t n_bytes) noexcept;
/// Reserve bytes in the account of this thread, if it has one: see MemoryGrowth. @throws as MemoryAccount::reserve
void reserve_growth(std::uint64_t n_bytes);
/// Subtract bytes that an array no longer has from what was reserved.
void end_growth(std::uint64_t n_bytes) noexcept;
}  // namespace detail

/// Contiguous array of any number of items. It grows by an eighth. Where the system can, the memory of large arrays
/// moves by remapping pages, not by copying, so it never exists twice. Memory that was never written takes no space.
/// Items are plain data; new ones are not initialised. It grows within a MemoryAccount, if its thread has one.
template <class T>
  requires std::is_trivially_copyable_v<T>
class GrowingArray {
 public:
  GrowingArray() = default;
  GrowingArray(GrowingArray&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() {
    if (capacity_ == 0) return;
    detail::free_block(items_, capacity_ * sizeof(T));
    detail::end_growth(capacity_ * sizeof(T));
  }

  /// Return the number of items; the memory may hold more.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Tell whether there are no items.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Return the address of the first item, null without memory; valid until the array grows or shrinks.
  [[nodiscard]] T* data() noexcept { return items_; }
  /// Return the address of the first item to read; as above.
  [[nodiscard]] const T* data() const noexcept { return items_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return items_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  /// Return the items in use to read; valid until the array grows or shrinks.
  [[nodiscard]] std::span<const T> items() const noexcept { return {items_, size_}; }
  /// Return the items in use; as above.
  [[nodiscard]] std::span<T> items() noexcept { return {items_, size_}; }

  /// Reserve room for `capacity` items. @throws std::bad_alloc; as MemoryAccount::reserve, where this thread has an
  /// account of memory (MemoryGrowth). The array is unchanged then
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
    const std::uint64_t n_more = (capacity - capacity_) * sizeof(T);
    detail::reserve_growth(n_more);
    if (change_capacity(capacity)) return;
    detail::end_growth(n_more);
    throw std::bad_alloc();
  }
  /// Resize to `size` items; new ones are not initialised.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(grown(size));
    size_ = size;
  }
  /// Add an item after the last; it may lie in this array. @throws as reserve()
  void push_back(const T& item) {
    const T copy = item;  // the item may lie in this array
    if (size_ == capacity_) reserve(grown(size_ + 1));
    items_[size_++] = copy;
  }
  /// Release unused capacity.
  void shrink_to_fit() noexcept {
    const std::size_t before = capacity_;
    if (size_ < capacity_ && change_capacity(size_)) detail::end_growth((before - capacity_) * sizeof(T));
  }
  /// Count the bytes reserved, in use or not.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return std::uint64_t{capacity_} * sizeof(T); }

 private:
  bool change_capacity(std::size_t capacity) noexcept {
    void* moved = detail::resize_block(items_, capacity_ * sizeof(T), capacity * sizeof(T));
    if (moved == nullptr && capacity > 0) return false;
    items_ = static_cast<T*>(moved);
    capacity_ = capacity;
    return true;
  }
  [[nodiscard]] std::size_t grown(std::size_t least) const noexcept {
    const std::size_t more = capacity_ + capacity_ / 8 + 64;
    return more < least ? least : more;
  }

  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace barrio
