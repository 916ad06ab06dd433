#pragma once

/// @file Levels of blocks along one Hilbert curve: which blocks exist, who owns them, how they move.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/amr/block_space.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::amr {

/// Partition of the blocks among ranks; each follows the curve.
enum class Partition {
  /// Each rank has one piece of each level, all of equal work. Since all levels lie along one curve, most of a rank's
  /// blocks lie near its blocks of the next level, but not all.
  by_level,
  /// Each rank has one piece of the curve through all levels, of equal work in sum. Most blocks are on the rank of the
  /// block in which they lie. But ranks have different shares of a level, and wait for each other when that level
  /// advances; the more ranks, the longer.
  composite,
};

/// Options of a hierarchy; the same on all ranks.
struct HierarchyOptions {
  /// Cells of the coarser level around each block, except beyond the domain: its ghosts are interpolated from them. At
  /// most half a block.
  int nesting = 2;
  /// Finer levels take more, shorter steps, and weigh more in the partition accordingly.
  bool is_subcycled = true;
  Partition partition = Partition::by_level;  ///< decides where blocks are, not which there are
};

/// Motion of the blocks when a hierarchy changed: instructions for a container of values on them.
struct BlockMotion {
  /// A block that this rank sends or receives.
  struct Message {
    Rank peer;            ///< where the block goes, or comes from
    std::int32_t level;   ///< of the block
    std::int32_t number;  ///< of the block on its level: the old number where it is sent, the new one where received
  };
  /// For each level and block: its old number if this rank had it, else -1.
  std::vector<std::vector<std::int32_t>> old_number;
  std::vector<Message> outgoing;  ///< by peer
  std::vector<Message> incoming;  ///< by peer; those of a peer in the order in which it sends them
  /// For each level, the numbers of this rank's new blocks, whose values nobody sends.
  std::vector<std::vector<std::int32_t>> created;
  std::vector<std::int64_t> n_created_global;  ///< new blocks of each level, on all ranks
  /// Weights of each level's blocks, as given to change(). A new block has that of the last old block before it on the
  /// curve, usually the one in which it lies.
  std::vector<std::vector<std::int32_t>> weights;
  bool is_none = true;  ///< nothing changed, on any rank
};

/// Levels of blocks, coarse to fine, each where the one before is refined. Ranks share them along one Hilbert curve, so
/// most of the data that levels exchange stays on a rank. Which blocks exist depends on the blocks asked for, never on
/// the ranks.
///
/// A rank knows its blocks, their neighbours, and the first place of each rank on the curve: 16 bytes for each rank and
/// level.
template <std::size_t D>
class Hierarchy {
 public:
  using Box = geometry::IndexBox<D>;  ///< of cells or of blocks, on one level
  using Index = typename Box::Index;  ///< of a cell or a block on its level
  /// A block of this rank.
  struct Block {
    Index at;           ///< its index among the blocks of its level
    std::uint64_t key;  ///< of its place on the curve; ascending on a level
  };
  /// A block that this rank has or knows.
  struct Found {
    Rank rank;            ///< that has it
    std::int32_t number;  ///< among this rank's blocks of the level; -1 if another rank has it
  };

  /// Construct the coarsest level. Collective. @throws AgreedError{usage} as BlockSpace, and for an invalid nesting
  Hierarchy(mpi::Context& context, const GridOptions<D>& grid, const HierarchyOptions& options = {});
  /// Construct levels from known blocks. Collective. @param blocks  of all levels; each given by one rank, any of them
  /// @throws AgreedError{usage} as above; {bad_input} for a block beyond the domain or given twice, one without the
  /// coarser blocks that it needs around it, or a domain that is not covered
  Hierarchy(mpi::Context& context, const GridOptions<D>& grid, std::span<const BlockId<D>> blocks,
            const HierarchyOptions& options = {});

  /// Return the context that was given, borrowed.
  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  /// Return the index space of all levels.
  [[nodiscard]] const BlockSpace<D>& space() const noexcept { return space_; }
  /// Return the options that were given.
  [[nodiscard]] const HierarchyOptions& options() const noexcept { return options_; }
  /// Return how many levels there may be; the finest of them may have no blocks.
  [[nodiscard]] int n_levels() const noexcept { return space_.n_levels(); }

  /// Return this rank's blocks of a level, along the curve.
  [[nodiscard]] std::span<const Block> blocks(int level) const& noexcept { return levels_[level].blocks; }
  /// Refuse a temporary: its blocks would end with it.
  std::span<const Block> blocks(int level) const&& = delete;
  /// Return the number of blocks of a level on all ranks.
  [[nodiscard]] std::int64_t n_global(int level) const noexcept { return levels_[level].n_global; }

  /// Find a block: any of this rank, their neighbours, and the neighbours of the blocks in which they lie. Local.
  /// @param block  in the domain @return nothing if the block does not exist, or is not known here
  [[nodiscard]] std::optional<Found> find(int level, const Index& block) const noexcept;
  /// Return the rank that owns a place, whether or not a block is there. Local.
  [[nodiscard]] Rank owner(const CurvePlace& place) const noexcept;

  /// Sharing of a changed hierarchy among ranks.
  enum class Sharing {
    anew,  ///< the curve is cut again; any block may move
    kept,  ///< ranks keep their pieces of it; no block moves
  };
  /// Change the levels above `base` to the wanted blocks, and those that these need around them on coarser levels. A
  /// wanted block that needs a block which `base` does not have is left out. Collective.
  /// @param wanted  above base; each lies in a block of this rank of the level before, or in one beside it; may repeat
  /// @param weights  of this rank's blocks of each level, for one of their steps, at least 1; empty: all weigh the same
  /// Cost: three routed exchanges, two reductions, and a gather of 16 bytes from each rank, for each level or in
  /// composite once
  [[nodiscard]] BlockMotion change(int base, std::span<const BlockId<D>> wanted, Sharing sharing = Sharing::anew,
                                   std::span<const std::vector<std::int32_t>> weights = {});

  /// Check that blocks are in order and on their owners, have the coarser blocks that they need, and know their
  /// neighbours. Collective.
  void validate() const;
  /// Return the bytes that the hierarchy holds on this rank. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Known {
    std::uint64_t key;
    Rank rank;
    std::int32_t number;
  };
  struct Level {
    std::vector<Block> blocks;
    std::vector<Known> known;  // by key
    std::int64_t n_global = 0;
  };
  /// A block of the changed hierarchy, on the rank that owns its place before the partition.
  struct Planned {
    CurvePlace place;
    Index at;
    std::int32_t old_number;  // -1: new
    std::int32_t weight = 1;
  };
  [[nodiscard]] std::vector<BlockId<D>> with_support(int base, std::span<const BlockId<D>> wanted) const;
  [[nodiscard]] std::vector<Planned> plan(int base, std::span<const BlockId<D>> wanted,
                                          std::span<const std::vector<std::int32_t>> weights) const;
  /// Place blocks that no rank has yet. Collective.
  void place(std::span<const BlockId<D>> blocks);
  [[nodiscard]] Status look_for_support() const;
  [[nodiscard]] BlockMotion share_out(const std::vector<Planned>& planned, Sharing sharing);
  void gather_places();
  void introduce_neighbours();

  mpi::Context* context_;
  BlockSpace<D> space_;
  HierarchyOptions options_;
  std::vector<Level> levels_;
  std::vector<std::vector<CurvePlace>> first_;  // by level, of each rank
};

extern template class Hierarchy<2>;
extern template class Hierarchy<3>;

}  // namespace barrio::amr
