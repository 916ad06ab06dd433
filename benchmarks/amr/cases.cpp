#include "benchmarks/amr/cases.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace barrio::bench {
namespace {

constexpr double two_pi = 2.0 * std::numbers::pi;

void tag_jumps(const amr::CellsToTag<3>& block) {
  constexpr double most = 0.1;
  const auto& [low, high] = block.cells;
  std::size_t n = 0;
  for (std::int64_t k = low[2]; k < high[2]; ++k) {
    for (std::int64_t j = low[1]; j < high[1]; ++j) {
      const double* const row = &block.u(0, {low[0], j, k});
      for (std::int64_t i = 0; i < block.cells.extent(0); ++i, ++n) {
        for (const std::ptrdiff_t step : block.u.strides)
          if (std::abs(row[i + step] - row[i]) > most || std::abs(row[i] - row[i - step]) > most) block.tags[n] = 1;
      }
    }
  }
}

}  // namespace

AmrCase richtmyer_meshkov(std::int64_t n, int n_levels, int block_cells, int n_wide) {
  AmrCase made{.system = std::make_shared<const amr::Euler<3>>(), .options = {}};
  amr::SimulationOptions<3>& options = made.options;
  const double size = 1.0 / static_cast<double>(n);
  options.grid = {.n_cells = {4 * n, n_wide * n, n},
                  .low = {},
                  .cell_size = {size, size, size},
                  .is_periodic = {false, true, true},
                  .n_levels = n_levels,
                  .ratio = 2,
                  .block_cells = block_cells};
  options.initial = [system = made.system](const std::array<double, 3>& x, std::span<double> u) {
    constexpr double shock = 0.6;
    constexpr double interface = 1.0;
    constexpr double amplitude = 0.1;
    const double wave = interface + amplitude * std::cos(two_pi * x[1]) * std::cos(two_pi * x[2]);
    std::vector<double> state{1.0, 0.0, 0.0, 0.0, 1.0};
    if (x[0] < shock)
      state = {1.862068965517241, 0.821677, 0.0, 0.0, 2.458333333333333};
    else if (x[0] > wave)
      state[0] = 3.0;
    system->conserve(state, u);
  };
  options.tag = tag_jumps;
  return made;
}

AmrCase uniform_waves(std::int64_t n, int block_cells) {
  AmrCase made{.system = std::make_shared<const amr::Euler<3>>(), .options = {}};
  amr::SimulationOptions<3>& options = made.options;
  const double size = 1.0 / static_cast<double>(n);
  options.grid = {.n_cells = {n, n, n},
                  .low = {},
                  .cell_size = {size, size, size},
                  .is_periodic = {true, true, true},
                  .n_levels = 1,
                  .ratio = 2,
                  .block_cells = block_cells};
  options.initial = [system = made.system](const std::array<double, 3>& x, std::span<double> u) {
    const double wave = std::sin(two_pi * (x[0] + x[1] + x[2]));
    system->conserve(std::vector<double>{1.0 + 0.1 * wave, 0.3, 0.2 * wave, -0.1, 1.0}, u);
  };
  return made;
}

}  // namespace barrio::bench
