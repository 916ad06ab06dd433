#pragma once

/// @file Values on the cells of a hierarchy, which follow its blocks from rank to rank.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/amr/detail/block_pool.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::amr {

namespace detail {
/// Send and receive the blocks that change their rank. Collective over the peers. @param old_blocks, new_blocks  by
/// level and number
void exchange_blocks(mpi::Context& context, const BlockMotion& motion, std::size_t block_bytes,
                     const std::vector<std::vector<std::byte*>>& old_blocks,
                     const std::vector<std::vector<std::byte*>>& new_blocks);
}  // namespace detail

/// Values on the cells of this rank's blocks of a hierarchy, without ghosts.
///
/// After a change of the hierarchy, call move() before anything else.
template <mpi::Trivial T, std::size_t D>
class GridFunction {
 public:
  /// Construct values for all present blocks, not initialised. Local. @param hierarchy  borrowed; must outlive this
  GridFunction(const Hierarchy<D>& hierarchy, int n_components)
      : hierarchy_(&hierarchy),
        n_components_(n_components),
        block_size_(hierarchy.space().block_size() * n_components),
        pool_(block_size_ * sizeof(T)),
        blocks_(hierarchy.n_levels()) {
    for (int level = 0; level < hierarchy.n_levels(); ++level)
      for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b) blocks_[level].push_back(pool_.take());
  }

  /// Return the hierarchy that was given, borrowed.
  [[nodiscard]] const Hierarchy<D>& hierarchy() const noexcept { return *hierarchy_; }
  /// Return the number of values of each cell.
  [[nodiscard]] int n_components() const noexcept { return n_components_; }
  /// Return the bytes of a block's values.
  [[nodiscard]] std::uint64_t values_bytes() const noexcept { return block_size_ * sizeof(T); }
  /// Return the values of a block: shape (n_components, cells), the first axis fastest. Those of a new block are not
  /// initialised.
  [[nodiscard]] std::span<T> values(int level, std::size_t block) noexcept {
    return {reinterpret_cast<T*>(blocks_[level][block]), block_size_};
  }
  /// Return the values of a block, as above, to read them.
  [[nodiscard]] std::span<const T> values(int level, std::size_t block) const noexcept {
    return {reinterpret_cast<const T*>(blocks_[level][block]), block_size_};
  }

  /// Follow a change of the hierarchy: blocks that remain keep their values, on whichever rank they are. Collective.
  void move(const BlockMotion& motion) {
    if (motion.is_none) return;
    std::vector<std::vector<std::byte*>> blocks(blocks_.size());
    std::vector<std::vector<std::byte*>> left = blocks_;
    for (std::size_t level = 0; level < blocks_.size(); ++level) {
      for (const std::int32_t old_number : motion.old_number[level]) {
        if (old_number >= 0) left[level][old_number] = nullptr;
        blocks[level].push_back(old_number >= 0 ? blocks_[level][old_number] : pool_.take());
      }
    }
    detail::exchange_blocks(hierarchy_->context(), motion, block_size_ * sizeof(T), blocks_, blocks);
    for (const auto& level : left)
      for (std::byte* const block : level)
        if (block != nullptr) pool_.release(block);
    blocks_ = std::move(blocks);
  }
  /// Return the bytes taken from the system, with those of released blocks. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return pool_.memory_bytes(); }

 private:
  const Hierarchy<D>* hierarchy_;
  int n_components_;
  std::size_t block_size_;
  detail::BlockPool pool_;
  std::vector<std::vector<std::byte*>> blocks_;  // by level
};

}  // namespace barrio::amr
