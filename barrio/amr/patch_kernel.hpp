#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barrio/amr/system.hpp"

namespace barrio::amr {

/// Conservation laws of one's own, as functions of the cells of a block. All must depend on what they are given alone,
/// not on which block it is; they are called on any rank, in any order.
template <std::size_t D>
struct PatchKernel {
  using Box = geometry::IndexBox<D>;
  using Sizes = std::array<double, D>;

  std::string description;             ///< with its parameters: checkpoints of another one are refused
  std::vector<std::string> variables;  ///< names of the conserved variables
  int n_ghosts = 2;                    ///< layers of cells around a block that are looked at
  bool uses_corners = false;           ///< beyond its edges and corners too
  /// Put the fluxes per unit of area through faces across an axis: face f stands below cell f along it.
  std::function<void(const CellView<D>& u, const Box& faces, std::size_t axis, const Sizes& cell_size,
                     const CellView<D>& flux)>
      fluxes;
  /// Optional: add what changes in cells besides, per unit of time.
  std::function<void(const CellView<D>& u, const Box& cells, const Sizes& cell_size, const CellView<D>& change)>
      sources = {};
  /// The largest sum over the axes of the speed of the fastest signal over the size of a cell, as Worker::fastest.
  std::function<double(const CellView<D>& u, const Box& cells, const Sizes& cell_size)> fastest;
  /// Optional: what is wrong with the variables of a cell, as System::fault_of.
  std::function<std::string(std::span<const double> u)> fault_of = {};
  /// Optional: the axis of each variable that is a component of a vector, which walls across it turn round; else -1.
  std::vector<int> vector_axis = {};
};

/// The system of equations that a patch kernel stands for.
/// @throws Error{usage} without variables, fluxes or speeds, or with another number of axes than of variables
template <std::size_t D>
[[nodiscard]] std::shared_ptr<const System<D>> make_system(PatchKernel<D> kernel);

extern template std::shared_ptr<const System<2>> make_system<2>(PatchKernel<2>);
extern template std::shared_ptr<const System<3>> make_system<3>(PatchKernel<3>);

}  // namespace barrio::amr
