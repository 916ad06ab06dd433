// Source terms: in each cell, at its position and time, on all levels.
#include <gtest/gtest.h>

#include <cmath>

#include "barrio/amr/patch_kernel.hpp"
#include "tests/amr/moving_blob.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

constexpr std::array<double, 2> gravity{0.3, -0.5};

SimulationOptions<2> falling_gas(const std::shared_ptr<const Euler<2>>& euler, int n_levels) {
  SimulationOptions<2> options = test::moving_blob(euler);
  options.grid.n_levels = n_levels;
  options.initial = [euler](const std::array<double, 2>& x, std::span<double> u) {
    euler->conserve(std::vector<double>{test::blob<2>(x)[0], 0.1, 0.2, 1.0}, u);
  };
  options.source = [](const CellsToChange<2>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const auto at = block.cells.at(n);
      for (int k = 0; k < 2; ++k) {
        block.change(1 + k, at) = block.u(0, at) * gravity[k];
        block.change(3, at) += block.u(1 + k, at) * gravity[k];
      }
    }
  };
  return options;
}

/// A falling gas is the same gas, only faster: the fall does not affect the flow within it.
TEST(Source, GasFallsFreely) {
  const auto euler = std::make_shared<const Euler<2>>();
  for (const int n_levels : {1, 3}) {
    Simulation<2> simulation(barrio::test::world(), euler, falling_gas(euler, n_levels));
    const std::vector<double> before = simulation.totals();
    for (int step = 0; step < 20; ++step) simulation.step();
    ASSERT_GT(simulation.hierarchy().n_global(n_levels - 1), 0);
    const std::vector<double> after = simulation.totals();
    // Next to finer blocks, gravity acts on a cell's mass before refluxing corrects that mass.
    const double tolerance = n_levels == 1 ? 1e-13 : 1e-9;
    const double time = simulation.time();
    EXPECT_NEAR(after[0], before[0], 1e-13);
    double work = 0.0;
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(after[1 + k], before[1 + k] + before[0] * gravity[k] * time, tolerance);
      work += gravity[k] * time * (before[1 + k] + 0.5 * before[0] * gravity[k] * time);
    }
    EXPECT_NEAR(after[3], before[3] + work, tolerance);
  }
}

TEST(Source, GivesTheSameBitsWhateverBlocksWeigh) {
  const auto euler = std::make_shared<const Euler<2>>();
  const auto checksum_of = [&](Partition partition, bool weigh_by_time) {
    SimulationOptions<2> options = falling_gas(euler, 3);
    options.partition = partition;
    options.weigh_by_time = weigh_by_time;
    Simulation<2> simulation(barrio::test::world(), euler, options);
    for (int step = 0; step < 20; ++step) simulation.step();
    simulation.hierarchy().validate();
    return simulation.checksum();
  };
  const std::uint64_t expected = checksum_of(Partition::composite, false);
  EXPECT_EQ(checksum_of(Partition::composite, true), expected);
  EXPECT_EQ(checksum_of(Partition::by_level, true), expected);
}

/// Without flow, and with a source linear in time and in position, Heun's method is exact.
TEST(Source, DependsOnPlaceAndTime) {
  PatchKernel<3> still;
  still.description = "still";
  still.variables = {"value"};
  still.fluxes = [](const CellView<3>&, const geometry::IndexBox<3>& faces, std::size_t, const std::array<double, 3>&,
                    const CellView<3>& flux) {
    for (std::int64_t n = 0; n < faces.size(); ++n) flux(0, faces.at(n)) = 0.0;
  };
  still.fastest = [](const CellView<3>&, const geometry::IndexBox<3>&, const std::array<double, 3>& size) {
    return 1.0 / size[0];
  };
  SimulationOptions<3> options;
  options.grid = {.n_cells = {16, 16, 16},
                  .low = {},
                  .cell_size = {1.0 / 16.0, 1.0 / 16.0, 1.0 / 16.0},
                  .is_periodic = {true, true, true},
                  .n_levels = 2,
                  .ratio = 2,
                  .block_cells = 8};
  options.initial = [](const auto&, std::span<double> u) { u[0] = 0.0; };
  options.tag = [](const CellsToTag<3>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n)
      block.tags[n] = block.space.centre(block.level, block.cells.at(n))[0] < 0.3 ? 1 : 0;
  };
  options.source = [](const CellsToChange<3>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const auto at = block.cells.at(n);
      const auto x = block.space.centre(block.level, at);
      EXPECT_EQ(block.change(0, at), 0.0);
      block.change(0, at) = block.time * (x[0] + 2.0 * x[1] - x[2]);
    }
  };
  Simulation<3> simulation(barrio::test::world(), make_system<3>(still), options);
  while (simulation.time() < 1.0) simulation.step(1.0);
  const auto& hierarchy = simulation.hierarchy();
  ASSERT_GT(hierarchy.n_global(1), 0);
  for (int level = 0; level < 2; ++level) {
    for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b) {
      const auto cells = hierarchy.space().cells(hierarchy.blocks(level)[b].at);
      for (std::int64_t n = 0; n < cells.size(); ++n) {
        const auto x = hierarchy.space().centre(level, cells.at(n));
        ASSERT_NEAR(simulation.state().values(level, b)[n], 0.5 * (x[0] + 2.0 * x[1] - x[2]), 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace barrio::amr
