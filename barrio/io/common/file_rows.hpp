#pragma once

#include <algorithm>
#include <cstdint>

#include "barrio/base/slabs.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::io::detail {

/// Return the rows of a rank's slab.
inline files::Rows slab_of(const Slabs& slabs, Rank rank) {
  return {slabs.first(rank), slabs.first(rank + 1) - slabs.first(rank)};
}

/// Return those of `rows` in the run of `n` rows from `first`, counted from `first`; possibly none.
inline files::Rows overlap(files::Rows rows, std::int64_t first, std::int64_t n) {
  const std::int64_t begin = std::clamp<std::int64_t>(rows.first - first, 0, n);
  const std::int64_t end = std::clamp<std::int64_t>(rows.first + rows.count - first, 0, n);
  return {begin, end - begin};
}

}  // namespace barrio::io::detail
