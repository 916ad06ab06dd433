#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barrio::delaunay::detail {

/// Make rows and pass them on in blocks that fit into a buffer.
/// @param make  appends row i to a vector @param put  takes the first row of a block and the contents of its rows
template <class T, class Make, class Put>
void buffered(std::int64_t n_rows, Make&& make, Put&& put) {
  constexpr std::int64_t max_rows = std::int64_t{1} << 16U;
  std::vector<T> buffer;
  for (std::int64_t first = 0; first < n_rows; first += max_rows) {
    buffer.clear();
    const std::int64_t end = std::min(first + max_rows, n_rows);
    for (std::int64_t i = first; i < end; ++i) make(i, buffer);
    put(first, std::span<const T>(buffer));
  }
}

}  // namespace barrio::delaunay::detail
