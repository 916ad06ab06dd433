#pragma once

/// @file Ask the system for large pages under big arrays.

#include <cstddef>

namespace barrio {

/// Size of the system's large pages, where it has them.
inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20U;

/// Ask for large pages under the part of some memory that whole ones fit into. Large data with scattered access then
/// needs few TLB entries. Local; a hint, which does nothing where the system has no large pages.
void prefer_large_pages(void* begin, std::size_t n_bytes) noexcept;

}  // namespace barrio
