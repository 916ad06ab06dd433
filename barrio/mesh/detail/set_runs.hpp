#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/range.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// Items first .. first + count of some list that are in a set.
struct SetRun {
  std::int32_t set;
  std::int32_t first;
  std::int32_t count;
};

/// Add one item, to the last run if it follows it. @pre items of one set come in ascending order
inline void append(std::vector<SetRun>& runs, std::int32_t set, std::int32_t item) {
  if (!runs.empty() && runs.back().set == set && runs.back().first + runs.back().count == item) {
    runs.back().count += 1;
  } else {
    runs.push_back({set, item, 1});
  }
}

/// Bring each run of set members to the ranks whose slabs hold its rows, cut where slabs end. Collective.
/// @return sorted by (dim, first, set)
/// Cost: one routed exchange, and one more for each factor of 64 in the number of slabs that the longest run covers
std::vector<SetRows> set_rows_at_home(mpi::Context& context, const MeshTables& tables);

/// The runs of one dimension that begin in rows first .. first + count, out of a list as above.
std::span<const SetRows> rows_within(std::span<const SetRows> sorted, Dim dim, std::int64_t first, std::int64_t count);

/// Members of each set. @param runs  of places, in any order; sorted by set on return
/// @param[in] at  local id by place; if empty, places are local ids
/// @return one range a set
std::vector<Range> ranges_of_sets(std::vector<SetRun>& runs, std::span<const LocalId> at, std::size_t n_sets);

}  // namespace barrio::mesh::detail
