#include "benchmarks/rankmap/instances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/partition/rcb.hpp"

#include "benchmarks/rankmap/zoltan_graph.hpp"

#ifndef BARRIO_BENCH_NO_METIS
#include <metis.h>
#endif

namespace barrio::bench {
namespace {

constexpr double bytes_per_point = 40.0;  // five doubles

std::vector<GlobalId> all_ids(std::int64_t n) {
  std::vector<GlobalId> ids;
  for (std::int64_t i = 0; i < n; ++i) ids.push_back(GlobalId{i});
  return ids;
}

std::vector<std::int32_t> cut_by_metis(const PointGrid& grid, int n_parts) {
#ifdef BARRIO_BENCH_NO_METIS
  (void)grid;
  (void)n_parts;
  throw AgreedError(ErrorCode::usage,
                    {.subject = "METIS", .cause = "is not in this build", .remedy = "install libmetis-dev"});
#else
  std::vector<idx_t> offsets{0}, neighbours;
  for (std::int64_t point = 0; point < grid.n_points(); ++point) {
    grid.for_neighbours(point, [&](std::int64_t other) { neighbours.push_back(static_cast<idx_t>(other)); });
    offsets.push_back(static_cast<idx_t>(neighbours.size()));
  }
  auto n_vertices = static_cast<idx_t>(grid.n_points());
  idx_t n_constraints = 1, n = n_parts, cut = 0;
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> part(n_vertices);
  if (METIS_PartGraphKway(&n_vertices, &n_constraints, offsets.data(), neighbours.data(), nullptr, nullptr, nullptr, &n,
                          nullptr, nullptr, options.data(), &cut, part.data()) != METIS_OK)
    throw AgreedError(ErrorCode::failed, {.subject = "METIS", .cause = "gave up"});
  return {part.begin(), part.end()};
#endif
}

}  // namespace

PointGrid wing_grid() {
  PointGrid grid{.name = "wing", .n_i = 160, .n_j = 60, .n_k = 64, .is_periodic = true};
  constexpr double growth = 1.07, sweep = 0.5, half_span = 5.0, root_chord = 1.6, tip_chord = 0.5;
  for (int k = 0; k < grid.n_k; ++k) {
    // Two thirds of the sections are on the wing, denser at its tip; the others continue beyond it.
    const double along = 1.5 * k / (grid.n_k - 1);
    const double y = along <= 1.0 ? half_span * std::sin(along * std::numbers::pi / 2)
                                  : half_span * (1.0 + 8.0 * (along - 1.0) * (along - 1.0) + 0.02 * (along - 1.0));
    const double chord = root_chord + (tip_chord - root_chord) * std::min(along, 1.0);
    for (int j = 0; j < grid.n_j; ++j) {
      // Joukowski's map turns circles into ellipses, the innermost nearly a plate.
      const double radius = 1.03 + 0.02 * (std::pow(growth, j) - 1.0) / (growth - 1.0);
      for (int i = 0; i < grid.n_i; ++i) {
        const double angle = 2 * std::numbers::pi * i / grid.n_i;
        grid.coordinates.push_back(sweep * y + chord / 4 * (radius + 1 / radius) * std::cos(angle));
        grid.coordinates.push_back(y);
        grid.coordinates.push_back(chord / 4 * (radius - 1 / radius) * std::sin(angle));
      }
    }
  }
  return grid;
}

PointGrid box_grid() {
  PointGrid grid{.name = "box", .n_i = 80, .n_j = 80, .n_k = 80, .has_diagonals = true};
  for (int k = 0; k < grid.n_k; ++k)
    for (int j = 0; j < grid.n_j; ++j)
      for (int i = 0; i < grid.n_i; ++i) grid.coordinates.insert(grid.coordinates.end(), {1.0 * i, 1.0 * j, 1.0 * k});
  return grid;
}

std::string_view name_of(Cut cut) noexcept {
  constexpr std::array<std::string_view, 5> names{"scattered", "rcb", "metis", "zoltan-serial", "zoltan-distributed"};
  return names[static_cast<std::size_t>(cut)];
}

std::vector<int> breadth_first_numbers(int n_parts) {
  struct Piece {
    int begin, n;
  };
  std::vector<Piece> pieces{{0, n_parts}};
  for (bool has_cut = true; has_cut;) {
    has_cut = false;
    const std::size_t n_before = pieces.size();
    for (std::size_t i = 0; i < n_before; ++i) {
      const auto [begin, n] = pieces[i];
      if (n == 1) continue;
      pieces[i].n = n / 2;  // the lower half keeps its number
      pieces.push_back({begin + n / 2, n - n / 2});
      has_cut = true;
    }
  }
  std::vector<int> numbers(static_cast<std::size_t>(n_parts));
  for (std::size_t i = 0; i < pieces.size(); ++i)
    numbers[static_cast<std::size_t>(pieces[i].begin)] = static_cast<int>(i);
  return numbers;
}

std::vector<std::int32_t> cut_points(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts) {
  if (cut == Cut::metis) return cut_by_metis(grid, n_parts);
#ifndef BARRIO_BENCH_NO_ZOLTAN
  if (cut == Cut::zoltan_serial) return cut_by_zoltan_graph(context, grid, Input::serial, n_parts);
  if (cut == Cut::zoltan_distributed) return cut_by_zoltan_graph(context, grid, Input::distributed, n_parts);
#endif
  auto part = partition::rcb(context, grid.coordinates, all_ids(grid.n_points()), {}, n_parts);
  if (cut == Cut::rcb) return part;
  const std::vector<int> number = breadth_first_numbers(n_parts);
  for (std::int32_t& of_point : part) of_point = number[of_point];
  return part;
}

rankmap::TrafficMatrix compute_traffic(const PointGrid& grid, std::span<const std::int32_t> part, int n_parts) {
  std::vector<std::pair<int, int>> pairs;  // part `first` sends a point to part `second`
  std::vector<int> receivers;
  for (std::int64_t point = 0; point < grid.n_points(); ++point) {
    const int owner = part[static_cast<std::size_t>(point)];
    receivers.clear();
    grid.for_neighbours(point, [&](std::int64_t other) {
      if (const int there = part[other]; there != owner) receivers.push_back(there);
    });
    sort_unique(receivers);
    for (const int there : receivers) pairs.emplace_back(owner, there);
  }
  std::ranges::sort(pairs);
  std::vector<rankmap::TrafficEntry> entries;
  for (const auto& [from, to] : pairs) {
    if (entries.empty() || entries.back().from != from || entries.back().to != to)
      entries.push_back({.from = from, .to = to, .messages = 1});
    entries.back().points += 1;
    entries.back().bytes += bytes_per_point;
  }
  return rankmap::TrafficMatrix(n_parts, std::move(entries));
}

rankmap::TrafficMatrix make_traffic(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts) {
  return compute_traffic(grid, cut_points(context, grid, cut, n_parts), n_parts);
}

rankmap::TrafficMatrix scrambled_grid(int n_i, int n_j, int n_k, std::uint64_t seed) {
  const int n = n_i * n_j * n_k;
  std::vector<int> number(n);
  std::iota(number.begin(), number.end(), 0);
  std::ranges::sort(number, {}, [&](int part) { return mix64(mix64(seed) ^ static_cast<std::uint64_t>(part)); });
  std::vector<rankmap::TrafficEntry> entries;
  const PointGrid parts{.n_i = n_i, .n_j = n_j, .n_k = n_k, .has_diagonals = true};
  for (std::int64_t part = 0; part < n; ++part) {
    parts.for_neighbours(part, [&](std::int64_t other) {
      const int n_steps = (part % n_i != other % n_i ? 1 : 0) + ((part / n_i % n_j) != (other / n_i % n_j) ? 1 : 0) +
                          (part / n_i / n_j != other / n_i / n_j ? 1 : 0);
      const double points = n_steps == 1 ? 1000 : n_steps == 2 ? 30 : 1;
      entries.push_back({.from = number[part],
                         .to = number[other],
                         .points = points,
                         .bytes = bytes_per_point * points,
                         .messages = 1});
    });
  }
  return rankmap::TrafficMatrix(n, std::move(entries));
}

}  // namespace barrio::bench
