#include "barrio/amr/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "barrio/amr/grid_function.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

using Places = std::set<std::array<std::int64_t, 2>>;

GridOptions<2> grid_of(int n_levels, int ratio) {
  return {.n_cells = {48, 32},
          .low = {},
          .cell_size = {1.0, 1.0},
          .is_periodic = {true, false},
          .n_levels = n_levels,
          .ratio = ratio,
          .block_cells = 8};
}

/// Return the blocks that the blocks of the finer level need under and around them, cell by cell.
Places support_of(const BlockSpace<2>& space, int level, const std::array<std::int64_t, 2>& block, int nesting) {
  Places coarse;
  const std::int64_t n = space.footprint_cells();
  const auto domain = space.domain(level - 1);
  for (std::int64_t j = block[1] * n - nesting; j < (block[1] + 1) * n + nesting; ++j) {
    if (j < 0 || j >= domain.high[1]) continue;
    for (std::int64_t i = block[0] * n - nesting; i < (block[0] + 1) * n + nesting; ++i) {
      const std::int64_t wrapped = (i + domain.high[0]) % domain.high[0];
      coarse.insert({wrapped / space.block_cells(), j / space.block_cells()});
    }
  }
  return coarse;
}

/// Gather all blocks of a level, on every rank.
Places all_blocks(const Hierarchy<2>& hierarchy, int level) {
  std::vector<Rank> to;
  std::vector<std::array<std::int64_t, 2>> mine;
  for (const auto& block : hierarchy.blocks(level)) {
    for (Rank rank = 0; rank < hierarchy.context().size(); ++rank) {
      to.push_back(rank);
      mine.push_back(block.at);
    }
  }
  const auto all = exchange::route(hierarchy.context(), exchange::pack_by_rank(to, mine));
  return {all.items.begin(), all.items.end()};
}

/// Compute the expected levels from the definition, on sets of all blocks.
std::vector<Places> expected(const BlockSpace<2>& space, int base, std::vector<Places> levels,
                             const std::vector<BlockId<2>>& wanted, int nesting) {
  std::vector<Places> next(levels.begin(), levels.begin() + base + 1);
  next.resize(space.n_levels());
  for (const BlockId<2>& one : wanted) {
    // A block with all that it needs, level by level; nothing if the base lacks its part.
    std::vector<Places> needed(space.n_levels());
    needed[one.level].insert(one.at);
    for (int level = one.level; level > base; --level)
      for (const auto& block : needed[level])
        for (const auto& coarse : support_of(space, level, block, nesting)) needed[level - 1].insert(coarse);
    if (!std::ranges::includes(levels[base], needed[base])) continue;
    for (int level = base + 1; level <= one.level; ++level)
      next[level].insert(needed[level].begin(), needed[level].end());
  }
  return next;
}

