#include "barrio/amr/simulation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "barrio/amr/euler.hpp"
#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/amr/exact_riemann.hpp"
#include "tests/amr/moving_blob.hpp"
#include "tests/amr/one_box.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

using test::moving_blob;
using test::options_of;
using test::tag_jumps;

constexpr double two_pi = 2.0 * std::numbers::pi;

TEST(Simulation, OfOneLevelIsTheKernelOnOneBox) {
  const auto smooth = [](const std::array<double, 3>& x) {
    return std::vector<double>{1.0 + 0.3 * std::sin(two_pi * x[0]), 0.5, std::cos(two_pi * x[1]), 0.1,
                               1.0 + 0.2 * std::sin(two_pi * (x[1] + x[2]))};
  };
  const auto euler = std::make_shared<const Euler<3>>();
  SimulationOptions<3> options = options_of<3>(euler, 24, 1, smooth);
  options.time_step = 0.004;
  Simulation<3> simulation(barrio::test::world(), euler, options);
  test::OneBox<3> box({24, 24, 24}, {1.0, 1.0, 1.0});
  box.fill(smooth);
  for (int step = 0; step < 5; ++step) {
    simulation.step();
    box.step(detail::euler_kernels(chosen_instruction_set()), 0.004);
  }
  const auto& hierarchy = simulation.hierarchy();
  for (std::size_t b = 0; b < hierarchy.blocks(0).size(); ++b) {
    const auto cells = hierarchy.space().cells(hierarchy.blocks(0)[b].at);
    const auto values = simulation.state().values(0, b);
    for (std::int64_t n = 0; n < cells.size(); ++n) {
      const auto at = cells.at(n);
      for (int v = 0; v < 5; ++v) ASSERT_EQ(values[v * cells.size() + n], box.value(v, at[0], at[1], at[2]));
    }
  }
}

/// Return the checksums of one rank at the start and after each step, by the scalar kernel and another strategy.
/// Collective.
template <std::size_t D>
std::vector<std::uint64_t> checksums_of_one_rank(SimulationOptions<D> options, int n_steps) {
  std::vector<std::uint64_t> checksums;
  if (barrio::test::world().is_root()) {
    mpi::Context alone(MPI_COMM_SELF);
    options.strategy = exchange::Strategy::staggered_tests;
    const EulerOptions scalar{.instruction_set = InstructionSet::scalar};
    Simulation<D> single(alone, std::make_shared<const Euler<D>>(scalar), options);
    checksums.push_back(single.checksum());
    for (int step = 0; step < n_steps; ++step) {
      single.step();
      checksums.push_back(single.checksum());
    }
  }
  mpi::broadcast(barrio::test::world(), checksums);
  return checksums;
}

template <std::size_t D>
void expect_one_result(const SimulationOptions<D>& options, int n_steps) {
  const std::vector<std::uint64_t> expected = checksums_of_one_rank(options, n_steps);
  Simulation<D> together(barrio::test::world(), std::make_shared<const Euler<D>>(), options);
  EXPECT_EQ(together.checksum(), expected[0]) << "at the start";
  for (int step = 0; step < n_steps; ++step) {
    together.step();
    together.hierarchy().validate();
    ASSERT_EQ(together.checksum(), expected[step + 1]) << "step " << step;
  }
  EXPECT_GT(together.hierarchy().n_global(options.grid.n_levels - 1), 0);
}

TEST(Simulation, HasOneResultOnAnyNumberOfRanks) {
  expect_one_result<2>(moving_blob(std::make_shared<const Euler<2>>()), 20);
  expect_one_result<3>(moving_blob(std::make_shared<const Euler<3>>()), 5);
}

TEST(Simulation, HasOneResultWithAHybridSolver) {
  SimulationOptions<2> options = moving_blob(std::make_shared<const Euler<2>>());
  const auto hybrid = std::make_shared<const Euler<2>>(EulerOptions{.riemann_solver = RiemannSolver::hybrid});
  options.initial = [hybrid](const std::array<double, 2>& x, std::span<double> u) {
    const bool is_in = std::hypot(x[0] - 0.5, x[1] - 0.4) < 0.15;
    hybrid->conserve(std::vector<double>{is_in ? 2.0 : 1.0, 0.3, 0.0, is_in ? 50.0 : 1.0}, u);
  };
  std::vector<std::uint64_t> wanted;
  if (barrio::test::world().is_root()) {
    mpi::Context alone(MPI_COMM_SELF);
    Simulation<2> single(alone, hybrid, options);
    for (int step = 0; step < 12; ++step) {
      single.step();
      wanted.push_back(single.checksum());
    }
  }
  mpi::broadcast(barrio::test::world(), wanted);
  Simulation<2> together(barrio::test::world(), hybrid, options);
  const std::vector<double> before = together.totals();
  for (int step = 0; step < 12; ++step) {
    together.step();
    ASSERT_EQ(together.checksum(), wanted[static_cast<std::size_t>(step)]) << "step " << step;
  }
  for (std::size_t v = 0; v < before.size(); ++v) EXPECT_NEAR(together.totals()[v], before[v], 1e-12 * before[3]);
}

