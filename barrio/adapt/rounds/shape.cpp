#include "barrio/adapt/rounds/shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {

Shape shape_of(mpi::Context& context, const Tets& tets) {
  constexpr double one = 1 << 20;        // of fixed point: the order of the sum does not matter
  std::array<std::int64_t, 7> totals{};  // tetrahedra, unchanged, qualities, edges in range, short, beyond 2; cubes
  float least = 1.0F;
  for (const Tet& tet : tets.tets) {
    if (tet.is_free() || owner_of(tets, tet) != context.rank()) continue;
    totals[0] += 1;
    totals[1] += tet.changed == 0 ? 1 : 0;
    totals[2] += std::llround(std::cbrt(tet.quality) * one);
    least = std::min(least, tet.quality);
    const auto& [p, q, r, s] = tet.v;
    const auto& at = tets.vertices;
    const double inverse =
        0.25 * (static_cast<double>(at[p].inverse_size) + at[q].inverse_size + at[r].inverse_size + at[s].inverse_size);
    totals[6] += std::llround(volume6(at[p].at, at[q].at, at[r].at, at[s].at) / 6 * inverse * inverse * inverse * one);
    for (const auto& [a, b] : edge_of) {
      const double length = metric_length(tets.vertices[tet.v[a]], tets.vertices[tet.v[b]]);
      const double squared = length * length;
      totals[3] += squared >= 0.5 && squared <= 2.0 ? 1 : 0;
      totals[4] += squared < 0.5 ? 1 : 0;
      totals[5] += squared > 4.0 ? 1 : 0;
    }
  }
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  mpi::all_reduce(context, std::span<float>(&least, 1), MPI_MIN);
  Shape shape{.n_tets = totals[0], .n_unchanged = totals[1], .min_quality = std::cbrt(least)};
  if (shape.n_tets == 0) return shape;
  const auto n = static_cast<double>(shape.n_tets);
  shape.mean_quality = static_cast<double>(totals[2]) / one / n;
  shape.n_beyond = totals[5];
  if (totals[6] > 0) shape.density = n * one / static_cast<double>(totals[6]);
  shape.in_range = static_cast<double>(totals[3]) / (6 * n);
  shape.too_short = static_cast<double>(totals[4]) / (6 * n);
  return shape;
}

}  // namespace barrio::adapt::detail
