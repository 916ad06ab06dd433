#include "barrio/amr/euler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/amr/kernel/dispatch.hpp"
#include "barrio/base/error.hpp"

namespace barrio::amr {
namespace detail {

/// Worker of the Euler equations: the kernels, and memory for primitive variables and fluxes of one block.
template <std::size_t D>
class EulerWorker final : public Worker<D> {
 public:
  EulerWorker(const EulerOptions& options, std::ptrdiff_t block_cells)
      : kernels_(euler_kernels(options.instruction_set)), n_(block_cells) {
    stage_.gamma = options.gamma;
    stage_.n_species = options.n_species;
    stage_.flattens = options.flattens_shocks;
    stage_.is_hlle = options.riemann_solver == RiemannSolver::hlle;
    stage_.is_hybrid = options.riemann_solver == RiemannSolver::hybrid;
    stage_.sharpens = options.sharpens_contacts;
    stage_.falls_back = options.falls_back;
    stage_.n_fallbacks = &n_fallbacks_;
    const std::ptrdiff_t n_variables = static_cast<std::ptrdiff_t>(D) + 2 + options.n_species;
    const std::ptrdiff_t row = n_ + 2 * ghosts;
    const std::ptrdiff_t plane = row * row + kernel_padding;
    const std::ptrdiff_t variable = (D == 3 ? 3 * plane : plane) + kernel_padding;
    primitive_.assign(n_variables * variable + kernel_padding, 0.0);
    stage_.primitive = {
        .first = primitive_.data() + ghosts * (1 + row), .row = row, .plane = D == 3 ? plane : 0, .variable = variable};
    stage_.flux_row = n_ + 2 + kernel_padding;
    fluxes_.resize(n_variables * stage_.flux_row * (7 + 4 * n_));
    stage_.fluxes = fluxes_.data();
    if (stage_.is_hybrid) shocks_.resize(2 * D * (n_ + 2) * stage_.flux_row);
    stage_.shocks = shocks_.data();
    for (std::size_t k = 0; k < 3; ++k) stage_.n[k] = k < D ? n_ : 1;
  }

  void advance(const Stage<D>& stage) override {
    for (std::size_t k = 0; k < D; ++k) stage_.time_over_size[k] = stage.dt / stage.cell_size[k];
    stage_.cells = array(stage.block, stage.cells);
    stage_.ghosts = array(stage.u, stage.cells);
    stage_.old = array(stage.old, stage.cells);
    stage_.old_weight = stage.old_weight;
    stage_.out = array(stage.out, stage.cells);
    for (std::size_t k = 0; k < 3; ++k) {
      stage_.plane_step[k] = k < D ? stage.plane_step : 1;
      for (std::size_t m = 0; m < max_planes; ++m) stage_.planes[k][m] = k < D ? stage.planes[k][m] : nullptr;
      for (std::size_t end = 0; end < 2; ++end) stage_.is_wall[k][end] = k < D && stage.is_wall[k][end];
    }
    (D == 2 ? kernels_.stage_2d : kernels_.stage_3d)(stage_);
  }
  double fastest(const CellView<D>& u, const geometry::IndexBox<D>& cells,
                 const std::array<double, D>& cell_size) override {
    for (std::size_t k = 0; k < D; ++k) stage_.time_over_size[k] = 1.0 / cell_size[k];
    stage_.cells = array(u, cells);
    return (D == 2 ? kernels_.fastest_2d : kernels_.fastest_3d)(stage_);
  }
  [[nodiscard]] std::int64_t n_fallbacks() const noexcept override { return n_fallbacks_; }

