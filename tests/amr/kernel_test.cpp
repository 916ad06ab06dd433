#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "barrio/base/hash.hpp"
#include "tests/amr/exact_riemann.hpp"
#include "tests/amr/one_box.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

using test::End;
using test::OneBox;
using test::State;
using Cells3 = std::array<std::ptrdiff_t, 3>;

constexpr double two_pi = 2.0 * std::numbers::pi;

const detail::EulerKernels& best() { return detail::euler_kernels(instruction_sets().back()); }

template <std::size_t D>
std::uint64_t bits_of(OneBox<D>& box) {
  Hash64 hash;
  for (std::ptrdiff_t v = 0; v < box.n_variables(); ++v)
    box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
      hash.add(std::bit_cast<std::uint64_t>(box.value(v, i, j, k)));
    });
  return hash.value();
}

/// Fluxes through the ends of a box, as returned by the kernel.
template <std::size_t D>
struct Boundary {
  std::array<std::array<std::vector<double>, 2>, 3> fluxes;
  explicit Boundary(const OneBox<D>& box) {
    for (std::size_t k = 0; k < D; ++k)
      for (std::vector<double>& one : fluxes[k])
        one.assign(box.n_variables() * (box.n[0] * box.n[1] * box.n[2] / box.n[k]), 0.0);
  }
  [[nodiscard]] std::array<std::array<double*, 2>, 3> pointers() {
    std::array<std::array<double*, 2>, 3> all{};
    for (std::size_t k = 0; k < D; ++k)
      for (std::size_t end = 0; end < 2; ++end) all[k][end] = fluxes[k][end].data();
    return all;
  }
};

template <std::size_t D>
State random_state(std::mt19937_64& random, std::ptrdiff_t n_species) {
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  State state{0.1 + draw(random)};
  for (std::size_t a = 0; a < D; ++a) state.push_back(4.0 * draw(random) - 2.0);
  state.push_back(random() % 4 == 0 ? 5.0 : 0.05 + draw(random));
  for (std::ptrdiff_t s = 0; s < n_species; ++s) state.push_back(draw(random));
  return state;
}

/// Make a gas of uniform pressure, as across contacts.
template <std::size_t D>
State random_contact(std::mt19937_64& random, std::ptrdiff_t n_species) {
  State state = random_state<D>(random, n_species);
  for (std::size_t a = 0; a < D; ++a) state[1 + a] *= 0.1;
  state[1 + D] = 1.0;
  return state;
}

template <std::size_t D>
void expect_same_bits(std::mt19937_64& random) {
  std::array<std::ptrdiff_t, D> n{};
  std::array<double, D> length{};
  for (std::size_t k = 0; k < D; ++k) {
    n[k] = 1 + static_cast<std::ptrdiff_t>(random() % (k == 0 ? 19 : 7));
    length[k] = 1.0 + static_cast<double>(k);
  }
  const auto n_species = static_cast<std::ptrdiff_t>(random() % 3);
  const std::uint64_t seed = random();
  std::uint64_t expected = 0;
  for (const InstructionSet set : instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    OneBox<D> box(n, length, n_species);
    for (std::size_t k = 0; k < D; ++k) box.ends[k] = seed >> k & 1U ? End::periodic : End::same;
    std::mt19937_64 again(seed);
    box.flattens = (seed >> 8 & 1U) != 0;
    box.sharpens = (seed >> 9 & 1U) != 0;
    box.is_hlle = (seed >> 10 & 3U) == 0;
    box.fill([&](const auto&) {
      return box.sharpens ? random_contact<D>(again, n_species) : random_state<D>(again, n_species);
    });
    Boundary<D> boundary(box);
    const detail::EulerKernels& kernels = detail::euler_kernels(set);
    const double dt = box.time_step(kernels, 0.3);
    for (int step = 0; step < 3; ++step) box.step(kernels, dt, boundary.pointers());
    Hash64 hash(bits_of(box));
    hash.add(dt);
    for (const auto& ends : boundary.fluxes)
      for (const std::vector<double>& one : ends)
        for (const double flux : one) hash.add(std::bit_cast<std::uint64_t>(flux));
    EXPECT_TRUE(std::isfinite(box.total(0)));
    if (set == instruction_sets().front()) expected = hash.value();
    EXPECT_EQ(hash.value(), expected);
  }
}

