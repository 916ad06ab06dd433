#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "barrio/geometry/index_box.hpp"

namespace barrio::amr {

/// What the levels of a hierarchy are made of.
template <std::size_t D>
struct GridOptions {
  std::array<std::int64_t, D> n_cells{};  ///< of the coarsest level, along each axis; multiples of block_cells
  std::array<double, D> low{};            ///< corner of the domain
  std::array<double, D> cell_size{};      ///< on the coarsest level
  std::array<bool, D> is_periodic{};
  int n_levels = 1;
  int ratio = 2;         ///< of the cell sizes of two levels: 2 or 4
  int block_cells = 16;  ///< of a block along each axis: a multiple of 8
};

/// Where something stands on the composite curve: at `key`, blocks that lie in each other from coarse to fine.
struct CurvePlace {
  std::uint64_t key = 0;
  std::int32_t level = 0;
  auto operator<=>(const CurvePlace&) const = default;
};

/// A block by its level and its place among the blocks of that level.
template <std::size_t D>
struct BlockId {
  std::array<std::int64_t, D> at{};
  std::int32_t level = 0;
  bool operator==(const BlockId&) const = default;
};

/// The index space of a hierarchy: all cells and blocks that each level could have. A block has block_cells cells along
/// each axis, whatever its level, so those of a level lie in those of the coarser one whole. Local, without allocation.
template <std::size_t D>
class BlockSpace {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  /// @param options  the same on all ranks
  /// @throws AgreedError{usage} for a number of cells that is not a positive multiple of block_cells, another ratio
  /// than 2 or 4, a block that is none, a size that is not positive, no level, or more levels than a curve of 64 bits
  /// can tell apart
  explicit BlockSpace(const GridOptions<D>& options);

  [[nodiscard]] const GridOptions<D>& options() const noexcept { return options_; }
  [[nodiscard]] int n_levels() const noexcept { return options_.n_levels; }
  [[nodiscard]] int ratio() const noexcept { return options_.ratio; }
  [[nodiscard]] int block_cells() const noexcept { return options_.block_cells; }
  /// Cells of a block.
  [[nodiscard]] std::int64_t block_size() const noexcept;
  /// Of the coarser level under a block, along each axis.
  [[nodiscard]] int footprint_cells() const noexcept { return options_.block_cells / options_.ratio; }

  /// All blocks that a level could have.
  [[nodiscard]] Box blocks(int level) const noexcept;
  [[nodiscard]] Box domain(int level) const noexcept;  ///< in cells
  [[nodiscard]] std::array<double, D> cell_size(int level) const noexcept;
  /// Where the middle of a cell stands.
  [[nodiscard]] std::array<double, D> centre(int level, const Index& cell) const noexcept;

  [[nodiscard]] Box cells(const Index& block) const noexcept;
  /// The cells of the coarser level under a block.
  [[nodiscard]] Box footprint(const Index& block) const noexcept;
  [[nodiscard]] Index parent(const Index& block) const noexcept;
  /// Blocks that have the cells of a box, which may lie outside the domain.
  [[nodiscard]] Box blocks_of(const Box& cells) const noexcept { return cells.coarsened(options_.block_cells); }
  /// Move a block that lies beyond a periodic end into the domain. @return whether it is there now
  [[nodiscard]] bool wrap(int level, Index& block) const noexcept;

  /// The first place of a block on the curve. @pre it lies in the domain
  [[nodiscard]] CurvePlace place(int level, const Index& block) const noexcept;
  /// Behind the last place of what lies in a block.
  [[nodiscard]] CurvePlace place_behind(const CurvePlace& place) const noexcept {
    return {place.key + (std::uint64_t{1} << shift(place.level)), 0};
  }
  /// One past the last key.
  [[nodiscard]] std::uint64_t n_keys() const noexcept { return std::uint64_t{1} << shift(0) << (D * base_bits_); }

 private:
  /// Bits by which the key of a block of this level is longer than the place among blocks of its level.
  [[nodiscard]] unsigned shift(int level) const noexcept {
    return static_cast<unsigned>(D * ratio_bits_ * (options_.n_levels - 1 - level));
  }
  GridOptions<D> options_;
  int ratio_bits_;
  int base_bits_ = 0;  // of the blocks of the coarsest level along an axis
};

extern template class BlockSpace<2>;
extern template class BlockSpace<3>;

}  // namespace barrio::amr
