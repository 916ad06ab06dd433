#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "barrio/amr/kernel/dispatch.hpp"

namespace barrio::amr::test {

/// Boundary condition at the ends of a box.
enum class End { periodic, same };

/// Primitive variables at a point: density, velocity along D axes, pressure, mass fractions of species.
using State = std::vector<double>;

/// A box of cells, the unit cube or a part of it, which the kernels of one instruction set advance.
template <std::size_t D>
class OneBox {
 public:
  std::array<std::ptrdiff_t, 3> n{1, 1, 1};
  double gamma = 1.4;
  bool flattens = false;
  bool sharpens = false;
  bool is_hlle = false;
  bool falls_back = true;
  std::int64_t n_fallbacks = 0;
  std::ptrdiff_t n_species;
  std::array<End, D> ends{};
  std::array<double, D> size{};  ///< of a cell

  OneBox(std::array<std::ptrdiff_t, D> n_cells, std::array<double, D> length, std::ptrdiff_t species = 0)
      : n_species(species), length_(length) {
    for (std::size_t k = 0; k < D; ++k) {
      n[k] = n_cells[k];
      size[k] = length[k] / static_cast<double>(n_cells[k]);
    }
    row_ = n[0] + 2 * ghosts;
    plane_ = row_ * (n[1] + 2 * ghosts);
    variable_ = plane_ * (D == 3 ? n[2] + 2 * ghosts : 1) + detail::kernel_padding;
    for (std::vector<double>* array : {&state_, &middle_, &primitive_})
      array->assign(n_variables() * variable_ + detail::kernel_padding, 1.0);
    flux_row_ = n[0] + 2 + detail::kernel_padding;
    fluxes_.resize(n_variables() * flux_row_ * (7 + 4 * n[1]));
  }
  [[nodiscard]] std::ptrdiff_t n_variables() const { return static_cast<std::ptrdiff_t>(D) + 2 + n_species; }

