// Sums over the finest cells: exact, and the same for every distribution.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "barrio/base/error.hpp"
#include "barrio/mpi/exact_sum.hpp"
#include "tests/amr/moving_blob.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

double sum_of(std::span<const double> mine) {
  std::vector<mpi::ExactSum> sums(1);
  for (const double one : mine) sums[0].add(one);
  return mpi::ExactSum::over_all(barrio::test::world(), sums)[0];
}

TEST(ExactSum, DependsNeitherOnOrderNorOnRanks) {
  // Numbers of all magnitudes, so that plain sums would depend on order and distribution. All ranks generate the same
  // numbers, and each has a part.
  std::mt19937_64 random(20261127);
  std::vector<double> all;
  for (int i = 0; i < 2000; ++i)
    all.push_back(std::ldexp(std::uniform_real_distribution<double>(-1.0, 1.0)(random),
                             std::uniform_int_distribution<int>(-1070, 1000)(random)));
  const auto share = [&] {
    std::vector<double> mine;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i) % barrio::test::world().size() == barrio::test::world().rank()) mine.push_back(all[i]);
    return mine;
  };
  const double first = sum_of(share());
  std::ranges::shuffle(all, random);
  EXPECT_EQ(sum_of(share()), first);
  // Numbers and their negatives cancel exactly, and a remainder stays that plain sums lose.
  const std::size_t n = all.size();
  for (std::size_t i = 0; i < n; ++i) all.push_back(-all[i]);
  std::ranges::shuffle(all, random);
  EXPECT_EQ(sum_of(share()), 0.0);
  all.push_back(1e-300);
  EXPECT_EQ(sum_of(share()), 1e-300);
}

TEST(ExactSum, IsRoundedOnce) {
  const bool is_first = barrio::test::world().is_root();
  const auto of = [&](std::vector<double> items) { return sum_of(is_first ? items : std::vector<double>{}); };
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(of({}), 0.0);
  EXPECT_EQ(of({-1.5}), -1.5);
  EXPECT_EQ(of({tiny, tiny}), 2.0 * tiny);
  EXPECT_EQ(of({huge, -tiny, -huge}), -tiny);
  EXPECT_EQ(of({huge, huge, -huge}), huge);
  // Half a unit in the last place rounds to even, unless any lower bit is set.
  EXPECT_EQ(of({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(of({1.0, 0x1p-53, tiny}), 1.0 + 0x1p-52);
  EXPECT_EQ(of({-1.0, -0x1p-53, -tiny}), -1.0 - 0x1p-52);
  EXPECT_EQ(of({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_TRUE(std::isnan(of({1.0, std::numeric_limits<double>::infinity()})));
}

TEST(Integrals, AreOfTheFinestCells) {
  const auto euler = std::make_shared<const Euler<2>>();
  Simulation<2> simulation(barrio::test::world(), euler, test::moving_blob(euler));
  for (int step = 0; step < 6; ++step) simulation.step();
  ASSERT_GT(simulation.hierarchy().n_global(2), 0);
  const auto& space = simulation.hierarchy().space();
  const std::vector<double> integrals =
      simulation.integrals(3, [&](const auto& x, std::span<const double> u, std::span<double> out) {
        out[0] = 1.0;
        out[1] = u[0];
        // A wave on the scale of the finest cells: the integral shows which cells were summed.
        out[2] = std::fmod(x[0] / space.cell_size(2)[0], 2.0) < 1.0 ? u[0] : 0.0;
      });
  EXPECT_EQ(integrals[0], 1.0);
  EXPECT_NEAR(integrals[1], simulation.totals()[0], 1e-14);
  // An independent sum: each level without the cells that finer blocks cover.
  double wavy = 0.0;
  for (int level = 0; level < 3; ++level) {
    const double volume = space.cell_size(level)[0] * space.cell_size(level)[1];
    std::vector<std::int64_t> finer;  // positions of all finer blocks, on all ranks
    if (level < 2)
      for (const auto& block : simulation.hierarchy().blocks(level + 1))
        finer.push_back(space.blocks(level + 1).place(block.at));
    std::vector<int> is_refined(level < 2 ? space.blocks(level + 1).size() : 0, 0);
    for (const std::int64_t place : finer) is_refined[place] = 1;
    if (!is_refined.empty())
      MPI_Allreduce(MPI_IN_PLACE, is_refined.data(), static_cast<int>(is_refined.size()), MPI_INT, MPI_MAX,
                    barrio::test::world().comm());
    for (std::size_t b = 0; b < simulation.hierarchy().blocks(level).size(); ++b) {
      const auto cells = space.cells(simulation.hierarchy().blocks(level)[b].at);
      for (std::int64_t n = 0; n < cells.size(); ++n) {
        const auto at = cells.at(n);
        if (level < 2) {
          const geometry::IndexBox<2>::Index finer_block{at[0] * 2 / space.block_cells(),
                                                         at[1] * 2 / space.block_cells()};
          if (is_refined[space.blocks(level + 1).place(finer_block)] != 0) continue;
        }
        const double x = space.centre(level, at)[0];
        if (std::fmod(x / space.cell_size(2)[0], 2.0) < 1.0) wavy += volume * simulation.state().values(level, b)[n];
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wavy, 1, MPI_DOUBLE, MPI_SUM, barrio::test::world().comm());
  EXPECT_NEAR(integrals[2], wavy, 1e-13);
}

TEST(Simulation, EndsAStepAtATime) {
  const auto euler = std::make_shared<const Euler<2>>();
  Simulation<2> simulation(barrio::test::world(), euler, test::moving_blob(euler));
  simulation.step();
  const double dt = simulation.time();
  // Not a whole number of steps: the last two share the remainder.
  const double end = simulation.time() + 2.2 * dt;
  int n_steps = 0;
  double before = simulation.time();
  double shortest = dt;
  while (simulation.time() < end) {
    before = simulation.time();
    simulation.step(end);
    shortest = std::min(shortest, simulation.time() - before);
    ++n_steps;
  }
  EXPECT_EQ(simulation.time(), end);
  EXPECT_LE(n_steps, 4);
  EXPECT_GT(shortest, 0.3 * dt);
  EXPECT_THROW(simulation.step(end), AgreedError);
}

TEST(Simulation, RefusesMoreCellsThanAllowed) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = test::moving_blob(euler);
  options.max_cells = 32 * 32 + 64;
  try {
    const Simulation<2> simulation(barrio::test::world(), euler, options);
    FAIL() << "was not refused";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(error.cause().find("more than the 1 088 that are allowed"), std::string::npos) << error.what();
  }
}

TEST(Simulation, RefusesMoreMemoryThanAllowed) {
  const auto euler = std::make_shared<const Euler<2>>();
  SimulationOptions<2> options = test::moving_blob(euler);
  options.max_bytes = 1U << 30U;
  const Simulation<2> fits(barrio::test::world(), euler, options);
  options.max_bytes = 4000;
  try {
    const Simulation<2> simulation(barrio::test::world(), euler, options);
    FAIL() << "was not refused";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(error.cause().find("for the values of a rank, more than the"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace barrio::amr
