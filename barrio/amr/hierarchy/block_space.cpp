#include "barrio/amr/block_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/geometry/hilbert_place.hpp"

namespace barrio::amr {
namespace {

template <std::size_t D>
void check(const GridOptions<D>& options) {
  if (options.ratio != 2 && options.ratio != 4)
    refuse_together(ErrorCode::usage, fmt::format("ratio {}", options.ratio), "must be 2 or 4");
  if (options.block_cells < 8 || options.block_cells % 8 != 0)
    refuse_together(ErrorCode::usage, fmt::format("blocks of {} cells", options.block_cells),
                    "must be a positive multiple of 8");
  if (options.n_levels < 1)
    refuse_together(ErrorCode::usage, fmt::format("{} levels", options.n_levels), "must be at least 1");
  for (std::size_t k = 0; k < D; ++k) {
    if (options.n_cells[k] <= 0 || options.n_cells[k] % options.block_cells != 0)
      refuse_together(ErrorCode::usage, fmt::format("{} cells along axis {}", options.n_cells[k], k),
                      fmt::format("must be a positive multiple of the {} cells of a block", options.block_cells));
    if (!(options.cell_size[k] > 0.0))
      refuse_together(ErrorCode::usage, fmt::format("a cell of size {} along axis {}", options.cell_size[k], k),
                      "must be positive");
  }
}

}  // namespace

template <std::size_t D>
BlockSpace<D>::BlockSpace(const GridOptions<D>& options) : options_(options), ratio_bits_(options.ratio == 4 ? 2 : 1) {
  check(options);
  for (std::size_t k = 0; k < D; ++k) {
    const std::uint64_t n_blocks = options.n_cells[k] / options.block_cells;
    base_bits_ = std::max(base_bits_, static_cast<int>(std::bit_width(n_blocks - 1)));
  }
  const int n_bits = base_bits_ + ratio_bits_ * (options.n_levels - 1);
  constexpr int max_bits = 62 / D;
  if (n_bits > max_bits)
    refuse_together(ErrorCode::usage, fmt::format("{} levels of ratio {}", options.n_levels, options.ratio),
                    fmt::format("could have 2^{} blocks along an axis, but must have at most 2^{}", n_bits, max_bits));
}

template <std::size_t D>
std::int64_t BlockSpace<D>::block_size() const noexcept {
  std::int64_t n = 1;
  for (std::size_t k = 0; k < D; ++k) n *= options_.block_cells;
  return n;
}

template <std::size_t D>
auto BlockSpace<D>::blocks(int level) const noexcept -> Box {
  Box box;
  for (std::size_t k = 0; k < D; ++k)
    box.high[k] = (options_.n_cells[k] / options_.block_cells) << (ratio_bits_ * level);
  return box;
}

template <std::size_t D>
auto BlockSpace<D>::domain(int level) const noexcept -> Box {
  return blocks(level).refined(options_.block_cells);
}

template <std::size_t D>
std::array<double, D> BlockSpace<D>::cell_size(int level) const noexcept {
  std::array<double, D> size = options_.cell_size;
  for (double& one : size) one /= static_cast<double>(std::int64_t{1} << (ratio_bits_ * level));
  return size;
}

template <std::size_t D>
std::array<double, D> BlockSpace<D>::centre(int level, const Index& cell) const noexcept {
  // Weights of both ends of the domain: in a domain around 0 mirrored cells have mirrored centres, bit by bit.
  std::array<double, D> x{};
  for (std::size_t k = 0; k < D; ++k) {
    const auto twice_n = static_cast<double>(options_.n_cells[k] << (ratio_bits_ * level + 1));
    const double high = options_.low[k] + static_cast<double>(options_.n_cells[k]) * options_.cell_size[k];
    const auto from_low = static_cast<double>(2 * cell[k] + 1);
    x[k] = ((twice_n - from_low) * options_.low[k] + from_low * high) / twice_n;
  }
  return x;
}

template <std::size_t D>
auto BlockSpace<D>::cells(const Index& block) const noexcept -> Box {
  Box box;
  for (std::size_t k = 0; k < D; ++k) {
    box.low[k] = block[k] * options_.block_cells;
    box.high[k] = box.low[k] + options_.block_cells;
  }
  return box;
}

template <std::size_t D>
auto BlockSpace<D>::footprint(const Index& block) const noexcept -> Box {
  return cells(block).coarsened(options_.ratio);
}

template <std::size_t D>
auto BlockSpace<D>::parent(const Index& block) const noexcept -> Index {
  Index at = block;
  for (std::int64_t& one : at) one >>= ratio_bits_;
  return at;
}

template <std::size_t D>
bool BlockSpace<D>::wrap(int level, Index& block) const noexcept {
  const Box all = blocks(level);
  for (std::size_t k = 0; k < D; ++k) {
    if (options_.is_periodic[k]) {
      block[k] %= all.high[k];
      if (block[k] < 0) block[k] += all.high[k];
    } else if (block[k] < 0 || block[k] >= all.high[k]) {
      return false;
    }
  }
  return true;
}

template <std::size_t D>
CurvePlace BlockSpace<D>::place(int level, const Index& block) const noexcept {
  const int n_bits = base_bits_ + ratio_bits_ * level;
  if (n_bits == 0) return {0, level};
  std::array<std::uint64_t, D> cell{};
  std::ranges::copy(block, cell.begin());
  return {geometry::hilbert_place(cell, n_bits) << shift(level), level};
}

template class BlockSpace<2>;
template class BlockSpace<3>;

}  // namespace barrio::amr
