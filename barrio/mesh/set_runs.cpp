#include "barrio/mesh/detail/set_runs.hpp"

#include <algorithm>
#include <tuple>

#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// Cut a run of rows where the slabs of its dimension end. @param stride  slabs that stay together
template <class Visit>
void for_each_piece(const MeshTables& tables, SetRows rows, std::int64_t stride, Visit&& visit) {
  const auto cut = [&](const Slabs& slabs, std::int64_t first_row) {
    const std::int64_t end_of_slabs = first_row + slabs.n_rows;
    while (rows.count > 0 && rows.first < end_of_slabs) {
      const Rank home = slabs.rank_of(rows.first - first_row);
      const auto last = std::min<std::int64_t>(home + stride, slabs.n_ranks);
      const std::int64_t end = std::min(rows.first + rows.count, first_row + slabs.first(static_cast<Rank>(last)));
      visit(home, SetRows{rows.set, rows.dim, rows.first, end - rows.first});
      rows.count -= end - rows.first;
      rows.first = end;
    }
  };
  if (rows.dim == Dim::vertex) return cut(tables.vertices, 0);
  std::int64_t first_row = 0;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != rows.dim) continue;
    cut(block.rows, first_row);
    first_row += block.rows.n_rows;
  }
}

}  // namespace

std::vector<SetRows> set_rows_at_home(mpi::Context& context, const MeshTables& tables) {
  // A set of the whole mesh is one run: its reader alone would send to all ranks. So long runs are handed on in pieces.
  constexpr std::int64_t fan_out = 64;
  std::vector<SetRows> pieces = tables.members;
  for (;;) {
    std::int64_t most = 1;  // slabs that a run covers
    if (context.size() > fan_out) {
      for (const SetRows& rows : pieces) {
        std::int64_t n = 0;
        for_each_piece(tables, rows, 1, [&](Rank, const SetRows&) { ++n; });
        most = std::max(most, n);
      }
      most = mpi::max(context, most);
    }
    std::int64_t stride = 1;
    while (stride * fan_out < most) stride *= fan_out;
    std::vector<Rank> to;
    std::vector<SetRows> cut;
    for (const SetRows& rows : pieces) {
      for_each_piece(tables, rows, stride, [&](Rank home, const SetRows& piece) {
        to.push_back(home);
        cut.push_back(piece);
      });
    }
    pieces = exchange::route(context, exchange::pack_by_rank<SetRows>(to, cut)).items;
    if (stride == 1) break;
  }
  std::ranges::sort(pieces, {}, [](const SetRows& r) { return std::tuple(r.dim, r.first, r.set, r.count); });
  return pieces;
}

std::span<const SetRows> rows_within(std::span<const SetRows> sorted, Dim dim, std::int64_t first, std::int64_t count) {
  const auto key = [](const SetRows& rows) { return std::tuple(rows.dim, rows.first); };
  const auto low = std::ranges::lower_bound(sorted, std::tuple(dim, first), {}, key);
  const auto high = std::ranges::lower_bound(sorted, std::tuple(dim, first + count), {}, key);
  return {low, high};
}

std::vector<Range> ranges_of_sets(std::vector<SetRun>& runs, std::span<const LocalId> at, std::size_t n_sets) {
  std::ranges::sort(runs, {}, [](const SetRun& run) { return std::tuple(run.set, run.first); });
  std::vector<Range> ranges(n_sets);
  std::vector<LocalRange> pieces;
  for (std::size_t i = 0; i < runs.size();) {
    const std::int32_t set = runs[i].set;
    pieces.clear();
    for (; i < runs.size() && runs[i].set == set; ++i) {
      const auto first = static_cast<std::size_t>(runs[i].first);
      const auto end = first + static_cast<std::size_t>(runs[i].count);
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
    ranges[static_cast<std::size_t>(set)] = Range(pieces);
  }
  return ranges;
}

}  // namespace barrio::mesh::detail
