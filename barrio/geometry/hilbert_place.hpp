#pragma once

/// @file Position of a grid cell along the Hilbert curve.

#include <cstdint>
#include <span>

namespace barrio::geometry {

/// Compute the position of a cell of a regular grid along the Hilbert curve through the grid. Local.
/// Cells at consecutive positions share a side. The leading n * k bits of a position are the position of the
/// enclosing cell in the coarser grid with 2^k cells a side.
/// @param[in] cell  n = 1, 2 or 3 coordinates, each below 2^n_bits
/// @param n_bits  > 0, n * n_bits <= 64
std::uint64_t hilbert_place(std::span<const std::uint64_t> cell, int n_bits) noexcept;

}  // namespace barrio::geometry
