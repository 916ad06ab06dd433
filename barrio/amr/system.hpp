#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barrio/geometry/index_box.hpp"

namespace barrio::amr {

/// The variables of a box of cells in an array [variable][k][j][i]; plane is 0 in 2-D. Borrowed.
template <std::size_t D>
struct CellView {
  double* first = nullptr;                  ///< first variable of the cell `low`
  geometry::IndexBox<D> cells{};            ///< what may be looked at
  std::array<std::ptrdiff_t, D> strides{};  ///< numbers from a cell to the next along each axis
  std::ptrdiff_t variable = 0;              ///< numbers from a variable to the next

  [[nodiscard]] double& operator()(int variable_number, const typename geometry::IndexBox<D>::Index& cell) const {
    std::ptrdiff_t at = variable_number * variable;
    for (std::size_t k = 0; k < D; ++k) at += (cell[k] - cells.low[k]) * strides[k];
    return first[at];
  }
};

/// One stage of a Runge-Kutta step on the cells of a block: out = w old + (1 - w) (u + dt (change of u)).
template <std::size_t D>
struct Stage {
  static constexpr std::ptrdiff_t max_planes = 5;
  geometry::IndexBox<D> cells;  ///< of the block
  std::array<double, D> cell_size;
  double dt;
  CellView<D> u;      ///< with the system's layers of ghosts
  CellView<D> block;  ///< the same without ghosts, where the block is kept
  CellView<D> old;    ///< not to be read if old_weight is 0
  double old_weight;
  CellView<D> out;  ///< may be `old`
  /// Fluxes per unit of area through planes of faces across each axis, or null where they are not wanted: [variable]
  /// [place among the other axes, the first of them first]. Plane m stands below cell m * plane_step of the block.
  std::array<std::array<double*, max_planes>, D> planes;
  std::ptrdiff_t plane_step;
};

/// Advances blocks of one size, with memory of its own: one a thread.
template <std::size_t D>
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;
  virtual void advance(const Stage<D>& stage) = 0;
  /// The largest sum over the axes of the speed of the fastest signal over the size of a cell: the reciprocal of the
  /// time step of CFL number 1; negative if a cell has a state that cannot be. @param u  at least the cells of a block
  [[nodiscard]] virtual double fastest(const CellView<D>& u, const geometry::IndexBox<D>& cells,
                                       const std::array<double, D>& cell_size) = 0;
};

/// A system of hyperbolic equations as a hierarchy needs to know it.
template <std::size_t D>
class System {
 public:
  virtual ~System() = default;
  /// What it is, with its parameters: checkpoints of another one are refused.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Names of the conserved variables.
  [[nodiscard]] virtual std::vector<std::string> variables() const = 0;
  /// What is wrong with the variables of a cell, as "density is -0.1"; empty if nothing is.
  [[nodiscard]] virtual std::string fault_of(std::span<const double> u) const = 0;
  /// Layers of cells around a block on which its new state depends.
  [[nodiscard]] virtual int n_ghosts() const noexcept = 0;
  /// Whether it depends on those beyond edges and corners of the block too; else these are not filled.
  [[nodiscard]] virtual bool uses_corners() const noexcept { return true; }
  /// Whether its workers read cells of the block in `block` alone, so that they need not be copied to `u`.
  [[nodiscard]] virtual bool reads_block() const noexcept { return false; }
  /// Whether interpolation from a coarser level may make a state that cannot be of those that can, as a pressure next
  /// to nothing: then the finer cells on such a cell get its own state.
  [[nodiscard]] virtual bool checks_interpolation() const noexcept { return false; }
  /// -1 if a wall across the axis reflects the variable with the other sign.
  [[nodiscard]] virtual double reflected(int variable, std::size_t axis) const noexcept = 0;
  /// @param block_cells  along each axis
  [[nodiscard]] virtual std::unique_ptr<Worker<D>> make_worker(int block_cells) const = 0;
};

}  // namespace barrio::amr
