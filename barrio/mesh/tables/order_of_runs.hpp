#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// Find the permutation that sorts ids, by merging their ascending runs. In a mesh a run is a group of vertices or the
/// vertices of one owner. Local. Cost: O(n log runs), or that of a sort for many runs
[[nodiscard]] std::vector<std::int32_t> order_of_runs(std::span<const GlobalId> ids);

}  // namespace barrio::mesh::detail
