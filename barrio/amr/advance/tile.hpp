#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "barrio/amr/system.hpp"

namespace barrio::amr::detail {

/// Number of directions from a block: -1, 0 or 1 along each axis, the first axis fastest.
template <std::size_t D>
constexpr int n_directions = D == 2 ? 9 : 27;
template <std::size_t D>
constexpr int own_direction = (n_directions<D> - 1) / 2;

template <std::size_t D>
[[nodiscard]] constexpr std::array<int, D> direction_of(int number) noexcept {
  std::array<int, D> direction{};
  for (std::size_t k = 0; k < D; ++k) {
    direction[k] = number % 3 - 1;
    number /= 3;
  }
  return direction;
}
/// Tell whether a direction goes across a face: along one axis.
template <std::size_t D>
[[nodiscard]] constexpr bool is_face(int number) noexcept {
  int n_axes = 0;
  for (const int along : direction_of<D>(number)) n_axes += along != 0 ? 1 : 0;
  return n_axes == 1;
}
/// Return the opposite direction.
template <std::size_t D>
[[nodiscard]] constexpr int opposite(int number) noexcept {
  return n_directions<D> - 1 - number;
}

template <std::size_t D>
[[nodiscard]] CellView<D> view_of(double* values, const geometry::IndexBox<D>& cells,
                                  std::ptrdiff_t padding = 0) noexcept {
  CellView<D> view{.first = values, .cells = cells, .strides = {}, .variable = padding};
  std::ptrdiff_t stride = 1;
  for (std::size_t k = 0; k < D; ++k) {
    view.strides[k] = stride;
    stride *= cells.extent(k);
  }
  view.variable += stride;
  return view;
}

/// Copy rows of cells. @tparam N  length of a row if known at compile time, else 0
template <std::ptrdiff_t N>
void copy_rows(const double* in, std::ptrdiff_t in_row, double* out, std::ptrdiff_t out_row, std::ptrdiff_t n_rows,
               std::ptrdiff_t n) {
  for (std::ptrdiff_t j = 0; j < n_rows; ++j)
    std::memcpy(out + j * out_row, in + j * in_row, (N > 0 ? N : n) * sizeof(double));
}

/// Copy the cells of a box, all variables. @param shift  add it to a cell's index in `to` to get its index in `from`
template <std::size_t D>
void copy_cells(const CellView<D>& from, const CellView<D>& to, const geometry::IndexBox<D>& cells,
                const typename geometry::IndexBox<D>::Index& shift, int n_variables) {
  typename geometry::IndexBox<D>::Index at = cells.low;
  for (std::size_t k = 0; k < D; ++k) at[k] += shift[k];
  const std::ptrdiff_t n_i = cells.extent(0);
  const std::ptrdiff_t n_j = cells.extent(1);
  const std::ptrdiff_t n_k = D == 3 ? cells.extent(D - 1) : 1;
  const double* const source = &from(0, at);
  double* const target = &to(0, cells.low);
  for (int v = 0; v < n_variables; ++v) {
    for (std::ptrdiff_t k = 0; k < n_k; ++k) {
      const double* const in = source + v * from.variable + (D == 3 ? k * from.strides[D - 1] : 0);
      double* const out = target + v * to.variable + (D == 3 ? k * to.strides[D - 1] : 0);
      switch (n_i) {
        case 2: copy_rows<2>(in, from.strides[1], out, to.strides[1], n_j, n_i); break;
        case 8: copy_rows<8>(in, from.strides[1], out, to.strides[1], n_j, n_i); break;
        case 16: copy_rows<16>(in, from.strides[1], out, to.strides[1], n_j, n_i); break;
        case 32: copy_rows<32>(in, from.strides[1], out, to.strides[1], n_j, n_i); break;
        default: copy_rows<0>(in, from.strides[1], out, to.strides[1], n_j, n_i);
      }
    }
  }
}

/// Return the cells beyond a box in a direction, `ghosts` layers.
template <std::size_t D>
[[nodiscard]] geometry::IndexBox<D> cells_beyond(const geometry::IndexBox<D>& cells, int direction,
                                                 int ghosts) noexcept {
  geometry::IndexBox<D> beyond = cells;
  const std::array<int, D> along = direction_of<D>(direction);
  for (std::size_t k = 0; k < D; ++k) {
    if (along[k] < 0) {
      beyond.low[k] = cells.low[k] - ghosts;
      beyond.high[k] = cells.low[k];
    } else if (along[k] > 0) {
      beyond.low[k] = cells.high[k];
      beyond.high[k] = cells.high[k] + ghosts;
    }
  }
  return beyond;
}

}  // namespace barrio::amr::detail
