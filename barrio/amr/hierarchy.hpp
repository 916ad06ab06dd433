#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/amr/block_space.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::amr {

/// How blocks are shared out among ranks, along the curve in any case.
enum class Partition {
  /// A piece of each level a rank: equal parts of each. Since all levels have one curve, they mostly lie near those of
  /// the next, but not all of them.
  by_level,
  /// One piece of the curve through all levels a rank, by the work of all: a block is as a rule where those are that it
  /// lies in. Ranks have different parts of a level, and wait for each other when it is its turn: the more ranks, the
  /// longer.
  composite,
};

struct HierarchyOptions {
  /// Cells of the coarser level that each block has around it, but for ends of the domain: what its ghosts are
  /// interpolated from. At most half a block.
  int nesting = 2;
  /// Finer levels take more, shorter steps, and weigh as much more in the partition.
  bool is_subcycled = true;
  Partition partition = Partition::by_level;
};

/// How the blocks of a hierarchy moved when it changed: what a container of values on them has to do.
struct BlockMotion {
  struct Message {
    Rank peer;
    std::int32_t level;
    std::int32_t number;  ///< of the block among those of its level, before on the side that sends, after on the other
  };
  /// For each level and block: its number before if this rank had it, else -1.
  std::vector<std::vector<std::int32_t>> old_number;
  std::vector<Message> outgoing;  ///< by peer
  std::vector<Message> incoming;  ///< by peer; those of a peer in the order in which it sends them
  /// For each level the blocks that are new, and how many are so on all ranks.
  std::vector<std::vector<std::int32_t>> created;
  std::vector<std::int64_t> n_created_global;
  /// Of each level's blocks, as they were given to change(); new ones have that of the block before them on the curve,
  /// as a rule the one in which they lie.
  std::vector<std::vector<std::int32_t>> weights;
  bool is_none = true;  ///< nothing changed, on any rank
};

/// Levels of blocks, coarse to fine, each where the one before is refined, shared out among ranks along one Hilbert
/// curve: each rank has a piece of it, so that most of what levels exchange stays on a rank. Which blocks there are
/// depends on what was asked for, never on the ranks.
///
/// A rank knows its blocks, their neighbours, and the first place of each rank on the curve: 16 bytes a rank and
/// level.
template <std::size_t D>
class Hierarchy {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;
  struct Block {
    Index at;
    std::uint64_t key;
  };
  struct Found {
    Rank rank;
    std::int32_t number;  ///< among this rank's blocks of the level; -1 if another has it
  };

  /// The coarsest level. Collective. @throws AgreedError{usage} as BlockSpace, and for a nesting that cannot be
  Hierarchy(mpi::Context& context, const GridOptions<D>& grid, const HierarchyOptions& options = {});
  /// Levels that were known before. Collective. @param blocks  of all levels; each from one rank, whichever
  /// @throws AgreedError{usage} as above; {bad_input} for a block beyond the domain or given twice, one without those
  /// that it needs around it, or a domain that is not covered
  Hierarchy(mpi::Context& context, const GridOptions<D>& grid, std::span<const BlockId<D>> blocks,
            const HierarchyOptions& options = {});

  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  [[nodiscard]] const BlockSpace<D>& space() const noexcept { return space_; }
  [[nodiscard]] const HierarchyOptions& options() const noexcept { return options_; }
  [[nodiscard]] int n_levels() const noexcept { return space_.n_levels(); }

  /// Of this rank, along the curve.
  [[nodiscard]] std::span<const Block> blocks(int level) const& noexcept { return levels_[level].blocks; }
  std::span<const Block> blocks(int level) const&& = delete;
  /// Of all ranks.
  [[nodiscard]] std::int64_t n_global(int level) const noexcept { return levels_[level].n_global; }

  /// Find a block, local: any that this rank has, the neighbours of these, and the neighbours of those in which they
  /// lie. @param block  in the domain @return nothing if there is none, or if it is not known here
  [[nodiscard]] std::optional<Found> find(int level, const Index& block) const noexcept;
  /// The rank that would have what stands at a place.
  [[nodiscard]] Rank owner(const CurvePlace& place) const noexcept;

  enum class Sharing {
    anew,  ///< the curve is cut anew; any block may move
    kept,  ///< ranks keep their pieces of it; no block moves
  };
  /// Give the levels above `base` the blocks that are wanted, and those that they need around them on coarser levels;
  /// what would reach beyond the blocks of `base` is left out. Collective.
  /// @param wanted  levels above base; each lies in a block of this rank of the level before or one beside it; may
  /// repeat Cost: three routed exchanges, two reductions and a gather of 16 bytes a rank for each level, for all in
  /// composite
  /// @param weights  of this rank's blocks of each level, for one step of theirs, at least 1; empty: all weigh the same
  [[nodiscard]] BlockMotion change(int base, std::span<const BlockId<D>> wanted, Sharing sharing = Sharing::anew,
                                   std::span<const std::vector<std::int32_t>> weights = {});

  /// Check order, ownership, that each block has what it needs around it, that neighbours know each other. Collective.
  void validate() const;
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
  /// A block that is to be, on the rank that has its place before blocks are shared out.
  struct Planned {
    CurvePlace place;
    Index at;
    std::int32_t old_number;  // -1: new
    std::int32_t weight = 1;
  };
  [[nodiscard]] std::vector<BlockId<D>> with_support(int base, std::span<const BlockId<D>> wanted) const;
  [[nodiscard]] std::vector<Planned> plan(int base, std::span<const BlockId<D>> wanted,
                                          std::span<const std::vector<std::int32_t>> weights) const;
  /// Deal out blocks that no rank has yet. Collective.
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
