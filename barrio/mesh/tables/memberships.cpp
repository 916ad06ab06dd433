#include "barrio/mesh/memberships.hpp"

#include <algorithm>
#include <tuple>

#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh {
namespace {

auto home_order(const Membership& m) { return std::tuple(m.dim, m.row, m.set, m.position); }
auto set_order(const Membership& m) { return std::tuple(m.set, m.dim, m.row, m.position); }

}  // namespace

std::vector<Membership> memberships_at_home(mpi::Context& context, const MeshTables& tables) {
  const detail::HomeRuns runs = detail::set_runs_at_home(context, tables);
  std::vector<Membership> members;
  const auto expand = [&](Dim dim, std::int64_t first, const std::vector<detail::HomeRun>& of) {
    for (const detail::HomeRun& run : of)
      for (std::int32_t i = 0; i < run.count; ++i)
        members.push_back({dim, run.set, first + run.first + i, run.position < 0 ? -1 : run.position + i});
  };
  expand(Dim::vertex, tables.vertices.first(context.rank()), runs.of_vertices);
  for (std::size_t b = 0; b < tables.blocks.size(); ++b)
    expand(topology(tables.blocks[b].type).dim, tables.first_row(b) + tables.blocks[b].rows.first(context.rank()),
           runs.of_blocks[b]);
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
    const auto goes_on = [&](const SetRows& run) {
      return run.set == m.set && run.dim == m.dim && run.first + run.count == m.row &&
             m.position == (run.position < 0 ? -1 : run.position + run.count);
    };
    if (!runs.empty() && goes_on(runs.back())) {
      runs.back().count += 1;
    } else {
      runs.push_back({m.set, m.dim, m.row, 1, m.position});
    }
  }
  return runs;
}

}  // namespace barrio::mesh
