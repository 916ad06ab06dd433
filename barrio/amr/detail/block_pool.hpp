#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace barrio::amr::detail {

/// Room for the values of blocks, all of one size; what is given back is used again. Lines of the cache begin with it.
class BlockPool {
 public:
  explicit BlockPool(std::size_t block_bytes) : block_bytes_((block_bytes + alignment - 1) / alignment * alignment) {}

  [[nodiscard]] std::byte* take() {
    if (free_.empty()) {
      chunks_.emplace_back(static_cast<std::byte*>(::operator new(blocks_a_chunk * block_bytes_, align)));
      for (std::size_t i = blocks_a_chunk; i-- > 0;) free_.push_back(chunks_.back().get() + i * block_bytes_);
    }
    std::byte* const block = free_.back();
    free_.pop_back();
    return block;
  }
  void give_back(std::byte* block) { free_.push_back(block); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return chunks_.size() * blocks_a_chunk * block_bytes_; }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::align_val_t align{alignment};
  static constexpr std::size_t blocks_a_chunk = 8;
  struct Release {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, align); }
  };
  std::size_t block_bytes_;
  std::vector<std::unique_ptr<std::byte, Release>> chunks_;
  std::vector<std::byte*> free_;
};

}  // namespace barrio::amr::detail
