#pragma once

#include <cstddef>

// Included by sources that are compiled for several instruction sets: no inline functions here.

namespace barrio::amr::detail {

/// A box of cells in an array [variable][k][j][i] of doubles. Lengths in numbers.
struct CellArray {
  double* first;  ///< of the first cell's first variable
  std::ptrdiff_t row;
  std::ptrdiff_t plane;
  std::ptrdiff_t variable;
};

constexpr std::ptrdiff_t kernel_padding = 8;
constexpr std::ptrdiff_t max_planes = 5;

/// One stage of a Runge-Kutta step of the compressible Euler equations on a box of cells.
///
/// Variables: density, momentum along the D axes, total energy, and then for each species its density. Vectors reach
/// beyond the end of a row: behind the last row of each variable of `ghosts`, and of `cells` and `old` if n[0] is no
/// multiple of 8, there are `kernel_padding` numbers that belong to nothing, and as many behind each plane of
/// `primitive`, which is written. `out` is written where it has cells only.
struct EulerStage {
  std::ptrdiff_t n[3];  ///< cells along each axis; n[2] = 1 in 2-D
  std::ptrdiff_t n_species;
  double gamma;
  bool flattens;             ///< no slopes along an axis where a strong shock passes along it
  bool is_hlle;              ///< fluxes without the wave between the outer ones
  bool sharpens;             ///< contacts are kept within two cells
  double time_over_size[3];  ///< time step over the size of a cell
  CellArray cells;           ///< conserved
  CellArray ghosts;          ///< conserved, of the first cell of the box; only the two layers around it are used
  CellArray primitive;      ///< room: the first cell of the first of three planes with two layers around them; 2-D: one
  double* fluxes;           ///< room for (7 + 4 n[1]) rows of all variables
  std::ptrdiff_t flux_row;  ///< length of such a row: at least n[0] + 2 + kernel_padding
  CellArray old;            ///< conserved at the begin of the step; not read if old_weight is 0
  double old_weight;        ///< out = old_weight old + (1 - old_weight) (cells after a step)
  CellArray out;            ///< conserved; may be `old`
  /// Fluxes per unit of area through the faces of planes across each axis, or null where they are not wanted:
  /// [variable][place among the other axes, the first of them first]. Plane m stands below cell m * plane_step.
  double* planes[3][max_planes];
  std::ptrdiff_t plane_step[3];  ///< goes into n; at least n / (max_planes - 1)
};

/// Functions for one instruction set.
struct EulerKernels {
  void (*stage_2d)(const EulerStage&);
  void (*stage_3d)(const EulerStage&);
  /// The largest sum over the axes of (|velocity| + sound speed) times `time_over_size`: where that is 1 / size, the
  /// reciprocal of the time step of CFL number 1. Of `cells`, without ghosts. -1 if a density or a pressure is not
  /// above 0, or no number.
  double (*fastest_2d)(const EulerStage&);
  double (*fastest_3d)(const EulerStage&);
};

namespace kernels_scalar {
extern const EulerKernels euler;
}
namespace kernels_baseline {
extern const EulerKernels euler;
}
namespace kernels_avx2 {
extern const EulerKernels euler;
}
namespace kernels_avx512 {
extern const EulerKernels euler;
}

}  // namespace barrio::amr::detail
