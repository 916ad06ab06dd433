#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barrio::delaunay::detail {

/// Make rows and hand them on, so many at a time that a buffer suffices.
/// @param make  appends row i to a vector @param put  takes the first row and what was made
template <class T, class Make, class Put>
void buffered(std::size_t n_rows, Make&& make, Put&& put) {
  constexpr std::size_t max_rows = std::size_t{1} << 16U;
  std::vector<T> buffer;
  for (std::size_t first = 0; first < n_rows; first += max_rows) {
    buffer.clear();
    const std::size_t end = std::min(first + max_rows, n_rows);
    for (std::size_t i = first; i < end; ++i) make(i, buffer);
    put(static_cast<std::int64_t>(first), std::span<const T>(buffer));
  }
}

}  // namespace barrio::delaunay::detail
