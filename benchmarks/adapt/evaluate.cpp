#include "benchmarks/adapt/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

using Vector = std::array<double, 3>;

Vector position(const mesh::Mesh& mesh, LocalId v) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  return {x[3 * index(v)], x[3 * index(v) + 1], x[3 * index(v) + 2]};
}

double length(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

double volume_of(const std::array<Vector, 4>& p) {
  std::array<Vector, 3> e{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) e[i][k] = p[i + 1][k] - p[0][k];
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6;
}

double imbalance(mpi::Context& context, std::size_t mine) {
  const auto n = static_cast<double>(mine);
  return mpi::max(context, n) * context.size() / std::max(mpi::sum(context, n), 1.0);
}

}  // namespace

MeshWorth evaluate(const mesh::Mesh& mesh, const adapt::SizeFunction& size) {
  mpi::Context& context = mesh.context();
  MeshWorth worth{.n_cells = mesh.n_global(mesh::Dim::volume), .min_quality = 2, .shortest = 1e300};
  double qualities = 0;
  for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c) {
    const auto nodes = mesh.cells().nodes_of(c);
    std::array<Vector, 4> p{};
    for (std::size_t i = 0; i < 4; ++i) p[i] = position(mesh, nodes[i]);
    double squares = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const double l = length(p[i], p[j]);
        squares += l * l;
      }
    }
    const double volume = volume_of(p);
    const double quality = volume > 0 ? 12 * std::cbrt(9 * volume * volume) / squares : -1.0;
    worth.volume += volume;
    worth.min_quality = std::min(worth.min_quality, quality);
    qualities += quality;
  }
  const mesh::Sides edges(mesh, mesh::Dim::edge);
  std::array<double, 2> n_edges{0, 0};  // in range, all
  for (std::size_t e = 0; e < edges.table().n_owned; ++e) {
    const LocalId a = edges.table().nodes_of(e)[0];
    const LocalId b = edges.table().nodes_of(e)[1];
    const double l = length(position(mesh, a), position(mesh, b));
    const double of_a = l / size(position(mesh, a));
    const double of_b = l / size(position(mesh, b));
    const bool are_alike = std::abs(of_a - of_b) < 1e-9 * of_a;
    const double metric = are_alike ? of_a : (of_a - of_b) / std::log(of_a / of_b);
    worth.shortest = std::min(worth.shortest, metric);
    worth.longest = std::max(worth.longest, metric);
    n_edges[0] += metric >= std::sqrt(0.5) && metric <= std::sqrt(2.0) ? 1 : 0;
    n_edges[1] += 1;
  }
  std::array<double, 4> sums{worth.volume, qualities, n_edges[0], n_edges[1]};
  mpi::all_reduce(context, std::span<double>(sums), MPI_SUM);
  worth.volume = sums[0];
  worth.mean_quality = sums[1] / static_cast<double>(worth.n_cells);
  worth.part_in_range = sums[2] / sums[3];
  worth.min_quality = mpi::min(context, worth.min_quality);
  worth.shortest = mpi::min(context, worth.shortest);
  worth.longest = mpi::max(context, worth.longest);
  worth.imbalance_of_cells = imbalance(context, mesh.n_owned(mesh::Dim::volume));
  worth.imbalance_of_vertices = imbalance(context, mesh.n_owned(mesh::Dim::vertex));
  return worth;
}

Json to_json(const MeshWorth& worth) {
  return {{"cells", worth.n_cells},
          {"volume", worth.volume},
          {"quality", {{"min", worth.min_quality}, {"mean", worth.mean_quality}}},
          {"lengths", {{"in_range", worth.part_in_range}, {"shortest", worth.shortest}, {"longest", worth.longest}}},
          {"imbalance", {{"cells", worth.imbalance_of_cells}, {"vertices", worth.imbalance_of_vertices}}}};
}

}  // namespace barrio::bench
