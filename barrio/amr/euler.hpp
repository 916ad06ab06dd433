#pragma once

/// @file Compressible flow of an ideal gas: the Euler equations with species, as a system for simulations.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/amr/output_quantity.hpp"
#include "barrio/amr/system.hpp"
#include "barrio/base/instruction_set.hpp"

namespace barrio::amr {

/// Solver of the Riemann problem at each face, which gives its flux.
enum class RiemannSolver {
  hllc,    ///< resolves contacts
  hlle,    ///< smears contacts; keeps shocks along an axis straight that hllc makes crooked (carbuncles)
  hybrid,  ///< hllc, but hlle through faces along which a strong shock runs (three times the pressure in two cells)
};

/// Options of `Euler`.
struct EulerOptions {
  double gamma = 1.4;  ///< ratio of specific heats, above 1
  int n_species = 0;   ///< number of species whose densities are transported
  /// Reduce to first order where a strong shock passes (three times the pressure within two cells). For shocks into
  /// cold gas.
  bool flattens_shocks = false;
  /// Reduce a cell to first order along an axis where the step would take most of its internal energy: beside strong
  /// shocks that run through more than about half of a cell. Worker::n_fallbacks counts the uses.
  bool falls_back = true;
  /// Keep contacts between gases of different density within two cells, and the slip along them: where the density
  /// changes by more than a fifth within two cells and the pressure by little. For interfaces that matter, such as
  /// unstable ones. A smooth change that is resolved as badly becomes a step too.
  bool sharpens_contacts = false;
  RiemannSolver riemann_solver = RiemannSolver::hllc;         ///< at all faces
  InstructionSet instruction_set = chosen_instruction_set();  ///< of the kernels; every one gives the same bits
};

/// The Euler equations: compressible flow of an ideal gas. Variables: density, momentum along the D axes, total energy,
/// and the densities of species. Limited reconstruction of primitive variables (Koren 1993), HLLC or HLLE fluxes with
/// the wave speeds of Einfeldt. Every instruction set gives the same bits.
template <std::size_t D>
class Euler final : public System<D> {
 public:
  /// Construct. @throws Error{usage} for gamma <= 1 or a negative number of species
  explicit Euler(const EulerOptions& options = {});

  /// Return the ratio of specific heats.
  [[nodiscard]] double gamma() const noexcept { return options_.gamma; }
  /// Return quantities for output: density, velocity (three components), pressure and mass fractions of species.
  [[nodiscard]] std::vector<OutputQuantity> quantities() const;
  /// Compute conserved variables from primitive ones: density, velocity, pressure, mass fractions of species. Local.
  void conserve(std::span<const double> primitive, std::span<double> conserved) const noexcept;

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::vector<std::string> variables() const override;
  [[nodiscard]] std::string fault_of(std::span<const double> u) const override;
  [[nodiscard]] int n_ghosts() const noexcept override { return 2; }
  [[nodiscard]] bool uses_corners() const noexcept override { return options_.riemann_solver == RiemannSolver::hybrid; }
  [[nodiscard]] bool reads_block() const noexcept override { return true; }
  /// Keep half of the internal energy: more than that is left in any finer cell of a linear state.
  [[nodiscard]] double physical_part(std::span<const double> u, std::span<const double> differences) const override;
  [[nodiscard]] double reflected(int variable, std::size_t axis) const noexcept override {
    return std::cmp_equal(variable, 1 + axis) ? -1.0 : 1.0;
  }
  void balance_wall(std::span<double> u, std::span<const double> source, std::size_t axis,
                    double distance) const override;
  [[nodiscard]] std::unique_ptr<Worker<D>> make_worker(int block_cells) const override;

 private:
  EulerOptions options_;
};

extern template class Euler<2>;
extern template class Euler<3>;

}  // namespace barrio::amr
