#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace barrio::mobile::detail {

/// Bytes that grow at the end, aligned to words and, unlike a vector's, uninitialised at first.
class ByteQueue {
 public:
  ByteQueue() = default;
  ByteQueue(ByteQueue&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ByteQueue& operator=(ByteQueue&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  /// Append room. @return valid until the next call
  std::byte* append(std::size_t n_bytes) {
    if (size_ + n_bytes > capacity_) [[unlikely]]
      grow(size_ + n_bytes);
    return bytes_.get() + std::exchange(size_, size_ + n_bytes);
  }
  [[nodiscard]] bool has_room(std::size_t n_bytes) const noexcept { return size_ + n_bytes <= capacity_; }
  /// Append where there is room. @pre has_room(n_bytes)
  std::byte* append_inside(std::size_t n_bytes) noexcept {
    return bytes_.get() + std::exchange(size_, size_ + n_bytes);
  }
  /// Forget the contents, and the memory if it is large.
  void clear() noexcept {
    constexpr std::size_t max_kept = 64U << 10U;
    size_ = 0;
    if (capacity_ > max_kept) *this = {};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  void grow(std::size_t n_bytes) {
    const std::size_t capacity = std::max({n_bytes, 2 * capacity_, std::size_t{64}});
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace barrio::mobile::detail
