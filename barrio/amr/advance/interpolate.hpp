#pragma once

#include <cstdint>

#include "barrio/amr/advance/tile.hpp"

namespace barrio::amr::detail {

/// Interpolate cells of a level from the coarser one: limited linear, with the coarser cell's value as mean over it.
/// Linear states remain; no variable gets a value beyond those of the coarser cell and the cells that touch it; and the
/// differences are reduced where System::physical_part asks for it.
/// @param fine  has the cells of `region` @param coarse  has the cells under it, and one layer more
template <std::size_t D>
void interpolate(const System<D>& system, const CellView<D>& coarse, const CellView<D>& fine,
                 const geometry::IndexBox<D>& region, int ratio, int n_variables);

/// Interpolate values between two times. @param part  of the way from `from` to `to`
template <std::size_t D>
void between(const CellView<D>& from, const CellView<D>& to, double part, double* out, std::ptrdiff_t n);

}  // namespace barrio::amr::detail
