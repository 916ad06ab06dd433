// A user-defined patch kernel on levels that follow the solution: a disc rotates once around the centre.
//
//   barrio --ranks 2 exec build/release/bin/advection [LEVELS]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "barrio/amr/patch_kernel.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/amr/simulation_file.hpp"
#include "barrio/mpi/run.hpp"

namespace {

using barrio::amr::CellsToTag;
using barrio::amr::CellView;
using Box = barrio::geometry::IndexBox<2>;
using Sizes = std::array<double, 2>;

// Rigid rotation around the centre of the unit square, once per unit of time.
double speed(std::size_t axis, double other) {
  const double turning = 2.0 * std::numbers::pi * (other - 0.5);
  return axis == 0 ? -turning : turning;
}

/// Return van Leer's limited mean of two differences.
double limited(double below, double above) { return below * above > 0.0 ? 2.0 * below * above / (below + above) : 0.0; }

/// Compute the upwind flux through faces.
void upwind(const CellView<2>& u, const Box& faces, std::size_t axis, const Sizes& cell_size, const CellView<2>& flux) {
  for (std::int64_t n = 0; n < faces.size(); ++n) {
    const Box::Index face = faces.at(n);
    const double along = (static_cast<double>(face[1 - axis]) + 0.5) * cell_size[1 - axis];
    const double v = speed(axis, along);
    const auto at = [&](std::int64_t cell) {
      Box::Index place = face;
      place[axis] += cell;
      return u(0, place);
    };
    const double below = at(-1) + 0.5 * limited(at(-1) - at(-2), at(0) - at(-1));
    const double above = at(0) - 0.5 * limited(at(0) - at(-1), at(1) - at(0));
    flux(0, face) = v * (v > 0.0 ? below : above);
  }
}

double fastest(const CellView<2>&, const Box&, const Sizes& cell_size) {
  return std::numbers::pi * (1.0 / cell_size[0] + 1.0 / cell_size[1]);
}

double disc(const std::array<double, 2>& x) { return std::hypot(x[0] - 0.5, x[1] - 0.75) < 0.15 ? 1.0 : 0.0; }

/// Tag cells where the value jumps to a neighbour.
void tag_edges(const CellsToTag<2>& block) {
  for (std::int64_t n = 0; n < block.cells.size(); ++n) {
    const Box::Index at = block.cells.at(n);
    const double here = block.u(0, at);
    for (const std::ptrdiff_t step : block.u.strides)
      for (const double beside : {(&block.u(0, at))[step], (&block.u(0, at))[-step]})
        if (std::abs(beside - here) > 0.02) block.tags[n] = 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const auto system = barrio::amr::make_system<2>(
        {.description = "a disc that turns", .variables = {"value"}, .fluxes = upwind, .fastest = fastest});
    barrio::amr::SimulationOptions<2> options;
    options.grid = {.n_cells = {64, 64},
                    .low = {0.0, 0.0},
                    .cell_size = {1.0 / 64.0, 1.0 / 64.0},
                    .is_periodic = {false, false},
                    .n_levels = argc > 1 ? std::atoi(argv[1]) : 3,
                    .ratio = 2,
                    .block_cells = 16};
    options.initial = [](const std::array<double, 2>& x, std::span<double> u) { u[0] = disc(x); };
    options.tag = tag_edges;
    options.cfl = 0.8;

    barrio::amr::Simulation<2> simulation(context, system, options);
    const double begin = simulation.totals()[0];
    barrio::amr::SimulationFile<2> file("advection.vtkhdf", simulation);
    for (const double time : {0.25, 0.5, 0.75, 1.0}) {
      while (simulation.time() < time) simulation.step(time);
      file.write(simulation);
    }
    file.close();

    const double error = simulation.integrals(1, [](const auto& x, std::span<const double> u, std::span<double> out) {
      out[0] = std::abs(u[0] - disc(x));
    })[0];
    const double lost = simulation.totals()[0] - begin;
    const auto checksum = simulation.checksum();
    if (context.is_root())
      fmt::print("{} steps; {:.4f} of the disc is elsewhere, {:.1e} of it lost; checksum {:016x}\n",
                 simulation.n_steps(), error / begin, std::abs(lost) / begin, checksum);
  });
}