TEST(EulerKernels, AllInstructionSetsGiveTheSameBits) {
  EXPECT_GE(instruction_sets().size(), 2U);
  std::mt19937_64 random(barrio::test::seed());
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    expect_same_bits<2>(random);
    expect_same_bits<3>(random);
  }
}

/// The net flux through the ends equals the change in the cells.
TEST(EulerKernels, FluxesThroughTheEndsAccountForAllChange) {
  std::mt19937_64 random(barrio::test::seed());
  OneBox<3> box({7, 5, 6}, {1.0, 2.0, 1.5}, 2);
  box.ends = {End::same, End::periodic, End::same};
  box.fill([&](const auto&) { return random_state<3>(random, 2); });
  const double dt = box.time_step(best(), 0.3);
  // Only the second stage returns its fluxes: with half the weight, from the state after the first stage.
  OneBox<3> first = box;
  Boundary<3> at_first(first);
  OneBox<3> copy = box;
  Boundary<3> second(box);
  box.step(best(), dt, second.pointers());
  // A step whose second stage sees the initial state returns the fluxes of the first stage.
  copy.step(best(), 0.0, at_first.pointers());
  for (std::ptrdiff_t v = 0; v < box.n_variables(); ++v) {
    double gained = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t n_faces = second.fluxes[k][0].size() / static_cast<std::size_t>(box.n_variables());
      for (std::size_t f = 0; f < n_faces; ++f) {
        const std::size_t at = static_cast<std::size_t>(v) * n_faces + f;
        gained +=
            0.5 * dt / box.size[k] *
            (second.fluxes[k][0][at] + at_first.fluxes[k][0][at] - second.fluxes[k][1][at] - at_first.fluxes[k][1][at]);
      }
    }
    EXPECT_NEAR(box.total(v) - first.total(v), gained, 1e-11) << "variable " << v;
  }
}

TEST(EulerKernels, AUniformStreamStaysAsItIs) {
  OneBox<3> box({9, 6, 5}, {1.0, 1.0, 1.0}, 1);
  box.fill([](const auto&) { return State{1.3, 0.7, -0.4, 0.9, 2.1, 0.25}; });
  const std::uint64_t before = bits_of(box);
  const double dt = box.time_step(best(), 0.4);
  for (int step = 0; step < 20; ++step) box.step(best(), dt);
  EXPECT_EQ(bits_of(box), before);
}

/// A shock tube: one initial state on the left, another on the right.
struct Tube {
  double error;
  std::vector<double> density;
  std::vector<double> momentum;
};

constexpr test::GasState sod_left{1.0, 0.0, 1.0};
constexpr test::GasState sod_right{0.125, 0.0, 0.1};

/// Run Sod's tube along an axis of a 3-D box. The error is the root of the sum of squares of the variables' L1 errors.
Tube run_tube(std::ptrdiff_t n, std::size_t axis, InstructionSet set) {
  Cells3 cells{1, 1, 1};
  cells[axis] = n;
  std::array<double, 3> length{};
  length.fill(1.0 / static_cast<double>(n));
  length[axis] = 1.0;
  OneBox<3> box(cells, length);
  box.ends.fill(End::same);
  box.fill([&](const std::array<double, 3>& x) {
    const test::GasState& side = x[axis] < 0.5 ? sod_left : sod_right;
    return State{side.density, 0.0, 0.0, 0.0, side.pressure};
  });
  constexpr double end = 0.2;
  const auto n_steps = static_cast<int>(3 * n / 2);
  for (int step = 0; step < n_steps; ++step) box.step(detail::euler_kernels(set), end / n_steps);
  const test::ExactRiemann exact(sod_left, sod_right, box.gamma);
  std::array<double, 3> sums{};
  Tube tube{};
  box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
    const auto at = static_cast<double>(Cells3{i, j, k}[axis]);
    const test::GasState right = exact.at(((at + 0.5) / static_cast<double>(n) - 0.5) / end);
    const double energy = right.pressure / (box.gamma - 1.0) + 0.5 * right.density * right.velocity * right.velocity;
    tube.density.push_back(box.value(0, i, j, k));
    tube.momentum.push_back(box.value(1 + static_cast<std::ptrdiff_t>(axis), i, j, k));
    sums[0] += std::abs(tube.density.back() - right.density) / static_cast<double>(n);
    sums[1] += std::abs(tube.momentum.back() - right.density * right.velocity) / static_cast<double>(n);
    sums[2] += std::abs(box.value(4, i, j, k) - energy) / static_cast<double>(n);
  });
  tube.error = std::sqrt(sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]);
  return tube;
}

