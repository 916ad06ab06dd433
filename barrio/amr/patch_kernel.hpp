#pragma once

/// @file Conservation laws of your own: fluxes and sources as functions on the cells of a block.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barrio/amr/system.hpp"

namespace barrio::amr {

/// Conservation laws of your own, as functions on the cells of a block. All must depend on their arguments alone, not
/// on which block it is; they are called on any rank, in any order.
template <std::size_t D>
struct PatchKernel {
  using Box = geometry::IndexBox<D>;    ///< of cells, or of faces across one axis
  using Sizes = std::array<double, D>;  ///< lengths of a cell along the axes

  std::string description;             ///< with parameters: checkpoints of another description are refused
  std::vector<std::string> variables;  ///< names of the conserved variables
  int n_ghosts = 2;                    ///< layers of cells around a block that `fluxes` and `sources` read
  bool uses_corners = false;           ///< they also read ghosts beyond edges and corners of the block
  /// Compute the fluxes per unit of area through faces across an axis: face f is the lower face of cell f.
  std::function<void(const CellView<D>& u, const Box& faces, std::size_t axis, const Sizes& cell_size,
                     const CellView<D>& flux)>
      fluxes;
  /// Optional: add source terms of cells, per unit of time.
  std::function<void(const CellView<D>& u, const Box& cells, const Sizes& cell_size, const CellView<D>& change)>
      sources = {};
  /// Return the largest sum over the axes of signal speed over cell size, as Worker::fastest.
  std::function<double(const CellView<D>& u, const Box& cells, const Sizes& cell_size)> fastest;
  /// Optional: return the fault of an unphysical state, as System::fault_of. States between two physical ones must be
  /// physical. Where interpolation from a coarser cell makes a fault, the finer cells get its state.
  std::function<std::string(std::span<const double> u)> fault_of = {};
  /// Optional: the axis of each variable that is a vector component, which a wall across it reverses; else -1.
  std::vector<int> vector_axis = {};
};

/// Make a system of equations from a patch kernel.
/// @throws Error{usage} without variables, fluxes or signal speeds, or if vector_axis has another length than variables
template <std::size_t D>
[[nodiscard]] std::shared_ptr<const System<D>> make_system(PatchKernel<D> kernel);

/// Make a system of two axes; compiled in the library.
extern template std::shared_ptr<const System<2>> make_system<2>(PatchKernel<2>);
/// Make a system of three axes; compiled in the library.
extern template std::shared_ptr<const System<3>> make_system<3>(PatchKernel<3>);

}  // namespace barrio::amr
