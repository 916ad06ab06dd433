#include "barrio/adapt/assembly/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/exact_sum.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

Point at(const mesh::Mesh& mesh, LocalId v) {
  const double* const x = &mesh.vertices().coordinates[3 * index(v)];
  return {x[0], x[1], x[2]};
}

double volume_of(const mesh::Mesh& mesh, std::size_t c) {
  const auto nodes = mesh.cells().nodes_of(c);
  const Point base = at(mesh, nodes[0]);
  if (mesh.cells().type(c) == mesh::CellType::tet)
    return std::abs(volume6(base, at(mesh, nodes[1]), at(mesh, nodes[2]), at(mesh, nodes[3]))) / 6;
  double sum = 0.0;
  mesh::for_each_side(mesh.cells().type(c), nodes, [&](std::span<const LocalId> side) {
    for (std::size_t i = 1; i + 1 < side.size(); ++i)
      sum += volume6(base, at(mesh, side[0]), at(mesh, side[i]), at(mesh, side[i + 1]));
  });
  return std::abs(sum) / 6;
}

double area_of(const mesh::Mesh& mesh, std::span<const LocalId> nodes) {
  const Point base = at(mesh, nodes[0]);
  Point sum{};
  for (std::size_t i = 1; i + 1 < nodes.size(); ++i)
    sum = sum + cross(at(mesh, nodes[i]) - base, at(mesh, nodes[i + 1]) - base);
  return std::sqrt(dot(sum, sum)) / 2;
}

std::string name_of(const mesh::SetInfo& info) {
  return info.name.empty() ? fmt::format("{} {}", mesh::name(info.kind), info.id) : info.name;
}

/// Sum the volume of all cells, and for each set the areas of its faces and the volumes of its cells.
std::vector<double> sums_of(const mesh::Mesh& mesh) {
  const auto sets = mesh.sets();
  std::vector<mpi::ExactSum> sums(1 + 2 * sets.size());
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) sums[0].add(volume_of(mesh, c));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const LocalId f : sets[s].entities[mesh::index(Dim::face)])
      if (index(f) < mesh.n_owned(Dim::face))
        sums[1 + 2 * s].add(area_of(mesh, mesh.entities(Dim::face).nodes_of(index(f))));
    for (const LocalId c : sets[s].entities[mesh::index(Dim::volume)])
      if (index(c) < mesh.n_owned(Dim::volume)) sums[2 + 2 * s].add(volume_of(mesh, index(c)));
  }
  return mpi::ExactSum::over_all(mesh.context(), sums);
}

}  // namespace

std::vector<SetMeasure> measures_of(const mesh::Mesh& mesh) {
  const std::vector<double> sums = sums_of(mesh);
  std::vector<SetMeasure> measures{{.name = {}, .set = -1, .dim = Dim::volume, .before = sums[0]}};
  for (std::int32_t s = 0; s < std::ssize(mesh.sets()); ++s) {
    for (const Dim dim : {Dim::face, Dim::volume}) {
      const double sum = sums[(dim == Dim::face ? 1 : 2) + 2 * s];
      if (sum > 0) measures.push_back({.name = name_of(mesh.sets()[s].info), .set = s, .dim = dim, .before = sum});
    }
  }
  return measures;
}

void measure_again(const mesh::Mesh& mesh, std::vector<SetMeasure>& measures) {
  const std::vector<double> sums = sums_of(mesh);
  for (SetMeasure& one : measures)
    one.after = one.set < 0 ? sums[0] : sums[(one.dim == Dim::face ? 1 : 2) + 2 * one.set];
}

}  // namespace barrio::adapt::detail
