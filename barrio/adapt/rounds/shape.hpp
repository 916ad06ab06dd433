#pragma once

#include <cstdint>

#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Qualities and lengths of all tetrahedra; those that several ranks see count once.
struct Shape {
  std::int64_t n_tets = 0;
  std::int64_t n_unchanged = 0;  ///< that no round has made or moved
  double min_quality = 1.0;      ///< mean ratio
  double mean_quality = 0.0;
  double in_range =
      1.0;  ///< part of the edges, those of each tetrahedron, from 1/sqrt(2) to sqrt(2) of the wanted length
  double too_short = 0.0;  ///< part that is shorter
};

/// Collective. The same on any distribution, bit by bit. Cost: O(n_tets), two reductions.
[[nodiscard]] Shape shape_of(mpi::Context& context, const Tets& tets);

}  // namespace barrio::adapt::detail
