#include "barrio/geometry/hilbert_place.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace barrio::geometry {
namespace {

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
    const Entry entry = entries_[std::size_t{state} * n_cells + (x << levels | y)];
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

  /// Descend level by level, as `hilbert_place` says.
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

/// The place of a cell in three dimensions, two levels at a time from the top. A state stands for what the levels above
/// do to those below them: an order of the axes, a reflection of each, and the parity of the place.
class SpatialSteps {
 public:
  static constexpr unsigned levels = 2;

  // From the steps of one level, which takes a compiler a tenth of the time, and keeps it below the limits of Clang.
  constexpr SpatialSteps() {
    std::array<std::uint16_t, std::size_t{n_states} * 8> single{};
    for (unsigned state = 0; state < n_states; ++state)
      for (unsigned corner = 0; corner < 8; ++corner) single[std::size_t{state} * 8 + corner] = step(state, corner);
    for (unsigned state = 0; state < n_states; ++state)
      for (unsigned cell = 0; cell < n_cells; ++cell) {
        unsigned now = state;
        unsigned place = 0;
        for (unsigned level = levels; level-- > 0;) {
          const unsigned corner =
              (cell >> (2 * levels + level) & 1U) << 2U | (cell >> (levels + level) & 1U) << 1U | (cell >> level & 1U);
          const unsigned entry = single[std::size_t{now} * 8 + corner];
          place = place << 3U | entry / n_padded_states;
          now = entry % n_padded_states;
        }
        entries_[std::size_t{state} * n_cells + cell] = static_cast<std::uint16_t>(place * n_padded_states + now);
      }
  }
  /// Descend `levels` levels. @param cell  the bits of these levels: of x, of y, of z @param[in,out] state  0 at the
  /// top
  [[nodiscard]] std::uint64_t descend(std::uint64_t cell, unsigned& state) const noexcept {
    const std::uint16_t entry = entries_[std::size_t{state} * n_cells + cell];
    state = entry % n_padded_states;
    return entry / n_padded_states;
  }

 private:
  using Axes = std::array<std::uint8_t, 3>;
  static constexpr std::array<Axes, 6> orders{{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}}};
  static constexpr unsigned n_states = 6 * 8 * 2;  // orders, reflections, parities
  static constexpr unsigned n_cells = 1U << (3 * levels);
  static constexpr unsigned n_padded_states = 128;

  /// Descend one level, as `hilbert_place` says. @param corner  a bit of x, y and z
  /// @return place * n_padded_states + state
  static constexpr std::uint16_t step(unsigned state, unsigned corner) noexcept {
    Axes axis = orders[state >> 4U];  // the one that stands first, second, third
    std::array<bool, 3> is_reflected{(state & 1U) != 0, (state & 2U) != 0, (state & 4U) != 0};
    unsigned parity = (state >> 3U) & 1U;
    unsigned place = 0;
    std::array<unsigned, 3> bit{};
    for (std::size_t i = 0; i < 3; ++i) bit[i] = (corner >> (2U - axis[i]) & 1U) ^ is_reflected[i];
    for (std::size_t i = 0; i < 3; ++i) {
      parity ^= bit[i];
      place = place << 1U | parity;
      if (bit[i] != 0) {
        is_reflected[0] = !is_reflected[0];
      } else {
        std::swap(axis[0], axis[i]);
        std::swap(is_reflected[0], is_reflected[i]);
      }
    }
    unsigned order = 0;
    while (orders[order] != axis) ++order;
    const unsigned reflections =
        (is_reflected[0] ? 1U : 0U) | (is_reflected[1] ? 2U : 0U) | (is_reflected[2] ? 4U : 0U);
    return static_cast<std::uint16_t>(place * n_padded_states + (order << 4U | parity << 3U | reflections));
  }

  std::array<std::uint16_t, std::size_t{n_states} * n_cells> entries_{};
};

constexpr SpatialSteps spatial_steps;

std::uint64_t spatial_place(std::span<const std::uint64_t, 3> cell, unsigned n_bits) noexcept {
  constexpr unsigned levels = SpatialSteps::levels;
  constexpr std::uint64_t mask = (1U << levels) - 1;
  constexpr unsigned after_zeros = 4U << 4U;  // a level above the first one, where all are 0, leads from it to state 0
  unsigned state = n_bits % levels == 0 ? 0 : after_zeros;
  std::uint64_t place = 0;
  for (unsigned bit = (n_bits + levels - 1) / levels * levels; bit > 0; bit -= levels) {
    const unsigned below = bit - levels;
    const std::uint64_t of_levels = ((cell[0] >> below) & mask) << (2 * levels) |
                                    ((cell[1] >> below) & mask) << levels | ((cell[2] >> below) & mask);
    place = place << (3 * levels) | spatial_steps.descend(of_levels, state);
  }
  return place;
}

}  // namespace

// Each level turns the levels below it: for each axis in order, the first one is reflected where the axis has a bit,
// else swapped with it. The result is a reflected Gray code, with the first axis as the highest bit of each level.
std::uint64_t hilbert_place(std::span<const std::uint64_t> cell, int n_bits) noexcept {
  const auto n_levels = static_cast<unsigned>(n_bits);
  switch (cell.size()) {
    case 1: return cell[0];
    case 2: return planar_place(cell[0], cell[1], n_levels);
    default: return spatial_place(cell.first<3>(), n_levels);
  }
}

}  // namespace barrio::geometry
