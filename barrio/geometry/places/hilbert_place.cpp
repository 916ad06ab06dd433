#include "barrio/geometry/hilbert_place.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace barrio::geometry {
namespace {

/// Move bit b of a number to bit n * b.
std::uint64_t spread(std::uint64_t x, std::size_t n) noexcept {
  struct Step {
    unsigned shift;
    std::uint64_t mask;
  };
  if (n == 3) {
    for (const auto& [shift, mask] :
         {Step{32, 0x001F00000000FFFFULL}, Step{16, 0x001F0000FF0000FFULL}, Step{8, 0x100F00F00F00F00FULL},
          Step{4, 0x10C30C30C30C30C3ULL}, Step{2, 0x1249249249249249ULL}})
      x = (x | x << shift) & mask;
  }
  return x;
}

/// The place of a cell in two dimensions, a few levels at a time from the top. The levels above turn and reflect those
/// below them; a state stands for what they do: a swap of the axes, a reflection of each, and the parity of the place.
class PlanarSteps {
 public:
  static constexpr unsigned levels = 3;

  constexpr PlanarSteps() {
    for (unsigned state = 0; state < n_states; ++state)
      for (unsigned cell = 0; cell < n_cells; ++cell) entries_[state * n_cells + cell] = steps(state, cell);
  }
  /// Descend `levels` levels. @param x, y  the bits of these levels @param[in,out] state  0 at the top
  [[nodiscard]] constexpr std::uint64_t descend(std::uint64_t x, std::uint64_t y, unsigned& state) const noexcept {
    const Entry entry = entries_[state * n_cells + (x << levels | y)];
    state = entry.state;
    return entry.place;
  }

 private:
  static constexpr unsigned n_states = 16;
  static constexpr unsigned n_cells = 1U << (2 * levels);
  struct Entry {
    unsigned place;
    unsigned state;
  };

  /// Descend level by level, as `hilbert_place` does in any dimension.
  static constexpr Entry steps(unsigned state, unsigned cell) noexcept {
    unsigned swaps = state & 1U;
    unsigned reflects_x = (state >> 1U) & 1U;
    unsigned reflects_y = (state >> 2U) & 1U;
    unsigned parity = (state >> 3U) & 1U;
    unsigned place = 0;
    for (unsigned level = levels; level-- > 0;) {
      const unsigned first = (cell >> (levels + level)) & 1U;
      const unsigned second = (cell >> level) & 1U;
      const unsigned x = (swaps != 0 ? second : first) ^ reflects_x;
      const unsigned y = (swaps != 0 ? first : second) ^ reflects_y;
      const unsigned high = parity ^ x;
      parity = high ^ y;
      place = place << 2U | high << 1U | parity;
      reflects_x ^= x;
      if (y != 0) {
        reflects_x ^= 1U;
      } else {
        swaps ^= 1U;
        std::swap(reflects_x, reflects_y);
      }
    }
    return {place, parity << 3U | reflects_y << 2U | reflects_x << 1U | swaps};
  }

  std::array<Entry, std::size_t{n_states} * n_cells> entries_{};
};

constexpr PlanarSteps planar_steps;

std::uint64_t planar_place(std::uint64_t x, std::uint64_t y, unsigned n_bits) noexcept {
  constexpr unsigned levels = PlanarSteps::levels;
  // levels above the first one, where x and y are 0, do not change what is below if they are even in number
  unsigned bit = (n_bits + levels - 1) / levels * levels;
  if ((bit - n_bits) % 2 != 0) bit += levels;
  std::uint64_t place = 0;
  unsigned state = 0;
  for (; bit > 0; bit -= levels) {
    constexpr std::uint64_t mask = (1U << levels) - 1;
    const unsigned below = bit - levels;
    place = place << (2 * levels) | planar_steps.descend((x >> below) & mask, (y >> below) & mask, state);
  }
  return place;
}

}  // namespace

std::uint64_t hilbert_place(std::span<const std::uint64_t> cell, int n_bits) noexcept {
  const std::size_t n = cell.size();
  if (n == 2) return planar_place(cell[0], cell[1], static_cast<unsigned>(n_bits));
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
