#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Compute the order in which points are inserted: in rounds of random points, each four times as large as the one
/// before, and along a Hilbert curve within a round. So each point lies near the last one, and no order of the input
/// makes the work grow faster than n log n. Source: Amenta, Choi and Rote 2003
[[nodiscard]] std::vector<std::int32_t> insertion_order(std::span<const Point> points);

}  // namespace barrio::delaunay::detail
