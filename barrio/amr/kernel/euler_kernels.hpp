#pragma once

#include <cstddef>
#include <cstdint>

// Included by sources that are compiled for several instruction sets: no inline functions here.

namespace barrio::amr::detail {

/// A box of cells in an array [variable][k][j][i]. Strides in numbers.
struct CellArray {
  double* first;  ///< first variable of the first cell
  std::ptrdiff_t row;
  std::ptrdiff_t plane;
  std::ptrdiff_t variable;
};

constexpr std::ptrdiff_t kernel_padding = 8;
constexpr std::ptrdiff_t max_planes = 5;

/// One stage of a Runge-Kutta step of the compressible Euler equations on a box of cells.
///
/// Variables: density, momentum along the D axes, total energy, and the density of each species. SIMD vectors read
/// beyond the end of a row. So there must be `kernel_padding` unused numbers behind the last row of each variable of
/// `ghosts`, and of `cells` and `old` if n[0] is not a multiple of 8; and behind each plane of `primitive`, where they
/// are also written. `out` is written only where it has cells.
struct EulerStage {
  std::ptrdiff_t n[3];  ///< cells along each axis; n[2] = 1 in 2-D
  std::ptrdiff_t n_species;
  double gamma;
  bool flattens;              ///< EulerOptions::flattens_shocks
  bool is_hlle;               ///< HLLE fluxes instead of HLLC
  bool is_hybrid;             ///< HLLE fluxes beside strong shocks; ghosts beyond edges of the box are then read too
  bool is_wall[3][2];         ///< nothing passes through the low and high faces of the box across each axis
  bool sharpens;              ///< EulerOptions::sharpens_contacts
  bool falls_back;            ///< EulerOptions::falls_back
  std::int64_t* n_fallbacks;  ///< added to if it falls back: cells of first order, once for each axis
  double time_over_size[3];   ///< time step over the size of a cell
  CellArray cells;            ///< conserved
  CellArray ghosts;           ///< conserved, from the first cell of the box; only the two layers around it are read
  CellArray primitive;      ///< scratch: first cell of the first of three planes (2-D: one) with two layers around them
  double* fluxes;           ///< scratch: (7 + 4 n[1]) rows of all variables
  double* shocks;           ///< scratch of a hybrid solver: 2 D (n[1] + 2) rows
  std::ptrdiff_t flux_row;  ///< length of such a row: at least n[0] + 2 + kernel_padding
  CellArray old;            ///< conserved, at the start of the step; not read if old_weight is 0
  double old_weight;        ///< out = old_weight old + (1 - old_weight) (cells after a step)
  CellArray out;            ///< conserved; may be `old`
  /// Fluxes per unit of area through planes of faces across each axis, or null where not wanted:
  /// [variable][index along the other axes, the first of them fastest]. Plane m is below cell m * plane_step.
  double* planes[3][max_planes];
  std::ptrdiff_t plane_step[3];  ///< divides n; at least n / (max_planes - 1)
};

/// Functions for one instruction set.
struct EulerKernels {
  void (*stage_2d)(const EulerStage&);
  void (*stage_3d)(const EulerStage&);
  /// Return the largest sum over the axes of (|velocity| + sound speed) times `time_over_size`, over `cells` without
  /// ghosts. If that is 1 / size, the result is the reciprocal of the time step of CFL number 1. -1 if a density or a
  /// pressure is not above 0, or NaN.
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
