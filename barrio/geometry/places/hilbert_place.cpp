#include "barrio/geometry/hilbert_place.hpp"

#include <algorithm>
#include <array>

namespace barrio::geometry {
namespace {

/// Move bit b of a number to bit n * b.
std::uint64_t spread(std::uint64_t x, std::size_t n) noexcept {
  struct Step {
    unsigned shift;
    std::uint64_t mask;
  };
  if (n == 2) {
    for (const auto& [shift, mask] :
         {Step{16, 0x0000FFFF0000FFFFULL}, Step{8, 0x00FF00FF00FF00FFULL}, Step{4, 0x0F0F0F0F0F0F0F0FULL},
          Step{2, 0x3333333333333333ULL}, Step{1, 0x5555555555555555ULL}})
      x = (x | x << shift) & mask;
  }
  if (n == 3) {
    for (const auto& [shift, mask] :
         {Step{32, 0x001F00000000FFFFULL}, Step{16, 0x001F0000FF0000FFULL}, Step{8, 0x100F00F00F00F00FULL},
          Step{4, 0x10C30C30C30C30C3ULL}, Step{2, 0x1249249249249249ULL}})
      x = (x | x << shift) & mask;
  }
  return x;
}

}  // namespace

std::uint64_t hilbert_place(std::span<const std::uint64_t> cell, int n_bits) noexcept {
  const std::size_t n = cell.size();
  std::array<std::uint64_t, 3> x{};
  std::copy(cell.begin(), cell.end(), x.begin());
  // Undo the rotation that each level applies to the levels below it: a reflection of the first axis, or a swap with
  // it. The choice is unpredictable, so masks beat branches.
  for (int bit = n_bits - 1; bit > 0; --bit) {
    const std::uint64_t below = (std::uint64_t{1} << static_cast<unsigned>(bit)) - 1;
    for (std::size_t axis = 0; axis < n; ++axis) {
      const std::uint64_t is_set = std::uint64_t{0} - ((x[axis] >> static_cast<unsigned>(bit)) & 1U);
      const std::uint64_t differ = (x[0] ^ x[axis]) & below & ~is_set;
      x[0] ^= differ | (below & is_set);
      x[axis] ^= differ;
    }
  }
  // The result is a reflected Gray code, with the first axis as the highest bit of each level.
  std::uint64_t place = 0;
  for (std::size_t axis = 0; axis < n; ++axis) place |= spread(x[axis], n) << (n - 1 - axis);
  for (unsigned shift = 1; shift < 64; shift *= 2) place ^= place >> shift;
  return place;
}

}  // namespace barrio::geometry
