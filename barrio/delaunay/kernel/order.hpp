#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Order in which points are inserted: rounds of which each has four times as many points as the one before, chosen by
/// chance, and in a round along a Hilbert curve. So each point lies near the last one, and no order of the input
/// makes the work grow faster than n log n. Source: Amenta, Choi and Rote 2003
[[nodiscard]] std::vector<std::int32_t> insertion_order(std::span<const Point> points);

}  // namespace barrio::delaunay::detail