void expect_what_is_wanted(Partition partition) {
  std::mt19937_64 random(barrio::test::seed());
  for (const int ratio : {2, 4}) {
    Hierarchy<2> hierarchy(barrio::test::world(), grid_of(ratio == 2 ? 4 : 3, ratio),
                           {.nesting = 2, .partition = partition});
    const BlockSpace<2>& space = hierarchy.space();
    hierarchy.validate();
    EXPECT_EQ(hierarchy.n_global(0), 24);
    GridFunction<std::uint64_t, 2> values(hierarchy, 1);
    const auto value_of = [](int level, const std::array<std::int64_t, 2>& at) {
      return Hash64()
          .add(static_cast<std::uint64_t>(level))
          .add(static_cast<std::uint64_t>(at[0]))
          .add(static_cast<std::uint64_t>(at[1]))
          .value();
    };
    std::vector<Places> levels(space.n_levels());
    for (int round = 0; round < 12; ++round) {
      for (int level = 0; level < space.n_levels(); ++level) {
        levels[level] = all_blocks(hierarchy, level);
        for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b)
          std::ranges::fill(values.values(level, b), value_of(level, hierarchy.blocks(level)[b].at));
      }
      const int base = std::uniform_int_distribution<int>(0, space.n_levels() - 2)(random);
      // All ranks make the same requests; the rank that owns the block of the coarser level states each.
      std::vector<BlockId<2>> wanted;
      for (int level = base + 1; level < space.n_levels(); ++level) {
        for (const auto& coarse : levels[level - 1]) {
          const std::uint64_t die = random();
          if (die % 3 != 0) continue;
          BlockId<2> one{.at = {coarse[0] * ratio + static_cast<std::int64_t>(die / 3 % ratio),
                                coarse[1] * ratio + static_cast<std::int64_t>(die / 16 % ratio)},
                         .level = level};
          wanted.push_back(one);
        }
      }
      std::vector<BlockId<2>> mine;
      for (const BlockId<2>& one : wanted)
        if (const auto found = hierarchy.find(one.level - 1, space.parent(one.at)); found && found->number >= 0)
          mine.push_back(one);
      const auto sharing = base == 0 ? Hierarchy<2>::Sharing::anew : Hierarchy<2>::Sharing::kept;
      const BlockMotion motion = hierarchy.change(base, mine, sharing);
      values.move(motion);
      hierarchy.validate();
      const std::vector<Places> should = expected(space, base, levels, wanted, 2);
      for (int level = 0; level < space.n_levels(); ++level) {
        EXPECT_EQ(all_blocks(hierarchy, level), should[level]) << "ratio " << ratio << " level " << level;
        EXPECT_EQ(hierarchy.n_global(level), std::ssize(should[level]));
        const auto& created = motion.created[level];
        for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b) {
          const auto& at = hierarchy.blocks(level)[b].at;
          const bool is_new = std::ranges::find(created, static_cast<std::int32_t>(b)) != created.end();
          EXPECT_EQ(is_new, !levels[level].contains(at));
          if (is_new) continue;
          for (const std::uint64_t one : values.values(level, b)) ASSERT_EQ(one, value_of(level, at));
        }
      }
    }
  }
}

TEST(Hierarchy, HasWhatWasWantedAndWhatThatNeeds) { expect_what_is_wanted(Partition::composite); }
TEST(Hierarchy, HasWhatWasWantedWhereLevelsLieApart) { expect_what_is_wanted(Partition::by_level); }

/// Check random levels of blocks of different weights. Weights move with their blocks, and all pieces of a curve have
/// equal weights to within half of the heaviest block.
void expect_equal_weights(Partition partition) {
  Hierarchy<2> hierarchy(barrio::test::world(), grid_of(3, 2), {.partition = partition});
  const auto weight_of = [](int level, const std::array<std::int64_t, 2>& at) {
    return static_cast<std::int32_t>(1 + 10 * level + at[0] * at[0]);
  };
  std::vector<std::vector<std::int32_t>> weights(3);
  for (int round = 0; round < 3; ++round) {
    std::vector<BlockId<2>> wanted;
    for (int level = 0; level < 3; ++level) {
      weights[level].clear();
      for (const auto& block : hierarchy.blocks(level)) {
        weights[level].push_back(weight_of(level, block.at));
        if (level < 2 && block.at[0] % 3 == 0)
          wanted.push_back({.at = {2 * block.at[0], 2 * block.at[1]}, .level = level + 1});
      }
    }
    const BlockMotion motion = hierarchy.change(0, wanted, Hierarchy<2>::Sharing::anew, weights);
    hierarchy.validate();
    // Per level, or of all levels together.
    std::vector<std::int64_t> mine(3);
    std::vector<std::int64_t> heaviest(3);
    for (int level = 0; level < 3; ++level) {
      const auto blocks = hierarchy.blocks(level);
      const auto& created = motion.created[level];
      const int group = partition == Partition::by_level ? level : 0;
      ASSERT_EQ(motion.weights[level].size(), blocks.size());
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const bool is_new = std::ranges::find(created, static_cast<std::int32_t>(b)) != created.end();
        EXPECT_TRUE(is_new || motion.weights[level][b] == weight_of(level, blocks[b].at));
        const std::int64_t weight = std::int64_t{motion.weights[level][b]} << level;
        mine[group] += weight;
        heaviest[group] = std::max(heaviest[group], weight);
      }
    }
    for (int group = 0; group < 3; ++group) {
      const std::int64_t most = mpi::max(barrio::test::world(), heaviest[group]);
      const std::int64_t equal = mpi::sum(barrio::test::world(), mine[group]) / barrio::test::world().size();
      EXPECT_LE(std::abs(mine[group] - equal), most + 1) << "level " << group;
    }
  }
}