TEST(Simulation, HasOneResultWhereLevelsLieTogether) {
  SimulationOptions<2> options = moving_blob(std::make_shared<const Euler<2>>());
  options.partition = Partition::composite;
  expect_one_result<2>(options, 12);
}

TEST(Simulation, HasOneResultWithARatioOfFour) {
  SimulationOptions<2> options = moving_blob(std::make_shared<const Euler<2>>());
  options.grid.ratio = 4;
  options.grid.n_levels = 2;
  options.buffer_cells = 2;
  expect_one_result<2>(options, 12);
}

TEST(Simulation, HasOneResultBetweenWallsAndWhatIsGiven) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = moving_blob(euler);
  options.grid.is_periodic = {false, false};
  options.boundary[0] = {BoundaryCondition::inflow, BoundaryCondition::outflow};
  options.boundary[1] = {BoundaryCondition::wall, BoundaryCondition::wall};
  options.inflow = [euler](const std::array<double, 2>& x, double time, std::span<double> u) {
    euler->conserve(std::vector<double>{1.5 + 0.4 * std::sin(40.0 * time) * x[1], 0.7, 0.3, 1.0}, u);
  };
  options.is_subcycled = false;
  expect_one_result<2>(options, 12);
}

TEST(Simulation, KeepsMassMomentumAndEnergy) {
  const auto euler = std::make_shared<const Euler<2>>();
  Simulation<2> simulation(barrio::test::world(), euler, moving_blob(euler));
  const std::vector<double> before = simulation.totals();
  for (int step = 0; step < 100; ++step) simulation.step();
  const std::vector<double> after = simulation.totals();
  for (std::size_t v = 0; v < before.size(); ++v)
    EXPECT_NEAR(after[v], before[v], 1e-13 * std::abs(before[0])) << euler->variables()[v];
  // Without refluxing the levels disagree about what flows between them: the test can fail.
  SimulationOptions<2> options = moving_blob(euler);
  options.has_reflux = false;
  Simulation<2> leaking(barrio::test::world(), euler, options);
  for (int step = 0; step < 20; ++step) leaking.step();
  EXPECT_GT(std::abs(leaking.totals()[0] - before[0]), 1e-9);
}

TEST(Simulation, LeavesAUniformStreamAlone) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options =
      options_of<2>(euler, 32, 3, [](const auto&) { return std::vector<double>{1.0, 0.3, -0.2, 0.7}; });
  int round = 0;
  options.tag = [&](const CellsToTag<2>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const auto at = block.cells.at(n);
      if ((at[0] + 3 * at[1]) % 29 == round % 7) block.tags[n] = 1;
    }
  };
  options.regrid_interval = 2;
  Simulation<2> simulation(barrio::test::world(), euler, options);
  for (int step = 0; step < 10; ++step, ++round) simulation.step();
  std::vector<double> u(4);
  euler->conserve(std::vector<double>{1.0, 0.3, -0.2, 0.7}, u);
  for (int level = 0; level < 3; ++level)
    for (std::size_t b = 0; b < simulation.hierarchy().blocks(level).size(); ++b)
      for (int v = 0; v < 4; ++v)
        for (int n = 0; n < 64; ++n)
          ASSERT_NEAR(simulation.state().values(level, b)[v * 64 + n], u[v], 1e-14) << "level " << level;
}

