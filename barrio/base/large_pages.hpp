#pragma once

#include <cstddef>

namespace barrio {

/// What the system's large pages have, where it has them.
inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20U;

/// Ask for large pages under memory that begins and ends with one: data of many megabytes that is visited here and
/// there then needs few entries of the processor's table of pages. Local; a hint, nothing where the system has none.
void prefer_large_pages(void* begin, std::size_t n_bytes) noexcept;

}  // namespace barrio
