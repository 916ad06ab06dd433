#include "barrio/amr/patch_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "barrio/amr/simulation.hpp"
#include "barrio/base/error.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

constexpr std::array<double, 2> speeds{0.7, -0.4};

/// Make the kernel of an advected value, with upwind fluxes of first order.
PatchKernel<2> carried() {
  PatchKernel<2> kernel;
  kernel.description = "carried";
  kernel.variables = {"value"};
  kernel.n_ghosts = 1;
  kernel.fluxes = [](const CellView<2>& u, const geometry::IndexBox<2>& faces, std::size_t axis,
                     const std::array<double, 2>&, const CellView<2>& flux) {
    for (std::int64_t n = 0; n < faces.size(); ++n) {
      auto from = faces.at(n);
      if (speeds[axis] > 0.0) from[axis] -= 1;
      flux(0, faces.at(n)) = speeds[axis] * u(0, from);
    }
  };
  kernel.fastest = [](const CellView<2>&, const geometry::IndexBox<2>&, const std::array<double, 2>& size) {
    return 0.7 / size[0] + 0.4 / size[1];
  };
  return kernel;
}

SimulationOptions<2> options_of() {
  SimulationOptions<2> options;
  options.grid = {.n_cells = {32, 32},
                  .low = {},
                  .cell_size = {1.0 / 32.0, 1.0 / 32.0},
                  .is_periodic = {true, true},
                  .n_levels = 3,
                  .ratio = 2,
                  .block_cells = 8};
  options.initial = [](const std::array<double, 2>& x, std::span<double> u) {
    u[0] = std::hypot(x[0] - 0.4, x[1] - 0.4) < 0.15 ? 2.0 : 1.0;
  };
  options.tag = [](const CellsToTag<2>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n)
      if (block.u(0, block.cells.at(n)) > 1.1) block.tags[n] = 1;
  };
  options.buffer_cells = 2;
  options.regrid_interval = 4;
  return options;
}

TEST(PatchKernel, KeepsWhatItCarries) {
  Simulation<2> simulation(barrio::test::world(), make_system<2>(carried()), options_of());
  const double before = simulation.totals()[0];
  for (int step = 0; step < 30; ++step) simulation.step();
  ASSERT_GT(simulation.hierarchy().n_global(2), 0);
  EXPECT_NEAR(simulation.totals()[0], before, 1e-13);
}

TEST(PatchKernel, IsAnUpwindStepOfHeun) {
  SimulationOptions<2> options = options_of();
  options.grid.n_levels = 1;
  options.tag = nullptr;
  options.time_step = 0.01;
  Simulation<2> simulation(barrio::test::world(), make_system<2>(carried()), options);
  simulation.step();
  // The same computation on one array.
  constexpr int n = 32;
  using Grid = std::array<std::array<double, n>, n>;
  Grid u;
  std::array<double, 1> value;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      options.initial({(i + 0.5) / n, (j + 0.5) / n}, value);
      u[j][i] = value[0];
    }
  const auto euler = [](const Grid& from) {
    Grid to;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        to[j][i] =
            from[j][i] +
            0.01 * n * (0.7 * (from[j][(i + n - 1) % n] - from[j][i]) + 0.4 * (from[(j + 1) % n][i] - from[j][i]));
    return to;
  };
  const Grid after = euler(euler(u));
  for (std::size_t b = 0; b < simulation.hierarchy().blocks(0).size(); ++b) {
    const auto cells = simulation.hierarchy().space().cells(simulation.hierarchy().blocks(0)[b].at);
    for (std::int64_t c = 0; c < cells.size(); ++c) {
      const auto [i, j] = cells.at(c);
      ASSERT_NEAR(simulation.state().values(0, b)[c], 0.5 * (u[j][i] + after[j][i]), 1e-14) << i << " " << j;
    }
  }
}

TEST(PatchKernel, AddsSources) {
  PatchKernel<2> kernel = carried();
  kernel.sources = [](const CellView<2>&, const geometry::IndexBox<2>& cells, const std::array<double, 2>&,
                      const CellView<2>& change) {
    for (std::int64_t n = 0; n < cells.size(); ++n) change(0, cells.at(n)) += 3.0;
  };
  Simulation<2> simulation(barrio::test::world(), make_system<2>(kernel), options_of());
  const double before = simulation.totals()[0];
  for (int step = 0; step < 10; ++step) simulation.step();
  EXPECT_NEAR(simulation.totals()[0], before + 3.0 * simulation.time(), 1e-13);
}

TEST(PatchKernel, SeesAMirrorImageBehindWalls) {
  PatchKernel<2> kernel = carried();
  kernel.variables = {"value", "along_x", "along_y"};
  kernel.vector_axis = {-1, 0, 1};
  bool has_seen = false;
  kernel.fluxes = [&](const CellView<2>& u, const geometry::IndexBox<2>& faces, std::size_t axis,
                      const std::array<double, 2>&, const CellView<2>& flux) {
    for (int v = 0; v < 3; ++v)
      for (std::int64_t n = 0; n < faces.size(); ++n) {
        flux(v, faces.at(n)) = 0.0;
        if (axis != 0 || faces.at(n)[0] != 0) continue;
        has_seen = true;
        auto beyond = faces.at(n);
        beyond[0] -= 1;
        EXPECT_EQ(u(v, beyond), (v == 1 ? -1.0 : 1.0) * u(v, faces.at(n)));
      }
  };
  SimulationOptions<2> options = options_of();
  options.grid.is_periodic = {false, true};
  options.boundary[0] = {BoundaryCondition::wall, BoundaryCondition::wall};
  options.initial = [](const std::array<double, 2>& x, std::span<double> u) {
    u[0] = 1.0 + x[0];
    u[1] = 2.0 + x[1];
    u[2] = 3.0;
  };
  options.grid.n_levels = 1;
  options.tag = nullptr;
  Simulation<2> simulation(barrio::test::world(), make_system<2>(kernel), options);
  simulation.step();
  const bool has_end =
      std::ranges::any_of(simulation.hierarchy().blocks(0), [](const auto& block) { return block.at[0] == 0; });
  EXPECT_EQ(has_seen, has_end);
}

TEST(PatchKernel, OfNothingIsRefused) {
  PatchKernel<2> kernel = carried();
  kernel.vector_axis = {0, 1};
  EXPECT_THROW((void)make_system<2>(kernel), Error);
  kernel = carried();
  kernel.fluxes = nullptr;
  EXPECT_THROW((void)make_system<2>(kernel), Error);
}

}  // namespace
}  // namespace barrio::amr
