#include "barrio/amr/hierarchy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "barrio/amr/hierarchy/support.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::amr {
namespace {

constexpr RegionName change_region{"amr.change_hierarchy"};

/// A block on its way to the rank that has its place.
template <std::size_t D>
struct Arrival {
  std::array<std::int64_t, D> at;
  std::uint64_t key;
  std::int32_t level;
  std::int32_t is_new;
  std::int64_t weight;
};

/// Introduction of a block to a rank that may have neighbours of it.
struct Introduction {
  std::uint64_t key;
  std::int32_t level;
};

template <std::size_t D>
std::string text_of(const BlockId<D>& block) {
  return fmt::format("block {} of level {}", fmt::join(block.at, ", "), block.level);
}

void check_nesting(const HierarchyOptions& options, int block_cells) {
  if (options.nesting < 1 || 2 * options.nesting > block_cells)
    refuse_together(ErrorCode::usage, fmt::format("a nesting of {} cells", options.nesting),
                    fmt::format("must be from 1 to half a block, {}", block_cells / 2));
}

}  // namespace

template <std::size_t D>
Hierarchy<D>::Hierarchy(mpi::Context& context, const GridOptions<D>& grid, const HierarchyOptions& options)
    : context_(&context), space_(grid), options_(options), levels_(grid.n_levels) {
  check_nesting(options, grid.block_cells);
  const Box all = space_.blocks(0);
  std::vector<BlockId<D>> dealt;
  const std::int64_t end = all.size() * (context.rank() + 1) / context.size();
  for (std::int64_t i = all.size() * context.rank() / context.size(); i < end; ++i)
    dealt.push_back({.at = all.at(i), .level = 0});
  place(dealt);
}

template <std::size_t D>
Hierarchy<D>::Hierarchy(mpi::Context& context, const GridOptions<D>& grid, std::span<const BlockId<D>> blocks,
                        const HierarchyOptions& options)
    : context_(&context), space_(grid), options_(options), levels_(grid.n_levels) {
  check_nesting(options, grid.block_cells);
  agree_after(context, [&] {
    for (const BlockId<D>& block : blocks)
      if (block.level < 0 || block.level >= n_levels() || !space_.blocks(block.level).contains(block.at))
        refuse(ErrorCode::bad_input, text_of(block), "lies outside the domain");
  });
  place(blocks);
  const Status status = capture([&] {
    for (int level = 0; level < n_levels(); ++level)
      for (std::size_t b = 1; b < levels_[level].blocks.size(); ++b)
        if (levels_[level].blocks[b].key == levels_[level].blocks[b - 1].key)
          refuse(ErrorCode::bad_input, text_of(BlockId<D>{.at = levels_[level].blocks[b].at, .level = level}),
                 "is given twice");
    if (n_global(0) != space_.blocks(0).size())
      refuse(ErrorCode::bad_input, "the coarsest level", "does not cover the domain");
  });
  agree(context, status);
  agree(context, look_for_support());
}

/// Send blocks to ranks that each have an equal part of all keys, and from there to their owners.
template <std::size_t D>
void Hierarchy<D>::place(std::span<const BlockId<D>> blocks) {
  const std::uint64_t n_ranks = context_->size();
  std::vector<CurvePlace> equal;
  for (std::uint64_t p = 0; p < n_ranks; ++p)
    equal.push_back({static_cast<std::uint64_t>(static_cast<unsigned __int128>(space_.n_keys()) * p / n_ranks), 0});
  first_.assign(n_levels(), equal);
  std::vector<Rank> to;
  std::vector<Planned> dealt;
  for (const BlockId<D>& block : blocks) {
    dealt.push_back({.place = space_.place(block.level, block.at), .at = block.at, .old_number = -1});
    to.push_back(owner(dealt.back().place));
  }
  auto planned = exchange::route(*context_, exchange::pack_by_rank<Planned>(to, std::span<const Planned>(dealt)));
  std::ranges::sort(planned.items, {}, &Planned::place);
  std::ignore = share_out(planned.items, Sharing::anew);
}

template <std::size_t D>
Rank Hierarchy<D>::owner(const CurvePlace& place) const noexcept {
  const std::vector<CurvePlace>& first = first_[place.level];
  return static_cast<Rank>(std::ranges::upper_bound(first, place) - first.begin()) - 1;
}

template <std::size_t D>
auto Hierarchy<D>::find(int level, const Index& block) const noexcept -> std::optional<Found> {
  const std::vector<Known>& known = levels_[level].known;
  const std::uint64_t key = space_.place(level, block).key;
  const auto found = std::ranges::lower_bound(known, key, {}, &Known::key);
  if (found == known.end() || found->key != key) return {};
  return Found{.rank = found->rank, .number = found->number};
}

