#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// The permutation that sorts ids, found by merging their ascending runs: in a mesh those of a group of vertices, or of
/// one owner. Local. Cost: O(n log runs), or that of a sort for many runs
[[nodiscard]] std::vector<std::int32_t> order_of_runs(std::span<const GlobalId> ids);

}  // namespace barrio::mesh::detail
