#include "tests/adapt/cases.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/drop_geometry.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::test {
namespace {

using mesh::Dim;
using mesh::Mesh;
using Vector = std::array<double, 3>;

Vector at(const Mesh& mesh, LocalId v) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  return {x[3 * index(v)], x[3 * index(v) + 1], x[3 * index(v) + 2]};
}

double distance(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// Compute the volume of a tet from the determinant of the edges at its first vertex.
double volume(const Mesh& mesh, std::span<const LocalId> nodes) {
  std::array<Vector, 3> e{};
  const Vector origin = at(mesh, nodes[0]);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) e[i][k] = at(mesh, nodes[i + 1])[k] - origin[k];
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6;
}

/// Compute the length of an edge in the size field. Exact for a size that grows geometrically along the edge.
double length(const Vector& a, const Vector& b, const adapt::SizeFunction& size) {
  const double of_a = distance(a, b) / size(a);
  const double of_b = distance(a, b) / size(b);
  return std::abs(of_a - of_b) < 1e-9 * of_a ? of_a : (of_a - of_b) / std::log(of_a / of_b);
}

double sum(mpi::Context& context, double x) { return mpi::sum(context, x); }

}  // namespace

Mesh tet_cube(mpi::Context& context, std::int64_t n, Start start, int n_materials) {
  mesh::BoxOptions box{.n = {n, n, n}, .tets = true, .volumes = {n_materials, 1, 1}, .parts = {1, 1, 1}};
  if (start == Start::boxes) box.parts = {std::min(context.size(), static_cast<int>(n)), 1, 1};
  Mesh mesh(context, mesh::drop_geometry(context, mesh::make_box(context, box)));
  if (start == Start::scattered) {
    std::vector<Rank> to;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      to.push_back(static_cast<Rank>(Hash64(7).add(value(mesh.cells().id(c))).value() %
                                     static_cast<std::uint64_t>(context.size())));
    mesh.migrate(to);
  }
  return mesh;
}

adapt::SizeFunction shock(double finest) {
  return [finest](const Vector& x) {
    return std::clamp(finest + 0.4 * std::max(std::abs(x[0] - 0.5) - 0.04, 0.0), finest, 8 * finest);
  };
}

Measured measure(const Mesh& mesh, const adapt::SizeFunction& size) {
  mpi::Context& context = mesh.context();
  Measured out;
  double qualities = 0;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    const auto nodes = mesh.cells().nodes_of(c);
    const double v = volume(mesh, nodes);
    double squares = 0;
    Vector centre{};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 3; ++k) centre[k] += at(mesh, nodes[i])[k] / 4;
      for (std::size_t j = i + 1; j < 4; ++j) squares += std::pow(distance(at(mesh, nodes[i]), at(mesh, nodes[j])), 2);
    }
    const double quality = v > 0 ? 12 * std::pow(3 * v, 2.0 / 3) / squares : -1;
    out.volume += v;
    out.complexity += v / std::pow(size(centre), 3);
    out.min_quality = std::min(out.min_quality, quality);
    qualities += quality;
  }
  double n_in_range = 0;
  const mesh::Sides edges(mesh, Dim::edge);
  for (std::size_t e = 0; e < edges.table().n_owned; ++e) {
    const auto ends = edges.table().nodes_of(e);
    const double l = length(at(mesh, ends[0]), at(mesh, ends[1]), size);
    if (l >= std::sqrt(0.5) && l <= std::sqrt(2.0)) n_in_range += 1;
    out.longest = std::max(out.longest, l);
  }
  out.n_cells = mesh.n_global(Dim::volume);
  out.volume = sum(context, out.volume);
  out.complexity = sum(context, out.complexity);
  out.min_quality = mpi::min(context, out.min_quality);
  out.longest = mpi::max(context, out.longest);
  out.mean_quality = sum(context, qualities) / static_cast<double>(out.n_cells);
  out.part_in_range = sum(context, n_in_range) / sum(context, static_cast<double>(edges.table().n_owned));
  return out;
}

std::array<double, 2> measure_boundary(const Mesh& mesh, const std::string& name, std::size_t axis, double where) {
  double area = 0;
  double off = 0;
  for (const LocalId f : mesh.set(mesh::SetKind::neumann, name).entities[mesh::index(Dim::face)]) {
    const auto nodes = mesh.entities(Dim::face).nodes_of(index(f));
    for (const LocalId v : nodes) off = std::max(off, std::abs(at(mesh, v)[axis] - where));
    if (index(f) >= mesh.n_owned(Dim::face)) continue;
    const double a = distance(at(mesh, nodes[0]), at(mesh, nodes[1]));
    const double b = distance(at(mesh, nodes[1]), at(mesh, nodes[2]));
    const double c = distance(at(mesh, nodes[2]), at(mesh, nodes[0]));
    const double s = (a + b + c) / 2;
    area += std::sqrt(std::max(s * (s - a) * (s - b) * (s - c), 0.0));  // Heron
  }
  return {sum(mesh.context(), area), mpi::max(mesh.context(), off)};
}

double measure_material(const Mesh& mesh, const std::string& name) {
  double total = 0;
  for (const LocalId c : mesh.set(mesh::SetKind::material, name).entities[mesh::index(Dim::volume)])
    if (index(c) < mesh.n_owned(Dim::volume)) total += volume(mesh, mesh.cells().nodes_of(index(c)));
  return sum(mesh.context(), total);
}

}  // namespace barrio::test