TEST(Hierarchy, SharesOutEachLevelByWhatBlocksCost) { expect_equal_weights(Partition::by_level); }
TEST(Hierarchy, SharesOutAllLevelsByWhatBlocksCost) { expect_equal_weights(Partition::composite); }

TEST(Hierarchy, IsSharedOutBySteps) {
  Hierarchy<2> hierarchy(barrio::test::world(), grid_of(3, 2), {.partition = Partition::composite});
  std::vector<BlockId<2>> wanted;
  for (const auto& block : hierarchy.blocks(0))
    if (block.at[0] < 3) wanted.push_back({.at = {2 * block.at[0], 2 * block.at[1]}, .level = 1});
  std::ignore = hierarchy.change(0, wanted);
  std::int64_t weight = 0;
  for (int level = 0; level < 3; ++level) weight += std::ssize(hierarchy.blocks(level)) << level;
  const std::int64_t all = mpi::sum(barrio::test::world(), weight);
  EXPECT_LE(weight, all / barrio::test::world().size() + 2);
  EXPECT_GE(weight, all / barrio::test::world().size() - 2);
}

TEST(Hierarchy, RefusesBlocksThatCannotBe) {
  const auto message_of = [](const std::vector<BlockId<2>>& blocks) {
    const bool is_first = barrio::test::world().is_root();
    try {
      const Hierarchy<2> hierarchy(barrio::test::world(), grid_of(3, 2),
                                   is_first ? std::span(blocks) : std::span<const BlockId<2>>());
    } catch (const AgreedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::vector<BlockId<2>> all;
  for (std::int64_t j = 0; j < 4; ++j)
    for (std::int64_t i = 0; i < 6; ++i) all.push_back({.at = {i, j}, .level = 0});
  EXPECT_EQ(message_of(all), "");
  std::vector<BlockId<2>> blocks = all;
  blocks.push_back({.at = {12, 0}, .level = 1});
  EXPECT_EQ(message_of(blocks), "block 12, 0 of level 1: lies outside the domain");
  blocks.back() = {.at = {0, 0}, .level = 3};
  EXPECT_EQ(message_of(blocks), "block 0, 0 of level 3: lies outside the domain");
  blocks.back() = blocks.front();
  EXPECT_EQ(message_of(blocks), "block 0, 0 of level 0: is given twice");
  blocks.back() = {.at = {4, 4}, .level = 2};
  EXPECT_EQ(message_of(blocks), "block 4, 4 of level 2: needs block 1, 1 of level 1 around it, which is missing");
  blocks.assign(all.begin() + 1, all.end());
  EXPECT_EQ(message_of(blocks), "the coarsest level: does not cover the domain");
}

TEST(Hierarchy, OfAnUnchangedWishDoesNotMove) {
  Hierarchy<2> hierarchy(barrio::test::world(), grid_of(2, 2));
  const auto wish = [&] {
    std::vector<BlockId<2>> wanted;
    for (const auto& block : hierarchy.blocks(0))
      if (block.at[1] == 1) wanted.push_back({.at = {2 * block.at[0], 2}, .level = 1});
    return wanted;
  };
  EXPECT_FALSE(hierarchy.change(0, wish()).is_none);
  EXPECT_TRUE(hierarchy.change(0, wish()).is_none);
}

TEST(Hierarchy, RefusesGridsThatCannotBe) {
  const auto code_of = [](const GridOptions<2>& grid) {
    try {
      const Hierarchy<2> hierarchy(barrio::test::world(), grid);
    } catch (const AgreedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  GridOptions<2> grid = grid_of(2, 3);
  EXPECT_EQ(code_of(grid), "ratio 3: must be 2 or 4");
  grid = grid_of(2, 2);
  grid.n_cells[1] = 30;
  EXPECT_EQ(code_of(grid), "30 cells along axis 1: must be a positive multiple of the 8 cells of a block");
  grid = grid_of(40, 2);
  EXPECT_EQ(code_of(grid), "40 levels of ratio 2: could have 2^42 blocks along an axis, but must have at most 2^31");
}

}  // namespace
}  // namespace barrio::amr
