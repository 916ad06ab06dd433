#pragma once

/// @file Memberships of rows in sets, at the ranks whose slabs hold the rows.

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Membership of one entity in one set.
struct Membership {
  Dim dim;                     ///< of the entity
  std::int32_t set;            ///< place in MeshTables::sets
  std::int64_t row;            ///< of the entity among all of its dimension, global
  std::int64_t position = -1;  ///< in an ordered set, else -1
};

/// Bring each membership to the rank whose slab holds the row. Collective.
/// @return sorted by (dim, row, set, position), without repetition
std::vector<Membership> memberships_at_home(mpi::Context& context, const MeshTables& tables);

/// Return the memberships of one row, from a list sorted as above.
std::span<const Membership> of_row(std::span<const Membership> sorted, Dim dim, std::int64_t row);

/// Write memberships as runs of rows.
/// @param members  in any order; sorted by (set, dim, row, position) on return
std::vector<SetRows> as_runs(std::vector<Membership>& members);

}  // namespace barrio::mesh
