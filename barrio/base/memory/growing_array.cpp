#include "barrio/base/growing_array.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace barrio::detail {
namespace {

#ifdef __linux__
/// Smallest block with pages of its own: malloc would keep some memory for itself, and copy when it grows.
constexpr std::size_t min_paged = std::size_t{1} << 20U;

bool is_paged(std::size_t n_bytes) noexcept { return n_bytes >= min_paged; }

/// Map new pages, or move and resize those of `old` if it has any. @return null if memory is exhausted
void* map_pages(void* old, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  void* const pages = is_paged(old_bytes)
                          ? ::mremap(old, old_bytes, new_bytes, MREMAP_MAYMOVE)
                          : ::mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}
#endif

}  // namespace

void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  if (new_bytes == 0) {
    free_block(block, old_bytes);
    return nullptr;
  }
#ifdef __linux__
  if (is_paged(new_bytes) && is_paged(old_bytes)) return map_pages(block, old_bytes, new_bytes);
  if (is_paged(new_bytes) || is_paged(old_bytes)) {
    void* const moved = is_paged(new_bytes) ? map_pages(nullptr, 0, new_bytes) : std::malloc(new_bytes);
    if (moved == nullptr) return nullptr;
    if (block != nullptr) std::memcpy(moved, block, std::min(old_bytes, new_bytes));
    free_block(block, old_bytes);
    return moved;
  }
#endif
  return std::realloc(block, new_bytes);
}

void free_block(void* block, std::size_t n_bytes) noexcept {
#ifdef __linux__
  if (is_paged(n_bytes)) {
    ::munmap(block, n_bytes);
    return;
  }
#endif
  std::free(block);
}

}  // namespace barrio::detail
