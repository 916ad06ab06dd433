#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "barrio/base/large_pages.hpp"

namespace barrio::amr::detail {

/// Memory for the values of blocks of one size, aligned to cache lines; released blocks are reused. It comes from the
/// system in chunks of two large pages, or of one block if that is larger.
class BlockPool {
 public:
  explicit BlockPool(std::size_t block_bytes)
      : block_bytes_((block_bytes + alignment - 1) / alignment * alignment),
        blocks_a_chunk_(std::max<std::size_t>(2 * large_page_bytes / std::max(block_bytes_, alignment), 1)),
        chunk_bytes_((blocks_a_chunk_ * block_bytes_ + large_page_bytes - 1) / large_page_bytes * large_page_bytes) {}

  [[nodiscard]] std::byte* take() {
    if (free_.empty()) {
      chunks_.emplace_back(static_cast<std::byte*>(::operator new(chunk_bytes_, align)));
      prefer_large_pages(chunks_.back().get(), chunk_bytes_);
      for (std::size_t i = blocks_a_chunk_; i-- > 0;) free_.push_back(chunks_.back().get() + i * block_bytes_);
    }
    std::byte* const block = free_.back();
    free_.pop_back();
    return block;
  }
  void release(std::byte* block) { free_.push_back(block); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return chunks_.size() * chunk_bytes_; }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::align_val_t align{large_page_bytes};
  struct Release {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, align); }
  };
  std::size_t block_bytes_;
  std::size_t blocks_a_chunk_;
  std::size_t chunk_bytes_;
  std::vector<std::unique_ptr<std::byte, Release>> chunks_;
  std::vector<std::byte*> free_;
};

}  // namespace barrio::amr::detail
