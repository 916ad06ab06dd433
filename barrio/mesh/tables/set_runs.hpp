#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/range.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// A run of a list whose items first .. first + count - 1 are in a set.
struct SetRun {
  std::int32_t set;
  std::int32_t first;
  std::int32_t count;
};

/// Add one item; the last run grows if the item follows it. @pre items of one set are added in ascending order
inline void append(std::vector<SetRun>& runs, std::int32_t set, std::int32_t item) {
  if (!runs.empty() && runs.back().set == set && runs.back().first + runs.back().count == item) {
    runs.back().count += 1;
  } else {
    runs.push_back({set, item, 1});
  }
}

/// A run of places in a slab.
struct HomeRun : SetRun {
  std::int64_t position;  ///< as in SetRows
};

/// Members of sets in the slabs of one rank.
struct HomeRuns {
  std::vector<HomeRun> of_vertices;
  std::vector<std::vector<HomeRun>> of_blocks;  // by place in MeshTables::blocks
};

/// Send each run of set members to the ranks whose slabs hold its rows, cut at the ends of slabs. Collective.
/// @return runs of each set in the order of `tables.members`, by ascending sender
/// Cost: one routed exchange, and one more for each factor of 64 in the number of slabs that the longest run covers
HomeRuns set_runs_at_home(mpi::Context& context, const MeshTables& tables);

/// Build the range of members of each set. @param runs  of places, in any order; sorted by set on return
/// @param[in] at  local id by place; if empty, places are local ids
/// @return one range per set
std::vector<Range> ranges_of_sets(std::vector<SetRun>& runs, std::span<const LocalId> at, std::size_t n_sets);

}  // namespace barrio::mesh::detail
