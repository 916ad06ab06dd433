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
  constexpr double one = 1 << 20;  // of fixed point: the order of the sum does not matter
  constexpr double min_cubed = 1e-30;
  std::array<std::int64_t, 7> totals{};  // tetrahedra, unchanged, qualities, edges in range, short, beyond 2; cubes
  float least = 1.0F;
  const auto fixed = [](double x) { return static_cast<std::int64_t>(x * one); };
  for (const Tet& tet : tets.tets) {
    if (tet.is_free() || (context.size() > 1 && owner_of(tets, tet) != context.rank())) continue;
    totals[0] += 1;
    totals[1] += tet.changed == 0 ? 1 : 0;
    const double root = inverse_cube_root(std::max<double>(tet.quality, min_cubed));
    totals[2] += fixed(static_cast<double>(tet.quality) * root * root);
    least = std::min(least, tet.quality);
    std::array<Point, 4> at{};
    std::array<double, 4> inverse{};  // sizes
    std::array<double, 4> roots{};
    for (std::size_t i = 0; i < 4; ++i) {
      at[i] = tets.vertices[tet.v[i]].at;
      inverse[i] = tets.vertices[tet.v[i]].inverse_size;
      roots[i] = std::sqrt(inverse[i]);
    }
    const double mean = 0.25 * (inverse[0] + inverse[1] + inverse[2] + inverse[3]);
    totals[6] += fixed(volume6(at[0], at[1], at[2], at[3]) / 6 * mean * mean * mean);
    for (const auto& [a, b] : edge_of) {
      const Point along = at[b] - at[a];
      const double per_length = (4.0 * (roots[a] * roots[b]) + (inverse[a] + inverse[b])) / 6.0;  // as metric_length
      const double squared = dot(along, along) * (per_length * per_length);
      totals[3] += squared >= 0.5 && squared <= 2.0 ? 1 : 0;
      totals[4] += squared < 0.5 ? 1 : 0;
      totals[5] += squared > 4.0 ? 1 : 0;
    }
  }
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  Shape shape{.n_tets = totals[0], .n_unchanged = totals[1], .min_cubed = least};
  if (shape.n_tets == 0) return shape;
  const auto n = static_cast<double>(shape.n_tets);
  shape.mean_quality = static_cast<double>(totals[2]) / one / n;
  shape.n_beyond = totals[5];
  if (totals[6] > 0) shape.density = n * one / static_cast<double>(totals[6]);
  shape.in_range = static_cast<double>(totals[3]) / (6 * n);
  shape.too_short = static_cast<double>(totals[4]) / (6 * n);
  return shape;
}

double min_quality(mpi::Context& context, const Shape& shape) { return std::cbrt(mpi::min(context, shape.min_cubed)); }

}  // namespace barrio::adapt::detail