TEST(EulerKernels, SodsTubeConvergesAndIsTheSameAlongEachAxis) {
  const test::ExactRiemann exact(sod_left, sod_right, 1.4);
  EXPECT_NEAR(exact.pressure(), 0.303130, 1e-6);
  EXPECT_NEAR(exact.velocity(), 0.927453, 1e-6);
  const Tube coarse = run_tube(128, 0, instruction_sets().back());
  const Tube fine = run_tube(256, 0, instruction_sets().back());
  EXPECT_LE(coarse.error, 0.011);
  EXPECT_LE(fine.error, 0.6 * coarse.error);
  for (const std::size_t axis : {1U, 2U}) {
    const Tube other = run_tube(128, axis, instruction_sets().back());
    EXPECT_EQ(other.density, coarse.density) << "axis " << axis;
    EXPECT_EQ(other.momentum, coarse.momentum) << "axis " << axis;
  }
}

/// A mirror image remains one to the last bit.
TEST(EulerKernels, AMirrorShowsTheSameBits) {
  constexpr std::ptrdiff_t n = 24;
  for (int trial = 0; trial < 8 * static_cast<int>(instruction_sets().size()); ++trial) {
    const InstructionSet set = instruction_sets()[trial / 8];
    OneBox<2> box({n, 3}, {1.0, 0.5});
    OneBox<2> mirror({n, 3}, {1.0, 0.5});
    box.flattens = mirror.flattens = trial % 2 == 1;
    box.sharpens = mirror.sharpens = trial / 2 % 2 == 1;
    box.is_hlle = mirror.is_hlle = trial / 4 % 2 == 1;
    box.ends = mirror.ends = {End::same, End::periodic};
    std::mt19937_64 random(barrio::test::seed());
    box.fill([&](const auto&) { return box.sharpens ? random_contact<2>(random, 0) : random_state<2>(random, 0); });
    box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t) {
      for (std::ptrdiff_t v = 0; v < box.n_variables(); ++v)
        mirror.value(v, n - 1 - i, j) = v == 1 ? -box.value(v, i, j) : box.value(v, i, j);
    });
    const detail::EulerKernels& kernels = detail::euler_kernels(set);
    const double dt = box.time_step(kernels, 0.3);
    for (int step = 0; step < 10; ++step) {
      box.step(kernels, dt);
      mirror.step(kernels, dt);
    }
    int n_other = 0;
    box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t) {
      for (std::ptrdiff_t v = 0; v < box.n_variables(); ++v)
        if (mirror.value(v, n - 1 - i, j) != (v == 1 ? -box.value(v, i, j) : box.value(v, i, j))) ++n_other;
    });
    EXPECT_EQ(n_other, 0) << name_of(set) << " trial " << trial;
  }
}

/// Advect a disc of dense gas once along the diagonal of a periodic box, and count the cells of mixed density.
std::ptrdiff_t smeared_cells(bool sharpens) {
  constexpr std::ptrdiff_t n = 40;
  OneBox<2> box({n, n}, {1.0, 1.0}, 1);
  box.sharpens = sharpens;
  box.fill([](const std::array<double, 2>& x) {
    const bool is_in = std::hypot(x[0] - 0.5, x[1] - 0.5) < 0.25;
    return State{is_in ? 4.0 : 1.0, 1.0, 1.0, 2.0, is_in ? 1.0 : 0.0};
  });
  box.run_until(best(), 1.0, 0.4);
  std::ptrdiff_t n_smeared = 0;
  box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
    const double density = box.value(0, i, j, k);
    EXPECT_GT(density, 1.0 - 1e-3);
    EXPECT_LT(density, 4.0 + 1e-3);
    EXPECT_NEAR(box.pressure(i, j, k), 2.0, 0.05);
    if (density > 1.3 && density < 3.7) ++n_smeared;
  });
  return n_smeared;
}

