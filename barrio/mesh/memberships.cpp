#include "barrio/mesh/detail/memberships.hpp"

#include <algorithm>
#include <tuple>

#include "barrio/exchange/router.hpp"

namespace barrio::mesh::detail {
namespace {

auto home_order(const Membership& m) { return std::tuple(m.dim, m.row, m.set); }
auto set_order(const Membership& m) { return std::tuple(m.set, m.dim, m.row); }

/// Cut a run of rows where the slabs of its dimension end.
template <class Visit>
void for_each_home(const MeshTables& tables, SetRows rows, Visit&& visit) {
  while (rows.count > 0) {
    const Rank home = tables.home(rows.dim, rows.first);
    std::int64_t end = rows.first + rows.count;
    if (tables.home(rows.dim, end - 1) != home) {
      // The end of the home's slab, by bisection over rows: blocks have slabs of their own.
      std::int64_t low = rows.first;
      while (end - low > 1) {
        const std::int64_t middle = low + (end - low) / 2;
        (tables.home(rows.dim, middle) == home ? low : end) = middle;
      }
    }
    visit(home, SetRows{rows.set, rows.dim, rows.first, end - rows.first});
    rows.count -= end - rows.first;
    rows.first = end;
  }
}

}  // namespace

std::vector<Membership> memberships_at_home(mpi::Context& context, const MeshTables& tables) {
  std::vector<Rank> to;
  std::vector<SetRows> pieces;
  for (const SetRows& rows : tables.members) {
    for_each_home(tables, rows, [&](Rank home, const SetRows& piece) {
      to.push_back(home);
      pieces.push_back(piece);
    });
  }
  pieces = exchange::route(context, exchange::pack_by_rank<SetRows>(to, pieces)).items;
  std::vector<Membership> members;
  for (const SetRows& piece : pieces)
    for (std::int64_t i = 0; i < piece.count; ++i) members.push_back({piece.dim, piece.set, piece.first + i});
  std::sort(members.begin(), members.end(),
            [](const Membership& a, const Membership& b) { return home_order(a) < home_order(b); });
  members.erase(std::unique(members.begin(), members.end(),
                            [](const Membership& a, const Membership& b) { return home_order(a) == home_order(b); }),
                members.end());
  return members;
}

std::span<const Membership> of_row(std::span<const Membership> sorted, Dim dim, std::int64_t row) {
  const auto key = std::tuple(dim, row);
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), key,
                                      [](const Membership& m, const auto& k) { return std::tuple(m.dim, m.row) < k; });
  auto last = first;
  while (last != sorted.end() && last->dim == dim && last->row == row) ++last;
  return {first, last};
}

std::vector<SetRows> as_runs(std::vector<Membership>& members) {
  std::sort(members.begin(), members.end(),
            [](const Membership& a, const Membership& b) { return set_order(a) < set_order(b); });
  std::vector<SetRows> runs;
  for (const Membership& m : members) {
    if (!runs.empty() && runs.back().set == m.set && runs.back().dim == m.dim &&
        runs.back().first + runs.back().count == m.row) {
      runs.back().count += 1;
    } else {
      runs.push_back({m.set, m.dim, m.row, 1});
    }
  }
  return runs;
}

}  // namespace barrio::mesh::detail
