#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace barrio {

/// Hold items side by side, as many as will come. It grows by an eighth, and the memory of large arrays is moved by
/// exchanging pages, where the system can, not by copying: so that there is never twice of it, and what has not been
/// written takes no memory. Items are plain data, and those that are new are not initialised.
template <class T>
  requires std::is_trivially_copyable_v<T>
class GrowingArray {
 public:
  GrowingArray() = default;
  GrowingArray(GrowingArray&& other) noexcept
      : items_(std::move(other.items_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    items_ = std::move(other.items_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return items_.get(); }
  [[nodiscard]] const T* data() const noexcept { return items_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return items_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return items_.get()[i]; }
  [[nodiscard]] std::span<const T> items() const noexcept { return {items_.get(), size_}; }
  [[nodiscard]] std::span<T> items() noexcept { return {items_.get(), size_}; }

  /// Make room. @throws std::bad_alloc with the array as it was
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
    // plain data: realloc moves it, and large blocks by pages
    void* moved = std::realloc(static_cast<void*>(items_.get()), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(items_.release());
    items_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }
  /// Change the number of items; those that are new have any value.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(grown(size));
    size_ = size;
  }
  void push_back(const T& item) {
    const T copy = item;  // which may lie in here
    if (size_ == capacity_) reserve(grown(size_ + 1));
    items_.get()[size_++] = copy;
  }
  /// Give back what is not used.
  void shrink_to_fit() {
    if (size_ == capacity_) return;
    if (size_ == 0) {
      items_.reset();
      capacity_ = 0;
      return;
    }
    void* moved = std::realloc(static_cast<void*>(items_.get()), size_ * sizeof(T));
    if (moved == nullptr) return;
    static_cast<void>(items_.release());
    items_.reset(static_cast<T*>(moved));
    capacity_ = size_;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return std::uint64_t{capacity_} * sizeof(T); }

 private:
  struct Free {
    void operator()(T* items) const noexcept { std::free(static_cast<void*>(items)); }
  };
  [[nodiscard]] std::size_t grown(std::size_t least) const noexcept {
    const std::size_t more = capacity_ + capacity_ / 8 + 64;
    return more < least ? least : more;
  }

  std::unique_ptr<T[], Free> items_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace barrio
