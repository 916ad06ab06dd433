#pragma once

#include <cstdint>
#include <span>

namespace barrio::geometry {

/// Find the place of a cell of a regular grid on the Hilbert curve through the grid. Local.
/// Consecutive places are cells with a common side, and the first n * k bits of a place are that of the cell of 2^k
/// cells a side that it lies in.
/// @param[in] cell  n = 1, 2 or 3 coordinates, each below 2^n_bits
/// @param n_bits  > 0, n * n_bits <= 64
std::uint64_t hilbert_place(std::span<const std::uint64_t> cell, int n_bits) noexcept;

}  // namespace barrio::geometry
