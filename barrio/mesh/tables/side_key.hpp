#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// Key of a side, independent of its first corner and the same on every rank: its corners ascending, padded with -1.
/// The key of a face with more than four corners has the three lowest and a hash of all, which is below -1.
using SideKey = std::array<GlobalId, 4>;

/// Compute the key of a side. @param[in] corners  distinct
inline SideKey side_key(std::span<const GlobalId> corners) {
  SideKey key;
  key.fill(no_global_id);
  if (corners.size() <= key.size()) {
    std::ranges::copy(corners, key.begin());
    std::ranges::sort(key.begin(), key.begin() + corners.size());
    return key;
  }
  std::vector<GlobalId> sorted(corners.begin(), corners.end());
  std::ranges::sort(sorted);
  std::copy_n(sorted.begin(), 3, key.begin());
  Hash64 hash(sorted.size());
  for (const GlobalId corner : sorted) hash.add(barrio::value(corner));
  const std::int64_t of_all = hash.value() >> 2U;
  key[3] = GlobalId{-2 - of_all};
  return key;
}

}  // namespace barrio::mesh::detail
