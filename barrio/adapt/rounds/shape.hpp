#pragma once

#include <cstdint>

#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Qualities and edge lengths of all tetrahedra; one that several ranks see counts once.
struct Shape {
  std::int64_t n_tets = 0;
  std::int64_t n_unchanged = 0;  ///< not made or moved in any round
  float min_cubed = 1.0F;        ///< cube of the lowest mean ratio, of this rank
  double mean_quality = 0.0;
  /// Part of the edges, counted by tetrahedron, from 1/sqrt(2) to sqrt(2) of the wanted length.
  double in_range = 1.0;
  std::int64_t n_beyond = 0;  ///< edges longer than 2, counted cell by cell
  double too_short = 0.0;     ///< part that is shorter
  double density = 0.0;       ///< tetrahedra for each cube of the wanted size: 8.5 regular ones would fill it
};

/// Measure the shape of all tetrahedra. Collective. The same on any distribution, bit by bit. Cost: O(n_tets), one
/// reduction.
[[nodiscard]] Shape shape_of(mpi::Context& context, const Tets& tets);

/// Return the lowest mean ratio of all ranks. Collective: one reduction.
[[nodiscard]] double min_quality(mpi::Context& context, const Shape& shape);

}  // namespace barrio::adapt::detail