TEST(EulerKernels, ContactsAreKeptSharpIfTheyAreToBe) {
  // The circumference of the disc is 63 cells long.
  const std::ptrdiff_t with = smeared_cells(true);
  const std::ptrdiff_t without = smeared_cells(false);
  EXPECT_LT(with, 140);
  EXPECT_GT(without, 2 * with);
}

/// Return the L1 error of a small wave after one period.
/// @param speed  relative to sound: 1 is a sound wave, 0 an entropy wave carried by the gas
double wave_error(std::ptrdiff_t n, double speed) {
  constexpr double amplitude = 1e-6;
  OneBox<3> box({n, 1, 1}, {1.0, 1.0, 1.0});
  const double pressure = 1.0 / box.gamma;  // the speed of sound is 1
  const double carried = speed == 0.0 ? 1.0 : 0.0;
  const auto state = [&](double x) {
    const double wave = amplitude * std::sin(two_pi * x);
    return State{1.0 + wave, carried + speed * wave, 0.0, 0.0, pressure + (speed == 0.0 ? 0.0 : wave)};
  };
  box.fill([&](const std::array<double, 3>& x) { return state(x[0]); });
  const int n_steps = static_cast<int>(3 * n);
  for (int step = 0; step < n_steps; ++step) box.step(best(), 1.0 / n_steps);
  double error = 0.0;
  for (std::ptrdiff_t i = 0; i < n; ++i)
    error += std::abs(box.value(0, i) - 1.0 -
                      amplitude * std::sin(two_pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n)));
  return error / static_cast<double>(n);
}

TEST(EulerKernels, SmallWavesConverge) {
  for (const double speed : {1.0, -1.0, 0.0}) {
    const double coarse = wave_error(32, speed);
    const double fine = wave_error(64, speed);
    EXPECT_LE(fine, speed == 0.0 ? 2.7e-8 : 3.7e-8) << speed;
    EXPECT_LE(fine, 0.33 * coarse) << speed;
  }
}

/// Return the L1 error of the density of an isentropic vortex that the gas carries once through a periodic square.
/// Source: Yee, Sandham, Djomehri 1999.
double vortex_error(std::ptrdiff_t n) {
  constexpr double length = 10.0;
  constexpr double strength = 5.0;
  OneBox<2> box({n, n}, {length, length});
  const double gamma = box.gamma;
  const auto state = [&](const std::array<double, 2>& place) {
    const double x = place[0] - 0.5 * length;
    const double y = place[1] - 0.5 * length;
    const double bell = std::exp(0.5 * (1.0 - x * x - y * y));
    const double cooler = (gamma - 1.0) * strength * strength / (2.0 * gamma * two_pi * two_pi) * bell * bell;
    const double density = std::pow(1.0 - cooler, 1.0 / (gamma - 1.0));
    return State{density, 1.0 - strength / two_pi * bell * y, 1.0 + strength / two_pi * bell * x,
                 std::pow(density, gamma)};
  };
  box.fill(state);
  box.run_until(best(), length, 0.8);
  double error = 0.0;
  box.for_each_cell([&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t) {
    const std::array<double, 2> x{(static_cast<double>(i) + 0.5) * box.size[0],
                                  (static_cast<double>(j) + 0.5) * box.size[1]};
    error += std::abs(box.value(0, i, j) - state(x)[0]);
  });
  return error / static_cast<double>(n * n);
}

TEST(EulerKernels, AnIsentropicVortexIsOfSecondOrder) {
  const double coarse = vortex_error(48);
  const double fine = vortex_error(96);
  EXPECT_GE(std::log2(coarse / fine), 1.9);
}

}  // namespace
}  // namespace barrio::amr