/// Gather the density on a grid of the finest level's cells, on every rank.
std::vector<double> finest_density(const Simulation<2>& simulation) {
  const auto& space = simulation.hierarchy().space();
  const int finest = simulation.hierarchy().n_levels() - 1;
  const auto all = space.domain(finest);
  std::vector<double> density(all.size(), 0.0);
  // Finer levels last: they overwrite the cells that they cover.
  for (int level = 0; level <= finest; ++level) {
    std::vector<double> of_level(all.size(), 0.0);
    std::vector<double> is_there(all.size(), 0.0);
    const std::int64_t ratio = all.high[0] / space.domain(level).high[0];
    for (std::size_t b = 0; b < simulation.hierarchy().blocks(level).size(); ++b) {
      const auto cells = space.cells(simulation.hierarchy().blocks(level)[b].at);
      for (std::int64_t n = 0; n < cells.size(); ++n) {
        const auto fine = geometry::IndexBox<2>{cells.at(n), {cells.at(n)[0] + 1, cells.at(n)[1] + 1}}.refined(ratio);
        for (std::int64_t i = 0; i < fine.size(); ++i) {
          of_level[all.place(fine.at(i))] = simulation.state().values(level, b)[n];
          is_there[all.place(fine.at(i))] = 1.0;
        }
      }
    }
    for (auto* values : {&of_level, &is_there})
      MPI_Allreduce(MPI_IN_PLACE, values->data(), static_cast<int>(values->size()), MPI_DOUBLE, MPI_SUM,
                    simulation.hierarchy().context().comm());
    for (std::size_t i = 0; i < density.size(); ++i)
      if (is_there[i] > 0.0) density[i] = of_level[i];
  }
  return density;
}

TEST(Simulation, IsAsAUniformFineGrid) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = moving_blob(euler);
  options.tag = tag_jumps<2>(0.01);
  options.buffer_cells = 4;
  options.time_step = 0.1 / 32.0;
  SimulationOptions<2> uniform = options;
  uniform.grid.n_levels = 1;
  uniform.time_step = options.time_step / 4.0;
  for (std::size_t k = 0; k < 2; ++k) {
    uniform.grid.n_cells[k] *= 4;
    uniform.grid.cell_size[k] /= 4.0;
  }
  Simulation<2> adapted(barrio::test::world(), euler, options);
  Simulation<2> fine(barrio::test::world(), euler, uniform);
  for (int step = 0; step < 30; ++step) {
    adapted.step();
    for (int k = 0; k < 4; ++k) fine.step();
  }
  const std::vector<double> of_adapted = finest_density(adapted);
  const std::vector<double> of_fine = finest_density(fine);
  double distance = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < of_fine.size(); ++i) {
    distance += std::abs(of_adapted[i] - of_fine[i]);
    total += of_fine[i];
  }
  EXPECT_LT(distance, 0.01 * total);
  EXPECT_LT(adapted.hierarchy().n_global(2), fine.hierarchy().n_global(0)) << "all of it is refined";
}

/// Return the L1 distance of the density on the coarsest level from a function.
template <class Exact>
double density_error(const Simulation<2>& simulation, Exact exact) {
  double error = 0.0;
  const auto& space = simulation.hierarchy().space();
  for (std::size_t b = 0; b < simulation.hierarchy().blocks(0).size(); ++b) {
    const auto cells = space.cells(simulation.hierarchy().blocks(0)[b].at);
    for (std::int64_t n = 0; n < cells.size(); ++n) {
      const double x = (static_cast<double>(cells.at(n)[0]) + 0.5) * space.cell_size(0)[0];
      error += std::abs(simulation.state().values(0, b)[n] - exact(x));
    }
  }
  return error;
}

TEST(Simulation, RefinesAShockTube) {
  const auto euler = std::make_shared<const Euler<2>>();
  const auto tube = [&](std::int64_t n, int n_levels) {
    SimulationOptions<2> options = options_of<2>(euler, n, n_levels, [](const auto& x) {
      return x[0] < 0.5 ? std::vector<double>{1.0, 0.0, 0.0, 1.0} : std::vector<double>{0.125, 0.0, 0.0, 0.1};
    });
    options.grid.n_cells[1] = 8;
    options.grid.is_periodic[0] = false;
    options.tag = tag_jumps<2>(0.005);
    options.time_step = 0.2 / static_cast<double>(n);
    return Simulation<2>(barrio::test::world(), euler, options);
  };
  Simulation<2> adapted = tube(64, 3);
  Simulation<2> coarse = tube(64, 1);
  Simulation<2> fine = tube(256, 1);
  for (int step = 0; step < 64; ++step) {
    adapted.step();
    coarse.step();
    for (int k = 0; k < 4; ++k) fine.step();
  }
  const test::ExactRiemann exact({1.0, 0.0, 1.0}, {0.125, 0.0, 0.1}, 1.4);
  const auto density = [&](double x) { return exact.at((x - 0.5) / 0.2).density; };
  const auto error_of = [&](const Simulation<2>& simulation, double n) {
    double error = density_error(simulation, density) / n;
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_SUM, barrio::test::world().comm());
    return error / 8.0;
  };
  const double of_coarse = error_of(coarse, 64.0);
  const double of_adapted = error_of(adapted, 64.0);
  const double of_fine = error_of(fine, 256.0);
  EXPECT_LT(of_fine, 0.4 * of_coarse);
  EXPECT_LT(of_adapted, 0.5 * of_coarse);
}