template <std::size_t D>
BlockMotion Hierarchy<D>::change(int base, std::span<const BlockId<D>> wanted, Sharing sharing,
                                 std::span<const std::vector<std::int32_t>> weights) {
  const Region region(context_->trace(), change_region);
  return share_out(plan(base, with_support(base, wanted), weights), sharing);
}

template <std::size_t D>
std::vector<BlockId<D>> Hierarchy<D>::with_support(int base, std::span<const BlockId<D>> wanted) const {
  detail::Support<D> support(*this, base);
  for (const BlockId<D>& block : wanted) support.add(block.level, block.at);
  return std::move(support).take();
}

/// Plan the blocks in this rank's piece of the curve, in its order. Collective.
template <std::size_t D>
auto Hierarchy<D>::plan(int base, std::span<const BlockId<D>> wanted,
                        std::span<const std::vector<std::int32_t>> weights) const -> std::vector<Planned> {
  std::vector<Rank> to;
  std::vector<Planned> marks;
  for (const BlockId<D>& block : wanted) {
    const CurvePlace place = space_.place(block.level, block.at);
    marks.push_back({.place = place, .at = block.at, .old_number = -1});
    to.push_back(owner(place));
  }
  std::vector<Planned> planned =
      exchange::route(*context_, exchange::pack_by_rank<Planned>(to, std::span<const Planned>(marks))).items;
  for (int level = 0; level <= base; ++level)
    for (const Block& block : levels_[level].blocks)
      planned.push_back({.place = {block.key, level}, .at = block.at, .old_number = -1});
  std::ranges::sort(planned, {}, &Planned::place);
  const auto same = std::ranges::unique(planned, {}, &Planned::place);
  planned.erase(same.begin(), same.end());
  std::int32_t weight = 1;
  for (Planned& one : planned) {
    if (const auto found = find(one.place.level, one.at); found) one.old_number = found->number;
    if (one.old_number >= 0 && !weights.empty()) weight = weights[one.place.level][one.old_number];
    one.weight = weight;
  }
  return planned;
}

/// Send each block to its new owner. Collective. @param planned  in the order of the curve
template <std::size_t D>
BlockMotion Hierarchy<D>::share_out(const std::vector<Planned>& planned, Sharing sharing) {
  // One group for each level, or one for all.
  const auto group_of = [&](const Planned& one) {
    return options_.partition == Partition::by_level ? one.place.level : 0;
  };
  const auto weight = [&](const Planned& one) {
    std::int64_t steps = 1;
    if (options_.is_subcycled)
      for (int level = 0; level < one.place.level; ++level) steps *= space_.ratio();
    return 2 * steps * one.weight;  // even: half of it is a whole number
  };
  std::vector<std::int64_t> before(n_levels());
  for (const Planned& one : planned) before[group_of(one)] += weight(one);
  std::vector<std::int64_t> total = before;
  mpi::exclusive_sum(*context_, std::span<std::int64_t>(before));
  mpi::all_reduce(*context_, std::span<std::int64_t>(total), MPI_SUM);

  BlockMotion motion;
  std::vector<Rank> to;
  std::vector<Arrival<D>> arrivals;
  std::vector<std::vector<std::int32_t>> stays(n_levels());  // old numbers, in the order of the curve
  bool is_changed = false;
  std::vector<std::size_t> n_before(n_levels());
  for (int level = 0; level < n_levels(); ++level) n_before[level] = levels_[level].blocks.size();
  for (const Planned& one : planned) {
    const std::int32_t group = group_of(one);
    const __int128 midpoint = before[group] + weight(one) / 2;
    before[group] += weight(one);
    const Rank rank =
        sharing == Sharing::kept ? context_->rank() : static_cast<Rank>(midpoint * context_->size() / total[group]);
    to.push_back(rank);
    arrivals.push_back({.at = one.at,
                        .key = one.place.key,
                        .level = one.place.level,
                        .is_new = one.old_number < 0 ? 1 : 0,
                        .weight = one.weight});
    if (one.old_number < 0 || rank != context_->rank()) is_changed = true;
    if (one.old_number < 0) continue;
    n_before[one.place.level] -= 1;
    if (rank == context_->rank())
      stays[one.place.level].push_back(one.old_number);
    else
      motion.outgoing.push_back({.peer = rank, .level = one.place.level, .number = one.old_number});
  }
  for (const std::size_t n : n_before) is_changed = is_changed || n > 0;

  const auto arrived =
      exchange::route(*context_, exchange::pack_by_rank<Arrival<D>>(to, std::span<const Arrival<D>>(arrivals)));
  for (Level& level : levels_) level.blocks.clear();
  motion.old_number.resize(n_levels());
  motion.created.resize(n_levels());
  motion.weights.resize(n_levels());
  std::vector<std::size_t> n_stayed(n_levels());
  // Ranks have ascending pieces of the curve, so blocks that arrive by rank are in its order.
  for (std::size_t p = 0; p < arrived.n_peers(); ++p) {
    for (const Arrival<D>& one : arrived.of(p)) {
      std::vector<Block>& blocks = levels_[one.level].blocks;
      const auto number = static_cast<std::int32_t>(blocks.size());
      blocks.push_back({.at = one.at, .key = one.key});
      motion.weights[one.level].push_back(static_cast<std::int32_t>(one.weight));
      std::int32_t old_number = -1;
      if (one.is_new != 0)
        motion.created[one.level].push_back(number);
      else if (arrived.peers[p] == context_->rank())
        old_number = stays[one.level][n_stayed[one.level]++];
      else
        motion.incoming.push_back({.peer = arrived.peers[p], .level = one.level, .number = number});
      motion.old_number[one.level].push_back(old_number);
    }
  }
  std::vector<std::int64_t> counts;
  for (const Level& level : levels_) counts.push_back(std::ssize(level.blocks));
  for (const auto& created : motion.created) counts.push_back(std::ssize(created));
  counts.push_back(is_changed ? 1 : 0);
  mpi::all_reduce(*context_, std::span<std::int64_t>(counts), MPI_SUM);
  for (int level = 0; level < n_levels(); ++level) {
    levels_[level].n_global = counts[level];
    motion.n_created_global.push_back(counts[n_levels() + level]);
  }
  motion.is_none = counts.back() == 0;
  if (motion.is_none) return motion;
  if (sharing == Sharing::anew) gather_places();
  introduce_neighbours();
  return motion;
}