 private:
  static constexpr std::ptrdiff_t ghosts = 2;
  static CellArray array(const CellView<D>& view, const geometry::IndexBox<D>& cells) {
    if (view.first == nullptr) return {};
    return {.first = &view(0, cells.low),
            .row = view.strides[1],
            .plane = D == 3 ? view.strides[D - 1] : 0,
            .variable = view.variable};
  }
  const EulerKernels& kernels_;
  std::ptrdiff_t n_;
  EulerStage stage_{};
  std::vector<double> primitive_;
  std::vector<double> fluxes_;
  std::vector<double> shocks_;
  std::int64_t n_fallbacks_ = 0;
};

}  // namespace detail

template <std::size_t D>
Euler<D>::Euler(const EulerOptions& options) : options_(options) {
  if (!(options.gamma > 1.0)) refuse(ErrorCode::usage, fmt::format("gamma {}", options.gamma), "must be above 1");
  if (options.n_species < 0)
    refuse(ErrorCode::usage, fmt::format("{} species", options.n_species), "must be at least 0");
}

template <std::size_t D>
void Euler<D>::conserve(std::span<const double> primitive, std::span<double> conserved) const noexcept {
  const double density = primitive[0];
  double energy = primitive[1 + D] / (options_.gamma - 1.0);
  conserved[0] = density;
  for (std::size_t k = 0; k < D; ++k) {
    conserved[1 + k] = density * primitive[1 + k];
    energy += 0.5 * density * primitive[1 + k] * primitive[1 + k];
  }
  conserved[1 + D] = energy;
  for (int s = 0; s < options_.n_species; ++s) conserved[2 + D + s] = density * primitive[2 + D + s];
}

template <std::size_t D>
std::vector<std::string> Euler<D>::variables() const {
  std::vector<std::string> names{"density"};
  for (std::size_t k = 0; k < D; ++k) names.push_back(fmt::format("momentum_{}", "xyz"[k]));
  names.emplace_back("energy");
  for (int s = 0; s < options_.n_species; ++s) names.push_back(fmt::format("species_{}", s + 1));
  return names;
}

template <std::size_t D>
std::string Euler<D>::description() const {
  return fmt::format("compressible Euler equations in {} dimensions, gamma {}, {} species{}{}{}{}", D, options_.gamma,
                     options_.n_species, options_.flattens_shocks ? ", flattened shocks" : "",
                     options_.falls_back ? "" : ", no first order",
                     options_.sharpens_contacts ? ", sharpened contacts" : "",
                     options_.riemann_solver == RiemannSolver::hlle     ? ", HLLE"
                     : options_.riemann_solver == RiemannSolver::hybrid ? ", HLLE beside shocks"
                                                                        : "");
}

template <std::size_t D>
std::string Euler<D>::fault_of(std::span<const double> u) const {
  if (!(u[0] > 0.0)) return fmt::format("density is {}", u[0]);
  double kinetic = 0.0;
  for (std::size_t k = 0; k < D; ++k) kinetic += u[1 + k] * u[1 + k];
  const double pressure = (options_.gamma - 1.0) * (u[1 + D] - 0.5 * kinetic / u[0]);
  return pressure > 0.0 ? "" : fmt::format("pressure is {}", pressure);
}

template <std::size_t D>
void Euler<D>::balance_wall(std::span<double> u, std::span<const double> source, std::size_t axis,
                            double distance) const {
  // The pressure of gas at rest changes by its weight.
  double squares = 0.0;
  for (std::size_t k = 0; k < D; ++k) squares += u[1 + k] * u[1 + k];
  const double internal = u[1 + D] - 0.5 * squares / u[0];
  const double change = source[1 + axis] * distance / (options_.gamma - 1.0);
  if (internal + change > 0.5 * internal) u[1 + D] += change;
}

template <std::size_t D>
double Euler<D>::physical_part(std::span<const double> u, std::span<const double> differences) const {
  constexpr double kept_part = 0.5;  // of the internal energy
  const auto internal = [](double density, double squares, double energy) { return energy - 0.5 * squares / density; };
  const auto difference = [&](std::size_t v, std::size_t k) { return differences[v * D + k]; };
  const auto size = [&](std::size_t v) {
    double sum = std::abs(difference(v, 0)) + std::abs(difference(v, 1));
    if constexpr (D == 3) sum += std::abs(difference(v, 2));
    return sum;
  };
  double squares = 0.0;
  double bound = 0.0;
  for (std::size_t k = 0; k < D; ++k) {
    squares += u[1 + k] * u[1 + k];
    const double reach = std::abs(u[1 + k]) + size(1 + k);
    bound += reach * reach;
  }
  const double own = internal(u[0], squares, u[1 + D]);
  const double lowest = u[0] - size(0);
  if (!(lowest > 0.0)) return 0.0;
  if (internal(lowest, bound, u[1 + D] - size(1 + D)) >= kept_part * own) return 1.0;
  // The internal energy is a concave function of the state: its least value is at a corner, and along the way there it
  // lies above the chord.
  double least = own;
  for (unsigned corner = 0; corner < 1U << D; ++corner) {
    const auto at = [&](std::size_t v) {
      const auto along = [&](std::size_t k) { return (corner >> k & 1U) != 0 ? difference(v, k) : -difference(v, k); };
      double change = along(0) + along(1);
      if constexpr (D == 3) change += along(2);
      return u[v] + change;
    };
    squares = 0.0;
    for (std::size_t k = 0; k < D; ++k) squares += at(1 + k) * at(1 + k);
    least = std::min(least, internal(at(0), squares, at(1 + D)));
  }
  return least >= kept_part * own ? 1.0 : (1.0 - kept_part) * own / (own - least);
}

template <std::size_t D>
std::vector<OutputQuantity> Euler<D>::quantities() const {
  using In = std::span<const double>;
  using Out = std::span<double>;
  const double gamma = options_.gamma;
  std::vector<OutputQuantity> all{{.name = "density", .width = 1, .compute = [](In u, Out out) { out[0] = u[0]; }},
                                  {.name = "velocity",
                                   .width = 3,
                                   .compute =
                                       [](In u, Out out) {
                                         for (std::size_t k = 0; k < 3; ++k) out[k] = k < D ? u[1 + k] / u[0] : 0.0;
                                       }},
                                  {.name = "pressure", .width = 1, .compute = [gamma](In u, Out out) {
                                     double kinetic = 0.0;
                                     for (std::size_t k = 0; k < D; ++k) kinetic += u[1 + k] * u[1 + k];
                                     out[0] = (gamma - 1.0) * (u[1 + D] - 0.5 * kinetic / u[0]);
                                   }}};
  for (int s = 0; s < options_.n_species; ++s)
    all.push_back({.name = fmt::format("species_{}", s + 1), .width = 1, .compute = [s](In u, Out out) {
                     out[0] = u[2 + D + s] / u[0];
                   }});
  return all;
}

template <std::size_t D>
std::unique_ptr<Worker<D>> Euler<D>::make_worker(int block_cells) const {
  return std::make_unique<detail::EulerWorker<D>>(options_, block_cells);
}

template class Euler<2>;
template class Euler<3>;

}  // namespace barrio::amr
