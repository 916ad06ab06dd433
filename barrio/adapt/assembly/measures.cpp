#include "barrio/adapt/assembly/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/exact_sum.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

/// Coordinates of vertices, and the measures of entities between them.
class Measured {
 public:
  explicit Measured(const mesh::Mesh& mesh) : x_(mesh.vertices().coordinates) {}

  [[nodiscard]] double of(Dim dim, const mesh::EntityTable& table, std::size_t i) const {
    const std::span<const LocalId> nodes = table.nodes_of(i);
    return dim == Dim::volume ? volume_of(table.type(i), nodes) : dim == Dim::face ? area_of(nodes) : length_of(nodes);
  }

 private:
  [[nodiscard]] Point at(LocalId v) const noexcept {
    const double* const x = &x_[3 * index(v)];
    return {x[0], x[1], x[2]};
  }
  [[nodiscard]] double volume_of(mesh::CellType type, std::span<const LocalId> nodes) const {
    const Point base = at(nodes[0]);
    if (type == mesh::CellType::tet) return std::abs(volume6(base, at(nodes[1]), at(nodes[2]), at(nodes[3]))) / 6;
    double sum = 0.0;
    mesh::for_each_side(type, nodes, [&](std::span<const LocalId> side) {
      for (std::size_t i = 1; i + 1 < side.size(); ++i) sum += volume6(base, at(side[0]), at(side[i]), at(side[i + 1]));
    });
    return std::abs(sum) / 6;
  }
  [[nodiscard]] double area_of(std::span<const LocalId> nodes) const {
    const Point base = at(nodes[0]);
    Point sum{};
    for (std::size_t i = 1; i + 1 < nodes.size(); ++i) sum = sum + cross(at(nodes[i]) - base, at(nodes[i + 1]) - base);
    return std::sqrt(dot(sum, sum)) / 2;
  }
  [[nodiscard]] double length_of(std::span<const LocalId> nodes) const {
    const Point along = at(nodes[1]) - at(nodes[0]);
    return std::sqrt(dot(along, along));
  }

  const std::vector<double>& x_;
};

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
  const Measured measured(mesh);
  std::vector<mpi::ExactSum> sums(1 + dims.size() * sets.size());
  const mesh::EntityTable& cells = mesh.cells();
  const std::size_t n_cells = mesh.n_owned(Dim::volume);
  for (std::size_t c = 0; c < n_cells; ++c) sums[0].add(measured.of(Dim::volume, cells, c));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const Dim dim : dims) {
      const mesh::EntityTable& table = mesh.entities(dim);
      const std::size_t n_owned = mesh.n_owned(dim);
      for (const LocalId id : sets[s].entities[mesh::index(dim)])
        if (index(id) < n_owned) sums[place_of(s, dim)].add(measured.of(dim, table, index(id)));
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