TEST(Simulation, NamesACellWhoseStateCannotBe) {
  const auto text_of = [&](auto spoil, int n_steps) {
    const auto euler = std::make_shared<const Euler<2>>(EulerOptions{.falls_back = false});
    SimulationOptions<2> options = moving_blob(euler);
    options.grid.n_levels = 1;
    options.initial = [euler, spoil](const std::array<double, 2>& x, std::span<double> u) {
      euler->conserve(test::blob<2>(x), u);
      if (std::abs(x[0] - 0.9) < 0.016 && std::abs(x[1] - 0.1) < 0.016) spoil(u);
    };
    if (n_steps > 0) options.cfl = 1.0;
    bool is_made = false;
    try {
      Simulation<2> simulation(barrio::test::world(), euler, options);
      is_made = true;
      for (int step = 0; step < n_steps; ++step) simulation.step();
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), is_made ? ErrorCode::failed : ErrorCode::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto starts = [](const std::string& text, const std::string& with) {
    EXPECT_TRUE(text.starts_with(with)) << text;
  };
  starts(text_of([](std::span<double> u) { u[0] = -1.0; }, 0), "cell 28, 3 of level 0, step 0, time 0: density is -1");
  starts(text_of([](std::span<double> u) { u[3] = -1.0; }, 0),
         "cell 28, 3 of level 0, step 0, time 0: pressure is -0.");
  starts(text_of([](std::span<double> u) { u[0] = std::nan(""); }, 0),
         "cell 28, 3 of level 0, step 0, time 0: density is ");
  // A cold bullet leaves a vacuum behind it, which ends the run with a message.
  const auto bullet = [](std::span<double> u) {
    u[1] = 1000.0 * u[0];
    u[2] = 0.0;
    u[3] = 0.5 * 1000.0 * u[1] + 1e-6;
  };
  EXPECT_NE(text_of(bullet, 20).find("of level 0, step "), std::string::npos);
}

TEST(Simulation, RefusesOptionsThatCannotBe) {
  const auto euler = std::make_shared<const Euler<2>>();
  const auto text_of = [&](auto change) {
    SimulationOptions<2> options = moving_blob(euler);
    change(options);
    try {
      const Simulation<2> simulation(barrio::test::world(), euler, options);
    } catch (const AgreedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text_of([](auto& options) { options.cfl = 1.5; }), "CFL number 1.5: must be above 0 and at most 1");
  EXPECT_EQ(text_of([](auto& options) { options.initial = nullptr; }), "simulation: must have initial values");
  EXPECT_EQ(text_of([](auto& options) { options.buffer_cells = 9; }),
            "a buffer of 9 cells: must be from 0 to 4, a block of the finer level");
  EXPECT_EQ(text_of([](auto& options) { options.grid.block_cells = 12; }),
            "blocks of 12 cells: must be a positive multiple of 8");
}

/// Gas that flows into gas at rest: a shock runs ahead of it, and one back, with the density of Rankine and Hugoniot
/// between them.
TEST(Simulation, TakesItsFirstStepFromWhatFlowsIn) {
  const auto euler = std::make_shared<const Euler<2>>();
  for (const double speed : {2.0, 4.0, 10.0}) {
    for (const double cfl : {0.7, 0.8}) {
      SimulationOptions<2> options = test::options_of<2>(
          euler, 64, 1, [](const std::array<double, 2>&) { return std::vector<double>{1.0, 0.0, 0.0, 1.0}; });
      options.grid.n_cells[1] = 8;
      options.grid.is_periodic[0] = false;
      options.boundary[0] = {BoundaryCondition::inflow, BoundaryCondition::outflow};
      options.inflow = [&](const std::array<double, 2>&, double, std::span<double> u) {
        euler->conserve(std::vector<double>{1.0, speed, 0.0, 1.0}, u);
      };
      options.cfl = cfl;
      Simulation<2> simulation(barrio::test::world(), euler, options);
      const double end = 0.5 / speed;
      while (simulation.time() < end) simulation.step(end);
      const double to_sound = 0.5 * speed / std::sqrt(1.4);
      const double mach = 0.6 * to_sound + std::sqrt(1.0 + 0.36 * to_sound * to_sound);
      const double wanted = 2.4 * mach * mach / (0.4 * mach * mach + 2.0);
      double highest = 0.0;
      for (std::size_t b = 0; b < simulation.hierarchy().blocks(0).size(); ++b)
        for (int n = 0; n < 64; ++n) highest = std::max(highest, simulation.state().values(0, b)[n]);
      highest = mpi::max(barrio::test::world(), highest);
      EXPECT_NEAR(highest, wanted, 0.03 * wanted) << speed << ' ' << cfl;
    }
  }
}

/// An inflow that begins within the step, and one of no density.
TEST(Simulation, LooksAtWhatFlowsInAtTheEndOfTheStep) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = test::options_of<2>(
      euler, 32, 1, [](const std::array<double, 2>&) { return std::vector<double>{1.0, 0.0, 0.0, 1.0}; });
  options.grid.is_periodic[0] = false;
  options.boundary[0] = {BoundaryCondition::inflow, BoundaryCondition::outflow};
  options.inflow = [&](const std::array<double, 2>&, double time, std::span<double> u) {
    euler->conserve(std::vector<double>{1.0, time > 1e-4 ? 50.0 : 0.0, 0.0, 1.0}, u);
  };
  Simulation<2> simulation(barrio::test::world(), euler, options);
  simulation.step();
  EXPECT_LT(simulation.time(), 0.4 / 32 / 51);
  options.inflow = [&](const std::array<double, 2>&, double, std::span<double> u) {
    euler->conserve(std::vector<double>{-1.0, 0.0, 0.0, 1.0}, u);
  };
  Simulation<2> spoiled(barrio::test::world(), euler, options);
  try {
    spoiled.step();
    FAIL() << "was taken";
  } catch (const AgreedError& error) {
    EXPECT_TRUE(error.subject().starts_with("inflow beside cell 0, ")) << error.what();
  }
}

/// A jet that is fast beside some blocks only, and faster later: the time step is that of one rank.
TEST(Simulation, TakesTheSameStepFromAnInflowOnAnyRanks) {
  const auto euler = std::make_shared<const Euler<2>>();
  const auto time_after = [&](mpi::Context& context) {
    SimulationOptions<2> options = test::options_of<2>(
        euler, 64, 1, [](const std::array<double, 2>&) { return std::vector<double>{1.0, 0.0, 0.0, 1.0}; });
    options.grid.is_periodic[0] = false;
    options.boundary[0] = {BoundaryCondition::inflow, BoundaryCondition::outflow};
    options.inflow = [&](const std::array<double, 2>& x, double time, std::span<double> u) {
      const double speed = x[1] > 0.8 ? 3.0 + 100.0 * time : 5000.0 * time;
      euler->conserve(std::vector<double>{1.0, speed, 0.0, 1.0}, u);
    };
    Simulation<2> simulation(context, euler, options);
    for (int step = 0; step < 4; ++step) simulation.step();
    return std::vector<std::uint64_t>{std::bit_cast<std::uint64_t>(simulation.time()), simulation.checksum()};
  };
  const std::vector<std::uint64_t> wanted = barrio::test::of_one_rank(time_after);
  EXPECT_EQ(time_after(barrio::test::world()), wanted);
}

/// The state after a step has been looked at, also after the last one.
TEST(Simulation, LooksAtTheStateOfTheLastStep) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = moving_blob(euler);
  options.grid.n_levels = 1;
  options.source = [](const CellsToChange<2>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n) block.change(3, block.cells.at(n)) = -1e4;
  };
  Simulation<2> simulation(barrio::test::world(), euler, options);
  try {
    simulation.step();
    FAIL() << "was taken";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(std::string(error.what()).find("step 1, time "), std::string::npos) << error.what();
  }
}