template <std::size_t D>
void Hierarchy<D>::gather_places() {
  constexpr CurvePlace nothing{~std::uint64_t{0}, 0};
  std::vector<CurvePlace> mine;
  for (int level = 0; level < n_levels(); ++level) {
    const std::vector<Block>& blocks = levels_[level].blocks;
    mine.push_back(blocks.empty() ? nothing : CurvePlace{blocks.front().key, level});
  }
  const auto gathered = [&](const CurvePlace& place) {
    std::vector<CurvePlace> first = mpi::all_gather(*context_, place);
    // A rank without blocks begins where the next one does.
    for (std::size_t p = first.size() - 1; p-- > 0;)
      if (first[p] == nothing) first[p] = first[p + 1];
    // Places before the first block of all belong to the first rank.
    const CurvePlace lowest = first.front();
    for (CurvePlace& one : first)
      if (one == lowest) one = {};
    return first;
  };
  if (options_.partition == Partition::composite) {
    first_.assign(n_levels(), gathered(*std::ranges::min_element(mine)));
    return;
  }
  for (int level = 0; level < n_levels(); ++level)
    first_[level] = n_global(level) > 0 || level == 0 ? gathered(mine[level]) : first_[level - 1];
}

/// Introduce each block to the ranks that may have a neighbour of it, or a block in such a neighbour.
template <std::size_t D>
void Hierarchy<D>::introduce_neighbours() {
  std::vector<Rank> to;
  std::vector<Introduction> introductions;
  std::vector<Rank> ranks;
  for (int level = 0; level < n_levels(); ++level) {
    for (const Block& block : levels_[level].blocks) {
      ranks.clear();
      detail::visit_blocks(space_, level, space_.cells(block.at).grown(1), [&](const Index& near) {
        const CurvePlace place = space_.place(level, near);
        const CurvePlace behind = space_.place_behind(place);
        // In a composite partition a rank has the same piece of all levels.
        const int last = options_.partition == Partition::by_level ? n_levels() - 1 : level;
        for (int l = level; l <= last; ++l) {
          const auto end = static_cast<Rank>(std::ranges::lower_bound(first_[l], behind) - first_[l].begin());
          for (Rank rank = owner({place.key, l}); rank < end; ++rank)
            if (rank != context_->rank() && (ranks.empty() || ranks.back() != rank)) ranks.push_back(rank);
        }
        return true;
      });
      std::ranges::sort(ranks);
      const auto same = std::ranges::unique(ranks);
      ranks.erase(same.begin(), same.end());
      for (const Rank rank : ranks) {
        to.push_back(rank);
        introductions.push_back({.key = block.key, .level = level});
      }
    }
  }
  const auto met = exchange::route(
      *context_, exchange::pack_by_rank<Introduction>(to, std::span<const Introduction>(introductions)));
  for (Level& level : levels_) {
    level.known.clear();
    for (std::int32_t b = 0; b < std::ssize(level.blocks); ++b)
      level.known.push_back({.key = level.blocks[b].key, .rank = context_->rank(), .number = b});
  }
  for (std::size_t p = 0; p < met.n_peers(); ++p)
    for (const Introduction& one : met.of(p))
      levels_[one.level].known.push_back({.key = one.key, .rank = met.peers[p], .number = -1});
  for (Level& level : levels_) std::ranges::sort(level.known, {}, &Known::key);
}

