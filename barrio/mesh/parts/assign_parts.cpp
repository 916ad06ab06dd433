#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// A file may list its parts element by element, in any order. Then there are as many runs as cells, and their size
// determines the memory needed for reading. So a run takes 16 bytes and travels straight to the home of its rows.

namespace barrio::mesh {
namespace {

/// A run of cells of one block, within or on the way to the slab of one rank.
struct BlockRun {
  std::int32_t block;
  std::int32_t part;
  std::int64_t first;  // row in the block
  std::int64_t count;
};

/// A run at the rank whose slab holds it.
struct HomeRun {
  std::int32_t block;
  std::int32_t part;
  std::int32_t first;  // place in the slab
  std::int32_t count;
};

/// A block of the top dimension and its first row among all cells of that dimension.
struct TopBlock {
  std::int32_t place;
  std::int64_t first_row;
};

std::vector<TopBlock> top_blocks(const MeshTables& tables) {
  std::vector<TopBlock> blocks;
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b)
    if (topology(tables.blocks[b].type).dim == tables.top_dim()) blocks.push_back({b, tables.first_row(b)});
  return blocks;
}

/// Call `visit(run)` for the pieces of rows in each block.
template <class Visit>
void for_each_block(const MeshTables& tables, std::span<const TopBlock> blocks, const PartRows& rows, Visit&& visit) {
  for (const TopBlock& block : blocks) {
    const std::int64_t n = tables.blocks[block.place].rows.n_rows;
    const std::int64_t low = std::max(rows.first - block.first_row, std::int64_t{0});
    const std::int64_t high = std::min(rows.first + rows.count - block.first_row, n);
    if (low < high) visit(BlockRun{block.place, rows.part, low, high - low});
  }
}

/// Call `visit(home, piece)` for the pieces of a run, cut at every `stride` slabs; home is the rank of the first slab.
template <class Visit>
void for_each_slab(const Slabs& slabs, BlockRun run, std::int64_t stride, Visit&& visit) {
  while (run.count > 0) {
    const Rank home = slabs.rank_of(run.first);
    const auto last = static_cast<Rank>(std::min<std::int64_t>(home + stride, slabs.n_ranks));
    BlockRun piece = run;
    piece.count = std::min(run.count, slabs.first(last) - run.first);
    visit(home, piece);
    run.first += piece.count;
    run.count -= piece.count;
  }
}

/// Cut runs that cover more than 64 slabs: each piece goes to the home of its first row, which cuts it again. So no
/// rank sends to all others. Collective. @return runs that cover at most 64 slabs each
std::vector<PartRows> hand_on(mpi::Context& context, const MeshTables& tables, std::span<const TopBlock> blocks,
                              std::vector<PartRows> rows) {
  constexpr std::int64_t fan_out = 64;
  if (context.size() <= fan_out) return rows;
  while (true) {
    std::int64_t most = 1;
    for (const PartRows& run : rows) {
      for_each_block(tables, blocks, run, [&](const BlockRun& piece) {
        const Slabs& slabs = tables.blocks[piece.block].rows;
        most = std::max<std::int64_t>(most, slabs.rank_of(piece.first + piece.count - 1) - slabs.rank_of(piece.first));
      });
    }
    most = mpi::max(context, most);
    if (most < fan_out) return rows;
    std::int64_t stride = fan_out;
    while (stride * fan_out < most) stride *= fan_out;
    std::vector<Rank> to;
    std::vector<PartRows> cut;
    for (const PartRows& run : rows) {
      for (const TopBlock& block : blocks) {
        for_each_block(tables, {&block, 1}, run, [&](const BlockRun& piece) {
          const Slabs& slabs = tables.blocks[piece.block].rows;
          for_each_slab(slabs, piece, stride, [&](Rank home, const BlockRun& part) {
            to.push_back(home);
            cut.push_back({block.first_row + part.first, static_cast<std::int32_t>(part.count), part.part});
          });
        });
      }
    }
    rows = exchange::route(context, exchange::pack_by_rank<PartRows>(to, cut), exchange::Route::automatic).items;
  }
}

}  // namespace

void assign_parts(mpi::Context& context, MeshTables& tables, std::vector<PartRows> rows, int n_parts,
                  const std::string& subject) {
  const std::vector<TopBlock> blocks = top_blocks(tables);
  rows = hand_on(context, tables, blocks, std::move(rows));
  std::vector<Rank> to;
  std::vector<HomeRun> runs;
  to.reserve(rows.size());
  runs.reserve(rows.size());
  for (const PartRows& run : rows) {
    for_each_block(tables, blocks, run, [&](const BlockRun& of_block) {
      const Slabs& slabs = tables.blocks[of_block.block].rows;
      for_each_slab(slabs, of_block, 1, [&](Rank home, const BlockRun& piece) {
        to.push_back(home);
        runs.push_back({piece.block, piece.part, static_cast<std::int32_t>(piece.first - slabs.first(home)),
                        static_cast<std::int32_t>(piece.count)});
      });
    });
  }
  free_memory(rows);
  auto parcels = exchange::pack_by_rank<HomeRun>(to, runs);
  free_memory(to);
  free_memory(runs);
  const auto at_home = exchange::route(context, parcels, exchange::Route::automatic);
  free_memory(parcels);

  tables.n_parts = n_parts;
  agree_after(context, [&] {
    std::vector<std::size_t> first_of(tables.blocks.size(), 0);  // in tables.parts
    std::size_t n_cells = 0;
    for (const TopBlock& block : blocks) {
      first_of[block.place] = n_cells;
      n_cells += tables.blocks[block.place].rows.size(context.rank());
    }
    tables.parts.assign(n_cells, -1);
    for (const HomeRun& run : at_home.items) {
      const std::size_t first = first_of[run.block] + run.first;
      for (std::size_t i = first; i < first + run.count; ++i) {
        if (tables.parts[i] >= 0 && tables.parts[i] != run.part) {  // a part may list both a set and its members
          throw Error(ErrorCode::bad_input,
                      {.subject = subject,
                       .cause = fmt::format("element {} (0-based) is in part {} and in part {}",
                                            value(top_ids(context, tables)[i]), tables.parts[i], run.part),
                       .remedy = "partition the mesh again: barrio partition IN -n P -o OUT"});
        }
        tables.parts[i] = run.part;
      }
    }
  });
}

}  // namespace barrio::mesh
