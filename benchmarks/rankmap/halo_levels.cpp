#include "benchmarks/rankmap/halo_levels.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "barrio/base/error.hpp"
#include "benchmarks/rankmap/cloud.hpp"

namespace barrio::bench {
namespace {

constexpr std::array<std::string_view, 3> cycle_names{"none", "3v", "4w"};

}  // namespace

std::string_view name_of(Cycle cycle) noexcept { return cycle_names[static_cast<std::size_t>(cycle)]; }

Cycle parse_cycle(std::string_view word) {
  const auto found = std::ranges::find(cycle_names, word);
  if (found == cycle_names.end()) {
    throw AgreedError(ErrorCode::usage, {.subject = "cycle",
                                         .cause = "'" + std::string(word) + "' is not known",
                                         .remedy = "choose one of none, 3v, 4w"});
  }
  return static_cast<Cycle>(found - cycle_names.begin());
}

std::vector<int> visits_of(Cycle cycle) {
  switch (cycle) {
    case Cycle::none: return {0};
    case Cycle::three_v: return {0, 1, 2, 1};
    case Cycle::four_w: return {0, 1, 2, 3, 2, 3, 2, 1, 2, 3, 2, 3, 2, 1};
  }
  return {};
}

int n_levels_of(Cycle cycle) { return 1 + std::ranges::max(visits_of(cycle)); }

Level coarsen(const Level& fine) {
  const PointGrid& grid = fine.grid;
  if (!grid.offsets.empty()) {
    const std::ptrdiff_t n = grid.n_points() / 8;
    return {.grid = connect_nearest({grid.coordinates.begin(), grid.coordinates.begin() + 3 * n}),
            .part = {fine.part.begin(), fine.part.begin() + n}};
  }
  const auto half = [](int n) { return (n + 1) / 2; };
  Level coarse{.grid = {.name = grid.name,
                        .n_i = half(grid.n_i),
                        .n_j = half(grid.n_j),
                        .n_k = half(grid.n_k),
                        .is_periodic = grid.is_periodic,
                        .has_diagonals = grid.has_diagonals},
               .part = {}};
  coarse.part.reserve(static_cast<std::size_t>(coarse.grid.n_points()));
  for (std::int64_t k = 0; k < grid.n_k; k += 2)
    for (std::int64_t j = 0; j < grid.n_j; j += 2)
      for (std::int64_t i = 0; i < grid.n_i; i += 2)
        coarse.part.push_back(fine.part[static_cast<std::size_t>((k * grid.n_j + j) * grid.n_i + i)]);
  return coarse;
}

}  // namespace barrio::bench
