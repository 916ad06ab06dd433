#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// The key of a side, the same on every rank whichever corner comes first: its corners ascending, padded with -1.
/// A face with more than four has its three lowest, and a hash of all, which is below -1.
using SideKey = std::array<GlobalId, 4>;

/// @param[in] corners  without repetition
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
  key[3] = GlobalId{-2 - static_cast<std::int64_t>(hash.value() >> 2U)};
  return key;
}

}  // namespace barrio::mesh::detail
