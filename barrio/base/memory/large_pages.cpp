#include "barrio/base/large_pages.hpp"

#include <sys/mman.h>

namespace barrio {

void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t n_bytes) noexcept {
#ifdef MADV_HUGEPAGE
  ::madvise(begin, n_bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace barrio
