#include "barrio/base/large_pages.hpp"

#include <sys/mman.h>

#include <memory>

namespace barrio {

void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t n_bytes) noexcept {
#ifdef MADV_HUGEPAGE
  void* first = begin;
  std::size_t space = n_bytes;
  if (std::align(large_page_bytes, large_page_bytes, first, space) == nullptr) return;
  ::madvise(first, space / large_page_bytes * large_page_bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace barrio
