#include "barrio/mesh/tables/set_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "barrio/base/ragged.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// A run of rows of one block or of the vertices.
struct BlockRun {
  std::int32_t set;
  std::int32_t block;  // -1: vertices
  std::int64_t first;  // row in the block
  std::int64_t count;
  std::int64_t position;

  /// Return `n` rows of the run, after the first `skip`.
  [[nodiscard]] BlockRun piece(std::int64_t skip, std::int64_t n) const {
    return {set, block, first + skip, n, position < 0 ? -1 : position + skip};
  }
};

/// Cut a run at the ends of slabs. @param stride  number of slabs that stay together
template <class Visit>
void for_each_piece(const Slabs& slabs, BlockRun run, std::int64_t stride, Visit&& visit) {
  while (run.count > 0) {
    const Rank home = slabs.rank_of(run.first);
    const std::int64_t last = std::min<std::int64_t>(home + stride, slabs.n_ranks);
    const std::int64_t n = std::min(run.count, slabs.first(static_cast<Rank>(last)) - run.first);
    visit(home, run.piece(0, n));
    run = run.piece(n, run.count - n);
  }
}

/// Cut the runs of rows of each dimension at the ends of blocks.
std::vector<BlockRun> by_block(const MeshTables& tables) {
  std::array<std::vector<std::pair<std::int64_t, std::int32_t>>, 4> blocks;  // first row, block
  blocks[0].emplace_back(0, -1);
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b)
    blocks[index(topology(tables.blocks[b].type).dim)].emplace_back(tables.first_row(b), b);
  std::vector<BlockRun> runs;
  runs.reserve(tables.members.size());
  for (const SetRows& rows : tables.members) {
    for (const auto& [first, block] : blocks[index(rows.dim)]) {
      const std::int64_t low = std::max(rows.first, first);
      const std::int64_t high = std::min(rows.first + rows.count, first + tables.slabs_of(block).n_rows);
      if (low >= high) continue;
      const BlockRun whole{rows.set, block, rows.first - first, rows.count, rows.position};
      runs.push_back(whole.piece(low - rows.first, high - low));
    }
  }
  return runs;
}

}  // namespace

HomeRuns set_runs_at_home(mpi::Context& context, const MeshTables& tables) {
  // A set of the whole mesh is one run, whose holder would send to all ranks. So long runs are forwarded in pieces.
  constexpr std::int64_t fan_out = 64;
  std::vector<BlockRun> runs = by_block(tables);
  for (std::int64_t stride = fan_out; stride > 1;) {
    std::int64_t most = 1;  // maximum number of slabs that a run covers
    if (context.size() > fan_out) {
      for (const BlockRun& run : runs) {
        const Slabs& slabs = tables.slabs_of(run.block);
        most = std::max<std::int64_t>(most, slabs.rank_of(run.first + run.count - 1) - slabs.rank_of(run.first) + 1);
      }
      most = mpi::max(context, most);
    }
    stride = 1;
    while (stride * fan_out < most) stride *= fan_out;
    std::vector<Rank> to;
    std::vector<BlockRun> cut;
    to.reserve(runs.size());
    cut.reserve(runs.size());
    for (const BlockRun& run : runs) {
      for_each_piece(tables.slabs_of(run.block), run, stride, [&](Rank home, const BlockRun& piece) {
        to.push_back(home);
        cut.push_back(piece);
      });
    }
    runs = exchange::route(context, exchange::pack_by_rank<BlockRun>(to, cut), exchange::Route::automatic).items;
  }
  HomeRuns home;
  home.of_blocks.resize(tables.blocks.size());
  for (const BlockRun& run : runs) {
    const std::int64_t first = tables.slabs_of(run.block).first(context.rank());
    auto& out = run.block < 0 ? home.of_vertices : home.of_blocks[run.block];
    out.push_back(
        {{run.set, static_cast<std::int32_t>(run.first - first), static_cast<std::int32_t>(run.count)}, run.position});
  }
  return home;
}

std::vector<Range> ranges_of_sets(std::vector<SetRun>& runs, std::span<const LocalId> at, std::size_t n_sets) {
  // A counting sort by set; the runs of one set are nearly in order.
  auto sorted = Ragged<SetRun>::grouped(n_sets, [&](auto&& put) {
    for (const SetRun& run : runs) put(run.set, run);
  });
  for (std::size_t s = 0; s < n_sets; ++s) {
    const std::span<SetRun> of_set = sorted[s];
    if (!std::ranges::is_sorted(of_set, {}, &SetRun::first)) std::ranges::sort(of_set, {}, &SetRun::first);
  }
  runs = std::move(sorted).take_items();
  std::vector<Range> ranges(n_sets);
  std::vector<LocalRange> pieces;
  for (std::size_t i = 0; i < runs.size();) {
    const std::int32_t set = runs[i].set;
    pieces.clear();
    for (; i < runs.size() && runs[i].set == set; ++i) {
      const std::size_t first = runs[i].first;
      const auto end = first + runs[i].count;
      if (at.empty()) {
        pieces.push_back({local_id(first), local_id(end)});
        continue;
      }
      for (std::size_t place = first; place < end; ++place) {
        const LocalId id = at[place];
        if (!pieces.empty() && pieces.back().last == id) {
          pieces.back().last = id + 1;
        } else {
          pieces.push_back({id, id + 1});
        }
      }
    }
    ranges[set] = Range(pieces);
  }
  return ranges;
}

}  // namespace barrio::mesh::detail