/// Check that each block of this rank has the coarser blocks that it needs around it. Local: the rank knows these.
template <std::size_t D>
Status Hierarchy<D>::look_for_support() const {
  return capture([&] {
    for (int level = 1; level < n_levels(); ++level)
      for (const Block& block : levels_[level].blocks)
        detail::visit_blocks(space_, level - 1, space_.footprint(block.at).grown(options_.nesting),
                             [&](const Index& coarse) {
                               if (!find(level - 1, coarse))
                                 refuse(ErrorCode::bad_input, text_of(BlockId<D>{.at = block.at, .level = level}),
                                        fmt::format("needs {} around it, which is missing",
                                                    text_of(BlockId<D>{.at = coarse, .level = level - 1})));
                               return true;
                             });
  });
}

template <std::size_t D>
void Hierarchy<D>::validate() const {
  constexpr const char* remedy = "this is a bug in barrio, please report it";
  // Each block asks the owners about the coarser blocks that it needs, and about its neighbours.
  struct Question {
    Index at;
    std::int32_t level;
    std::int32_t is_needed;  // else it may be missing: `is_there` must be right
    std::int32_t is_there;
  };
  std::vector<Rank> to;
  std::vector<Question> questions;
  const Status order = capture([&] {
    for (int level = 0; level < n_levels(); ++level) {
      const auto blocks = this->blocks(level);
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const CurvePlace place = space_.place(level, blocks[b].at);
        if (place.key != blocks[b].key || (b > 0 && blocks[b - 1].key >= place.key) || owner(place) != context_->rank())
          refuse(ErrorCode::internal, fmt::format("block {} of level {}", b, level), "is out of place", remedy);
        const auto ask = [&](int of_level, bool is_needed) {
          return [&, of_level, is_needed](const Index& at) {
            to.push_back(owner(space_.place(of_level, at)));
            questions.push_back({.at = at,
                                 .level = of_level,
                                 .is_needed = is_needed ? 1 : 0,
                                 .is_there = find(of_level, at).has_value() ? 1 : 0});
            return true;
          };
        };
        detail::visit_blocks(space_, level, space_.cells(blocks[b].at).grown(1), ask(level, false));
        if (level > 0)
          detail::visit_blocks(space_, level - 1, space_.footprint(blocks[b].at).grown(options_.nesting),
                               ask(level - 1, true));
      }
    }
  });
  const auto asked =
      exchange::route(*context_, exchange::pack_by_rank<Question>(to, std::span<const Question>(questions)));
  agree_after(*context_, [&] {
    if (order) throw *order;
    for (std::size_t p = 0; p < asked.n_peers(); ++p) {
      for (const Question& one : asked.of(p)) {
        const auto found = find(one.level, one.at);
        const bool is_there = found && found->rank == context_->rank();
        if (one.is_needed != 0 ? !is_there : is_there != (one.is_there != 0))
          refuse(ErrorCode::internal, fmt::format("hierarchy, level {}", one.level),
                 fmt::format("rank {} has a block with a wrong neighbourhood", asked.peers[p]), remedy);
      }
    }
    if (n_global(0) != space_.blocks(0).size())
      refuse(ErrorCode::internal, "hierarchy", "does not cover the domain", remedy);
  });
}

template <std::size_t D>
std::uint64_t Hierarchy<D>::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof *this;
  for (const std::vector<CurvePlace>& first : first_) bytes += barrio::memory_bytes(first);
  for (const Level& level : levels_) bytes += barrio::memory_bytes(level.blocks) + barrio::memory_bytes(level.known);
  return bytes;
}

template class Hierarchy<2>;
template class Hierarchy<3>;

}  // namespace barrio::amr
