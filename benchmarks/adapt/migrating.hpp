#pragma once

#include <array>
#include <cstdint>

#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// Result of adaptation by migration, on this rank.
struct MigrationReport {
  double seconds = 0.0;
  std::int64_t n_sweeps = 0;
  std::int64_t n_pulled = 0;                                 ///< stars that were brought to one rank, over all ranks
  std::int64_t n_migrated = 0;                               ///< cells that left this rank for these stars
  std::array<adapt::detail::OperatorCounts, 4> counts = {};  ///< splits, collapses, swaps and moves
  bool is_complete = true;                                   ///< no remaining star must be on one rank
};

/// Adapt by the paper's method: a part changes its inner cells by the operators of `adapt::adapt`. If an operator has
/// work around a vertex that several parts use, all cells around that vertex migrate to the lowest of these parts.
/// Repeat until no such work remains. Collective.
///
/// The mesh depends on the number of ranks. @param mesh  tetrahedra of the unit cube without sets, tags and fields
/// Source: Ovcharenko et al. 2012, section 6 and figure 11.
MigrationReport adapt_by_migration(mesh::Mesh& mesh, const adapt::SizeFunction& size);

}  // namespace barrio::bench