/// Without subcycling the level that a step begins with has the same time step.
TEST(Simulation, TakesTheStepOfALevelThatItBeginsWith) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = moving_blob(euler);
  options.grid.n_levels = 2;
  options.is_subcycled = false;
  options.regrid_interval = 1;
  options.tag = [](const CellsToTag<2>& block) {
    if (block.time > 0.01) std::ranges::fill(block.tags, std::uint8_t{1});
  };
  Simulation<2> simulation(barrio::test::world(), euler, options);
  double before = 0.0;
  bool was_refined = false;
  while (!was_refined) {
    before = simulation.time();
    simulation.step();
    was_refined = simulation.hierarchy().n_global(1) > 0;
    ASSERT_LT(simulation.time(), 0.1);
  }
  const double first = simulation.time() - before;
  before = simulation.time();
  simulation.step();
  EXPECT_LT(first, 1.5 * (simulation.time() - before));
}

TEST(Simulation, RefusesAStepThatPassesMoreThanACell) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = moving_blob(euler);
  options.time_step = 0.1;
  Simulation<2> simulation(barrio::test::world(), euler, options);
  try {
    simulation.step();
    FAIL() << "was taken";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.subject(), "a time step of 0.1 at step 0");
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
  }
}

}  // namespace
}  // namespace barrio::amr
