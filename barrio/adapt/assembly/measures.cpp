#include "barrio/adapt/assembly/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

double length_of(const mesh::Mesh& mesh, std::span<const LocalId> nodes) {
  const Point along = at(mesh, nodes[1]) - at(mesh, nodes[0]);
  return std::sqrt(dot(along, along));
}

std::string name_of(const mesh::SetInfo& info) {
  return info.name.empty() ? fmt::format("{} {}", mesh::name(info.kind), info.id) : info.name;
}

constexpr std::array dims{Dim::edge, Dim::face, Dim::volume};

/// Return the place of a set's sum.
std::size_t place_of(std::size_t set, Dim dim) noexcept { return dims.size() * set + mesh::index(dim); }

/// Sum the volume of all cells, and for each set the lengths of its edges, the areas of its faces and the volumes of
/// its cells.
std::vector<double> sums_of(const mesh::Mesh& mesh) {
  const auto sets = mesh.sets();
  std::vector<mpi::ExactSum> sums(1 + dims.size() * sets.size());
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) sums[0].add(volume_of(mesh, c));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const Dim dim : dims) {
      for (const LocalId id : sets[s].entities[mesh::index(dim)]) {
        if (index(id) >= mesh.n_owned(dim)) continue;
        sums[place_of(s, dim)].add(dim == Dim::volume ? volume_of(mesh, index(id))
                                   : dim == Dim::face ? area_of(mesh, mesh.entities(dim).nodes_of(index(id)))
                                                      : length_of(mesh, mesh.entities(dim).nodes_of(index(id))));
      }
    }
  }
  return mpi::ExactSum::over_all(mesh.context(), sums);
}

}  // namespace

std::vector<SetMeasure> measures_of(const mesh::Mesh& mesh) {
  const std::vector<double> sums = sums_of(mesh);
  std::vector<SetMeasure> measures{{.name = {}, .set = -1, .dim = Dim::volume, .before = sums[0]}};
  for (std::int32_t s = 0; s < std::ssize(mesh.sets()); ++s)
    for (const Dim dim : dims)
      if (const double sum = sums[place_of(s, dim)]; sum > 0)
        measures.push_back({.name = name_of(mesh.sets()[s].info), .set = s, .dim = dim, .before = sum});
  return measures;
}

void measure_again(const mesh::Mesh& mesh, std::vector<SetMeasure>& measures) {
  const std::vector<double> sums = sums_of(mesh);
  for (SetMeasure& one : measures) one.after = one.set < 0 ? sums[0] : sums[place_of(one.set, one.dim)];
}

}  // namespace barrio::adapt::detail
