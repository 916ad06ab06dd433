#pragma once

/// @file Index space of a hierarchy of levels: its cells, blocks and places on the Hilbert curve.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "barrio/geometry/index_box.hpp"

namespace barrio::amr {

/// The grid of a hierarchy: domain, cells, levels and blocks.
template <std::size_t D>
struct GridOptions {
  std::array<std::int64_t, D> n_cells{};  ///< of the coarsest level, along each axis; multiples of block_cells
  std::array<double, D> low{};            ///< lower corner of the domain
  std::array<double, D> cell_size{};      ///< on the coarsest level
  std::array<bool, D> is_periodic{};      ///< along each axis; the boundary conditions of such an axis are ignored
  int n_levels = 1;                       ///< at most so many, the coarsest included
  int ratio = 2;         ///< refinement ratio: cell size of a level over that of the next finer one, 2 or 4
  int block_cells = 16;  ///< cells of a block along each axis: a multiple of 8
};

/// Place on the composite curve: by key, and at one key from coarse to fine blocks, which lie in each other.
struct CurvePlace {
  std::uint64_t key = 0;   ///< on the Hilbert curve through the blocks that the finest level could have
  std::int32_t level = 0;  ///< of the block; 0 is the coarsest
  auto operator<=>(const CurvePlace&) const = default;
};

/// A block, by its level and its index among the blocks of that level.
template <std::size_t D>
struct BlockId {
  std::array<std::int64_t, D> at{};  ///< index along each axis, in blocks of its level
  std::int32_t level = 0;            ///< 0 is the coarsest
  bool operator==(const BlockId&) const = default;
};

/// Index space of a hierarchy: all cells and blocks that each level could have. A block has block_cells cells along
/// each axis on every level, so each block lies in one block of the next coarser level. Local, without allocation.
template <std::size_t D>
class BlockSpace {
 public:
  using Box = geometry::IndexBox<D>;  ///< of cells or of blocks, on one level
  using Index = typename Box::Index;  ///< of a cell or a block on its level

  /// Construct from options that are the same on all ranks.
  /// @throws AgreedError{usage} unless the cells along each axis are a positive multiple of block_cells, block_cells is
  /// a positive multiple of 8, the ratio is 2 or 4, sizes are positive, there is at least one level, and a curve of 64
  /// bits can tell all blocks apart
  explicit BlockSpace(const GridOptions<D>& options);

  /// Return the grid that it was made from.
  [[nodiscard]] const GridOptions<D>& options() const noexcept { return options_; }
  /// Return how many levels there may be, the coarsest included.
  [[nodiscard]] int n_levels() const noexcept { return options_.n_levels; }
  /// Return the refinement ratio between levels, 2 or 4.
  [[nodiscard]] int ratio() const noexcept { return options_.ratio; }
  /// Return the cells of a block along one axis.
  [[nodiscard]] int block_cells() const noexcept { return options_.block_cells; }
  /// Return the number of cells of a block.
  [[nodiscard]] std::int64_t block_size() const noexcept;
  /// Return the number of coarser cells under a block, along each axis.
  [[nodiscard]] int footprint_cells() const noexcept { return options_.block_cells / options_.ratio; }

  /// Return all blocks that a level could have.
  [[nodiscard]] Box blocks(int level) const noexcept;
  [[nodiscard]] Box domain(int level) const noexcept;  ///< in cells
  /// Return the lengths of a cell of a level along the axes.
  [[nodiscard]] std::array<double, D> cell_size(int level) const noexcept;
  /// Return a cell centre.
  [[nodiscard]] std::array<double, D> centre(int level, const Index& cell) const noexcept;

  /// Return the cells of a block, on its own level.
  [[nodiscard]] Box cells(const Index& block) const noexcept;
  /// Return the cells of the coarser level under a block.
  [[nodiscard]] Box footprint(const Index& block) const noexcept;
  /// Return the block of the next coarser level in which a block lies.
  [[nodiscard]] Index parent(const Index& block) const noexcept;
  /// Return the blocks that contain the cells of a box, which may lie beyond the domain.
  [[nodiscard]] Box blocks_of(const Box& cells) const noexcept { return cells.coarsened(options_.block_cells); }
  /// Move a block that lies beyond a periodic face of the domain into it. @return whether it lies in the domain now
  [[nodiscard]] bool wrap(int level, Index& block) const noexcept;

  /// Return the first place of a block on the curve. @pre it lies in the domain
  [[nodiscard]] CurvePlace place(int level, const Index& block) const noexcept;
  /// Return the place behind all that lies in a block. @param place  of the block
  [[nodiscard]] CurvePlace place_behind(const CurvePlace& place) const noexcept {
    return {place.key + (std::uint64_t{1} << shift(place.level)), 0};
  }
  /// Return the number of keys: one past the last key.
  [[nodiscard]] std::uint64_t n_keys() const noexcept { return std::uint64_t{1} << shift(0) << (D * base_bits_); }

 private:
  /// Return the number of low bits of a key that a block of this level leaves to finer levels.
  [[nodiscard]] std::size_t shift(int level) const noexcept {
    return D * ratio_bits_ * (options_.n_levels - 1 - level);
  }
  GridOptions<D> options_;
  int ratio_bits_;
  int base_bits_ = 0;  // of the blocks of the coarsest level along an axis
};

extern template class BlockSpace<2>;
extern template class BlockSpace<3>;

}  // namespace barrio::amr