  /// Set all cells. @param state  at the centre of a cell
  void fill(const std::function<State(const std::array<double, D>&)>& state) {
    for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
      std::array<double, D> x{};
      const std::array<std::ptrdiff_t, 3> at{i, j, k};
      for (std::size_t a = 0; a < D; ++a)
        x[a] = static_cast<double>(2 * at[a] + 1) * length_[a] / static_cast<double>(2 * n[a]);
      const State q = state(x);
      double energy = q[1 + D] / (gamma - 1.0);
      value(0, i, j, k) = q[0];
      for (std::size_t a = 0; a < D; ++a) {
        value(1 + a, i, j, k) = q[0] * q[1 + a];
        energy += 0.5 * q[0] * q[1 + a] * q[1 + a];
      }
      value(1 + D, i, j, k) = energy;
      for (std::ptrdiff_t s = 0; s < n_species; ++s) value(2 + D + s, i, j, k) = q[0] * q[2 + D + s];
    });
  }
  template <class Visit>
  void for_each_cell(Visit&& visit) const {
    for (std::ptrdiff_t k = 0; k < n[2]; ++k)
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        for (std::ptrdiff_t i = 0; i < n[0]; ++i) visit(i, j, k);
  }
  /// Return a conserved variable of a cell.
  [[nodiscard]] double& value(std::ptrdiff_t variable, std::ptrdiff_t i, std::ptrdiff_t j = 0, std::ptrdiff_t k = 0) {
    return state_[first() + variable * variable_ + k * plane_ + j * row_ + i];
  }
  [[nodiscard]] double total(std::ptrdiff_t variable) {
    double sum = 0.0;
    for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) { sum += value(variable, i, j, k); });
    return sum;
  }
  [[nodiscard]] double pressure(std::ptrdiff_t i, std::ptrdiff_t j = 0, std::ptrdiff_t k = 0) {
    double kinetic = 0.0;
    for (std::size_t a = 0; a < D; ++a) kinetic += value(1 + a, i, j, k) * value(1 + a, i, j, k);
    return (gamma - 1.0) * (value(1 + D, i, j, k) - 0.5 * kinetic / value(0, i, j, k));
  }

  [[nodiscard]] double time_step(const detail::EulerKernels& kernels, double cfl) {
    detail::EulerStage stage = make_stage(1.0);
    stage.cells = array(state_);
    return cfl / (D == 2 ? kernels.fastest_2d : kernels.fastest_3d)(stage);
  }
  /// Make one step of Heun's method. @param boundary  receives the fluxes of the second stage through both ends of
  /// each axis
  void step(const detail::EulerKernels& kernels, double dt,
            const std::array<std::array<double*, 2>, 3>& boundary = {}) {
    detail::EulerStage stage = make_stage(dt);
    continue_ends(state_);
    stage.cells = array(state_);
    stage.ghosts = stage.cells;
    stage.old = array(state_);
    stage.old_weight = 0.0;
    stage.out = array(middle_);
    run(kernels, stage);
    continue_ends(middle_);
    stage.cells = array(middle_);
    stage.ghosts = stage.cells;
    stage.old_weight = 0.5;
    stage.out = array(state_);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t end = 0; end < 2; ++end) stage.planes[k][end] = boundary[k][end];
    run(kernels, stage);
  }
  /// Make steps until a time. @return their number
  int run_until(const detail::EulerKernels& kernels, double end, double cfl) {
    int n_steps = 0;
    for (double time = 0.0; time < end; ++n_steps) {
      double dt = time_step(kernels, cfl);
      if (time + dt > end) dt = end - time;
      step(kernels, dt);
      time += dt;
    }
    return n_steps;
  }

 private:
  std::array<double, D> length_;
  static constexpr std::ptrdiff_t ghosts = 2;

  [[nodiscard]] std::ptrdiff_t first() const { return ghosts + ghosts * row_ + (D == 3 ? ghosts * plane_ : 0); }
  [[nodiscard]] detail::CellArray array(std::vector<double>& numbers) const {
    return {numbers.data() + first(), row_, plane_, variable_};
  }
  [[nodiscard]] detail::EulerStage make_stage(double dt) {
    detail::EulerStage stage{};
    for (std::size_t k = 0; k < 3; ++k) {
      stage.n[k] = n[k];
      stage.plane_step[k] = n[k];
    }
    for (std::size_t k = 0; k < D; ++k) stage.time_over_size[k] = dt / size[k];
    stage.n_species = n_species;
    stage.gamma = gamma;
    stage.flattens = flattens;
    stage.sharpens = sharpens;
    stage.is_hlle = is_hlle;
    stage.falls_back = falls_back;
    stage.n_fallbacks = &n_fallbacks;
    // three planes: a box with its ghosts has enough room for them
    stage.primitive = {primitive_.data() + ghosts + ghosts * row_, row_, plane_ + detail::kernel_padding, variable_};
    stage.fluxes = fluxes_.data();
    stage.flux_row = flux_row_;
    return stage;
  }
  static void run(const detail::EulerKernels& kernels, const detail::EulerStage& stage) {
    (D == 2 ? kernels.stage_2d : kernels.stage_3d)(stage);
  }
  void continue_ends(std::vector<double>& numbers) const {
    for (std::ptrdiff_t v = 0; v < n_variables(); ++v) {
      double* const cells = numbers.data() + first() + v * variable_;
      // One axis after the other also makes corners right.
      const std::array<std::ptrdiff_t, 3> strides{1, row_, plane_};
      for (std::size_t axis = 0; axis < D; ++axis) {
        std::array<std::ptrdiff_t, 3> low{0, 0, 0};
        std::array<std::ptrdiff_t, 3> high = n;
        for (std::size_t k = 0; k < D; ++k) {
          low[k] -= ghosts;
          high[k] += ghosts;
        }
        for (std::ptrdiff_t k = low[2]; k < high[2]; ++k) {
          for (std::ptrdiff_t j = low[1]; j < high[1]; ++j) {
            for (std::ptrdiff_t i = low[0]; i < high[0]; ++i) {
              const std::array<std::ptrdiff_t, 3> at{i, j, k};
              if (at[axis] >= 0 && at[axis] < n[axis]) continue;
              const std::ptrdiff_t from = ends[axis] == End::periodic ? (at[axis] + n[axis] * ghosts) % n[axis]
                                          : at[axis] < 0              ? 0
                                                                      : n[axis] - 1;
              double* const here = cells + i + j * row_ + k * plane_;
              *here = here[(from - at[axis]) * strides[axis]];
            }
          }
        }
      }
    }
  }

  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  std::ptrdiff_t variable_;
  std::ptrdiff_t flux_row_;
  std::vector<double> state_;
  std::vector<double> middle_;
  std::vector<double> primitive_;
  std::vector<double> fluxes_;
};

}  // namespace barrio::amr::test
