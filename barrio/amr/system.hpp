#pragma once

/// @file Interface of a system of hyperbolic equations: what a simulation needs of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barrio/geometry/index_box.hpp"

namespace barrio::amr {

/// View of the variables of a box of cells, in an array [variable][k][j][i] or [variable][j][i]. Borrowed.
template <std::size_t D>
struct CellView {
  double* first = nullptr;                  ///< first variable of the cell `low`
  geometry::IndexBox<D> cells{};            ///< cells that may be accessed
  std::array<std::ptrdiff_t, D> strides{};  ///< distance from a cell to the next along each axis, in numbers
  std::ptrdiff_t variable = 0;              ///< distance from a variable to the next, in numbers

  /// Return a variable of a cell. @pre the cell is in `cells`
  [[nodiscard]] double& operator()(int variable_number, const typename geometry::IndexBox<D>::Index& cell) const {
    std::ptrdiff_t at = variable_number * variable;
    for (std::size_t k = 0; k < D; ++k) at += (cell[k] - cells.low[k]) * strides[k];
    return first[at];
  }
};

/// One stage of a Runge-Kutta step on the cells of a block: out = w old + (1 - w) (u + dt (change of u)).
template <std::size_t D>
struct Stage {
  static constexpr std::ptrdiff_t max_planes = 5;  ///< planes across an axis, with both ends of the block
  geometry::IndexBox<D> cells;                     ///< of the block
  std::array<double, D> cell_size;                 ///< lengths of a cell along the axes
  double dt;                                       ///< of the whole step of this level
  CellView<D> u;                                   ///< with the system's layers of ghosts
  CellView<D> block;                               ///< the same without ghosts, in the block's own memory
  CellView<D> old;                                 ///< not to be read if old_weight is 0
  double old_weight;                               ///< w above, from 0 to 1
  CellView<D> out;                                 ///< may be `old`
  /// Fluxes per unit of area through planes of faces across each axis, or null where not wanted: [variable][index
  /// along the other axes, the first of them fastest]. Plane m is below cell m * plane_step of the block.
  std::array<std::array<double*, max_planes>, D> planes;
  std::ptrdiff_t plane_step;  ///< cells from one plane to the next; divides those of the block along an axis
  std::array<std::array<bool, 2>, D> is_wall;  ///< the low and high faces of the block across each axis
};

/// Worker of a system: advances blocks of one size, with memory of its own. One for each thread.
template <std::size_t D>
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;
  /// Compute one stage on a block.
  virtual void advance(const Stage<D>& stage) = 0;
  /// Return the largest sum over the axes of signal speed over cell size: the reciprocal of the time step of CFL number
  /// 1; negative if a cell has an unphysical state. @param u  at least the cells of a block
  [[nodiscard]] virtual double fastest(const CellView<D>& u, const geometry::IndexBox<D>& cells,
                                       const std::array<double, D>& cell_size) = 0;
  /// Return how often a cell was computed in a simpler way so far, to keep its state physical.
  [[nodiscard]] virtual std::int64_t n_fallbacks() const noexcept { return 0; }
};

/// Interface of a system of hyperbolic equations.
template <std::size_t D>
class System {
 public:
  virtual ~System() = default;
  /// Return a description with all parameters: checkpoints of a system with another one are refused.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Return the names of the conserved variables.
  [[nodiscard]] virtual std::vector<std::string> variables() const = 0;
  /// Return why the state of a cell is unphysical, as "density is -0.1"; empty if it is not.
  [[nodiscard]] virtual std::string fault_of(std::span<const double> u) const = 0;
  /// Return the number of ghost layers: cells around a block on which its new state depends.
  [[nodiscard]] virtual int n_ghosts() const noexcept = 0;
  /// Tell whether it also depends on ghosts beyond edges and corners of the block; else these are not filled.
  [[nodiscard]] virtual bool uses_corners() const noexcept { return true; }
  /// Tell whether workers read cells of the block from Stage::block alone; else these are copied to Stage::u.
  [[nodiscard]] virtual bool reads_block() const noexcept { return false; }
  /// Return the part, from 0 to 1, of the differences between finer cells and the coarser cell under them that keeps
  /// the finer cells physical. 1 for all linear states: interpolation is then exact.
  /// @param u  physical state of the coarser cell @param differences  of the outermost finer cells from it, shape
  /// (variables, D): all sums of them along the axes, with either sign, occur
  [[nodiscard]] virtual double physical_part([[maybe_unused]] std::span<const double> u,
                                             [[maybe_unused]] std::span<const double> differences) const {
    return 1.0;
  }
  /// Return -1 if a wall across the axis changes the sign of the variable, else 1.
  [[nodiscard]] virtual double reflected(int variable, std::size_t axis) const noexcept = 0;
  /// Change the state beyond a wall, mirrored from a cell, so that it and the cell balance their sources: beyond the
  /// floor gas at rest has the pressure that carries the gas above. Nothing may pass through a wall all the same
  /// (Stage::is_wall). @param source  change of the cell per unit of time @param distance  from the cell to the state
  virtual void balance_wall([[maybe_unused]] std::span<double> u, [[maybe_unused]] std::span<const double> source,
                            [[maybe_unused]] std::size_t axis, [[maybe_unused]] double distance) const {}
  /// Make a worker. @param block_cells  of a block along each axis
  [[nodiscard]] virtual std::unique_ptr<Worker<D>> make_worker(int block_cells) const = 0;
};

}  // namespace barrio::amr
