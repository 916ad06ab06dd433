#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace barrio::exchange::detail {

/// Words of a packet, 8-byte aligned and, unlike a vector's, uninitialised: a buffer that is barely used touches little
/// memory.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t n_words)
      : words_(std::make_unique_for_overwrite<std::uint64_t[]>(n_words)), n_words_(n_words) {}
  Buffer(Buffer&& other) noexcept : words_(std::move(other.words_)), n_words_(std::exchange(other.n_words_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    words_ = std::move(other.words_);
    n_words_ = std::exchange(other.n_words_, 0);
    return *this;
  }

  [[nodiscard]] std::uint64_t* data() noexcept { return words_.get(); }
  [[nodiscard]] const std::uint64_t* data() const noexcept { return words_.get(); }
  [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(words_.get()); }
  [[nodiscard]] const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(words_.get()); }
  [[nodiscard]] std::size_t size() const noexcept { return n_words_; }

  /// Reserve room for `n_words`. The first `n_kept` keep their values.
  void reserve(std::size_t n_words, std::size_t n_kept) {
    if (n_words <= n_words_) return;
    Buffer larger(n_words);
    if (n_kept > 0) std::copy_n(data(), n_kept, larger.data());
    *this = std::move(larger);
  }

 private:
  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t n_words_ = 0;
};

}  // namespace barrio::exchange::detail
