#pragma once

#include <array>
#include <cstdint>

#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// What adapting by migration came to, on this rank.
struct MigrationReport {
  double seconds = 0.0;
  std::int64_t n_sweeps = 0;
  std::int64_t n_pulled = 0;                                 ///< stars that were to come to one rank, of all ranks
  std::int64_t n_migrated = 0;                               ///< cells that left this rank for one of these
  std::array<adapt::detail::OperatorCounts, 4> counts = {};  ///< of splits, collapses, swaps and moves
  bool is_complete = true;                                   ///< no star is left that should be on one rank
};

/// Adapt as the paper does: a part changes what is wholly its own, by the operators of `adapt::adapt`. Where one of
/// them has something to look at around a vertex that several parts use, all cells around that vertex migrate to the
/// lowest of these parts; and so on until there is none. Collective.
///
/// The mesh depends on the number of ranks. @param mesh  tetrahedra of the unit cube without sets, tags and fields
/// Source: Ovcharenko et al. 2012, section 6 and figure 11.
MigrationReport adapt_by_migration(mesh::Mesh& mesh, const adapt::SizeFunction& size);

}  // namespace barrio::bench
