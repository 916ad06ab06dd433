#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// One entity in one set.
struct Membership {
  Dim dim;
  std::int32_t set;
  std::int64_t row;
  std::int64_t position = -1;  ///< in an ordered set
};

/// Bring each membership to the rank whose slab holds the row. Collective.
/// @return sorted by (dim, row, set, position), without repetition
std::vector<Membership> memberships_at_home(mpi::Context& context, const MeshTables& tables);

/// The memberships of one row in a list sorted as above.
std::span<const Membership> of_row(std::span<const Membership> sorted, Dim dim, std::int64_t row);

/// Write memberships as runs of rows. @param members  any order; sorted by (set, dim, row, position) on return
std::vector<SetRows> as_runs(std::vector<Membership>& members);

}  // namespace barrio::mesh
