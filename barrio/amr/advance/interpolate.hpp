#pragma once

#include <cstdint>

#include "barrio/amr/advance/tile.hpp"

namespace barrio::amr::detail {

/// Interpolate cells of a level from the coarser one: limited linear, the mean over a coarser cell is its value. Where
/// a system checks that, not so steep that a state cannot be.
/// @param fine  has the cells of `region` @param coarse  has those under it and one more around
template <std::size_t D>
void interpolate(const System<D>& system, const CellView<D>& coarse, const CellView<D>& fine,
                 const geometry::IndexBox<D>& region, int ratio, int n_variables);

/// Values between two times. @param part  of the way from `from` to `to`
template <std::size_t D>
void between(const CellView<D>& from, const CellView<D>& to, double part, double* out, std::ptrdiff_t n);

}  // namespace barrio::amr::detail
