#include <algorithm>

#include "barrio/mesh/assembly/ghosts/ghosts.hpp"
#include "barrio/mesh/nested_sets.hpp"

namespace barrio::mesh::detail {

GhostChoice::GhostChoice(Rank me, const BuildOptions& options, std::span<const SetInfo> infos, const KnownCells& known)
    : ranks(options.ghost_ranks) {
  std::ranges::sort(ranks);
  const bool is_left_out = !ranks.empty() && !std::ranges::binary_search(ranks, me);
  if (is_left_out || !options.ghost_sets.empty()) may_leave.assign(known.n_own, false);
  if (options.ghost_sets.empty()) return;
  const std::vector<bool> is_wanted = named_sets(options.ghost_sets, infos, "ghosts of");
  if (is_left_out) return;
  for (const SetRun& run : known.cell_sets)
    if (is_wanted[run.set]) std::fill_n(may_leave.begin() + run.first, run.count, true);
}

}  // namespace barrio::mesh::detail
