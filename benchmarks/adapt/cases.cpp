#include "benchmarks/adapt/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

/// Return the sizes around the bubbles, each moved by `steps` along its own direction.
adapt::SizeFunction bubbles(double steps, double scale) {
  constexpr double radius = 0.12;
  constexpr double half = 0.70710678118654752;
  const std::array<std::array<double, 3>, 5> centres{
      {{0.3, 0.3, 0.3}, {0.7, 0.3, 0.5}, {0.3, 0.7, 0.6}, {0.68, 0.7, 0.3}, {0.55, 0.5, 0.75}}};
  const std::array<std::array<double, 3>, 5> ways{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {half, half, 0}, {0, half, half}}};
  const double factor = scale * (steps > 0 ? std::pow(1.14, -1.0 / 3) : 1.0);
  std::vector<adapt::SizeFunction> all;
  for (std::size_t b = 0; b < centres.size(); ++b) {
    std::array<double, 3> centre = centres[b];
    for (std::size_t i = 0; i < 3; ++i) centre[i] += steps * radius / 5 * ways[b][i];
    all.push_back(adapt::size_around_sphere(
        centre, radius,
        {.min_size = 0.008 * factor, .width = 0.016, .growth = 0.4 * factor, .max_size = 0.2 * factor}));
  }
  return adapt::smallest_size(all);
}

}  // namespace

AdaptCase adapt_case(const std::string& name, double scale) {
  if (name == "cube") {
    return {name,
            {adapt::size_around_plane(
                0, 0.5, {.min_size = 0.028 * scale, .width = 0.04, .growth = 0.4 * scale, .max_size = 0.2 * scale})},
            0.35,
            0.83,
            10.8,
            13.2,
            0.05};
  }
  if (name == "bubble") return {name, {bubbles(0, scale), bubbles(1, scale)}, 0.45, 0.85, 9.5, 13.2, 0.1};
  refuse(ErrorCode::usage, "case '" + name + "'", "is not known", "use cube or bubble");
}

mesh::Mesh tet_cube(mpi::Context& context, std::int64_t n, const std::string& start) {
  const int n_parts = start == "one" ? 1 : static_cast<int>(std::min<std::int64_t>(context.size(), n));
  mesh::Mesh mesh(context, mesh::make_box(context, {.n = {n, n, n}, .tets = true, .parts = {1, 1, n_parts}}));
  if (start != "scattered") return mesh;
  std::vector<Rank> to;
  for (const GlobalId id : mesh.cells().global_ids)
    to.push_back(static_cast<Rank>(Hash64(7).add(value(id)).value() % static_cast<std::uint64_t>(context.size())));
  to.resize(mesh.n_owned(mesh.cell_dim()));
  mesh.migrate(to);
  return mesh;
}

double complexity(mpi::Context& context, const adapt::SizeFunction& size, int n) {
  double sum = 0;
  for (int i = context.rank(); i < n; i += context.size()) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const double h = size({(i + 0.5) / n, (j + 0.5) / n, (k + 0.5) / n});
        sum += 1 / (h * h * h);
      }
    }
  }
  return mpi::sum(context, sum) / (static_cast<double>(n) * n * n);
}

}  // namespace barrio::bench
