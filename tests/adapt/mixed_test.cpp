#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

// Meshes of tetrahedra and other cells: the other cells and all entities on them remain.

namespace barrio::adapt {
namespace {

using mesh::CellType;
using mesh::Dim;
using mesh::Mesh;
using test::shock;
using test::world;

using Vector = std::array<double, 3>;

/// The cells under the tetrahedra of a cube: a layer of prisms, or a layer of hexes with pyramids on top.
enum class Under { prisms, hexes };

/// A unit cube of n^3 boxes, built box by box; the lowest layer or two hold the other cells. Materials "under" and
/// "over", listed faces "z-", "x-" and "between", listed edges "rim".
class MixedCube {
 public:
  MixedCube(mpi::Context& context, std::int64_t n, Under under) : context_(context), n_(n), under_(under) {
    for (std::int64_t box = context.rank(); box < n * n * n; box += context.size())
      add_box(box % n, box / n % n, box / (n * n));
  }

  [[nodiscard]] Mesh make(bool is_scattered) const {
    mesh::MeshArrays arrays;
    std::vector<std::int64_t> ids;
    std::vector<double> coordinates;
    for (const auto& [id, x] : vertices_) {
      ids.push_back(id);
      coordinates.insert(coordinates.end(), x.begin(), x.end());
    }
    arrays.vertex_ids = ids;
    arrays.coordinates = coordinates;
    for (const auto& [type, nodes] : nodes_)
      arrays.cells.push_back({.type = type, .nodes_per_cell = mesh::topology(type).n_corners, .nodes = nodes});
    std::int32_t number = 0;
    for (const std::string name : {"under", "over", "z-", "x-", "between", "rim"}) {
      const auto kind = number < 2 ? mesh::SetKind::material : mesh::SetKind::neumann;
      mesh::MeshArrays::Set& set = arrays.add_set(kind, ++number, name);
      for (const auto& [key, places] : members_)
        if (key.first == name) set.members.push_back({key.second, places});
    }
    Mesh mesh = mesh::mesh_from_arrays(context_, arrays);
    if (!is_scattered) return mesh;
    std::vector<Rank> to;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      to.push_back(static_cast<Rank>(Hash64(5).add(value(mesh.cells().id(c))).value() %
                                     static_cast<std::uint64_t>(context_.size())));
    mesh.migrate(to);
    return mesh;
  }

 private:
  using Ids = std::vector<std::int64_t>;

  std::int64_t point(std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::int64_t id = i + (n_ + 1) * (j + (n_ + 1) * k);
    const auto n = static_cast<double>(n_);
    vertices_[id] = {static_cast<double>(i) / n, static_cast<double>(j) / n, static_cast<double>(k) / n};
    return id;
  }
  void add(CellType type, const Ids& nodes, const std::string& set) {
    Ids& all = nodes_[type];
    members_[{set, type}].push_back(std::ssize(all) / std::ssize(nodes));
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  void add_tet(Ids v) {
    const auto edge = [&](std::size_t to, std::size_t k) { return vertices_[v[to]][k] - vertices_[v[0]][k]; };
    const double volume = edge(1, 0) * (edge(2, 1) * edge(3, 2) - edge(2, 2) * edge(3, 1)) -
                          edge(1, 1) * (edge(2, 0) * edge(3, 2) - edge(2, 2) * edge(3, 0)) +
                          edge(1, 2) * (edge(2, 0) * edge(3, 1) - edge(2, 1) * edge(3, 0));
    if (volume < 0) std::swap(v[2], v[3]);
    add(CellType::tet, v, "over");
  }
  /// @param around  from the lowest corner, at which the diagonal between the triangles starts
  void add_side(const Ids& around, bool is_quad, const std::string& set) {
    if (is_quad) return add(CellType::quad, around, set);
    add(CellType::triangle, {around[0], around[1], around[2]}, set);
    add(CellType::triangle, {around[0], around[2], around[3]}, set);
  }

  void add_box(std::int64_t i, std::int64_t j, std::int64_t k) {
    std::array<std::int64_t, 8> p{};
    for (std::int64_t b = 0; b < 8; ++b) p[b] = point(i + (b & 1), j + (b >> 1 & 1), k + (b >> 2));
    const Ids floor{p[0], p[1], p[3], p[2]};
    const Ids left{p[0], p[2], p[6], p[4]};
    const bool is_low = k == 0;
    if (is_low) add_side(floor, under_ == Under::hexes, "z-");
    if (i == 0) add_side(left, is_low, "x-");
    if (i == 0 && j == 0) add(CellType::edge, {p[0], p[4]}, "rim");
    if (under_ == Under::prisms) {
      if (is_low) {
        add(CellType::prism, {p[0], p[1], p[3], p[4], p[5], p[7]}, "under");
        add(CellType::prism, {p[0], p[3], p[2], p[4], p[7], p[6]}, "under");
        return;
      }
      if (k == 1) add_side(floor, false, "between");
      std::array<std::int64_t, 3> axes{1, 2, 4};
      do add_tet({p[0], p[axes[0]], p[axes[0] + axes[1]], p[7]});
      while (std::next_permutation(axes.begin(), axes.end()));
      return;
    }
    if (is_low) return add(CellType::hex, {p[0], p[1], p[3], p[2], p[4], p[5], p[7], p[6]}, "under");
    const std::int64_t centre = (n_ + 1) * (n_ + 1) * (n_ + 1) + i + n_ * (j + n_ * k);
    for (std::size_t axis = 0; axis < 3; ++axis)
      vertices_[centre][axis] = (vertices_[p[0]][axis] + vertices_[p[7]][axis]) / 2;
    const std::array<Ids, 6> sides{floor,
                                   Ids{p[4], p[5], p[7], p[6]},
                                   left,
                                   Ids{p[1], p[3], p[7], p[5]},
                                   Ids{p[0], p[1], p[5], p[4]},
                                   Ids{p[2], p[3], p[7], p[6]}};
    for (std::size_t s = k == 1 ? 1 : 0; s < sides.size(); ++s) {
      add_tet({sides[s][0], sides[s][1], sides[s][2], centre});
      add_tet({sides[s][0], sides[s][2], sides[s][3], centre});
    }
    if (k != 1) return;
    add(CellType::pyramid, {p[0], p[1], p[3], p[2], centre}, "under");
    for (std::size_t e = 0; e < 4; ++e) add(CellType::triangle, {floor[e], floor[(e + 1) % 4], centre}, "between");
  }

  mpi::Context& context_;
  std::int64_t n_;
  Under under_;
  std::map<std::int64_t, Vector> vertices_;
  std::map<CellType, Ids> nodes_;
  std::map<std::pair<std::string, CellType>, Ids> members_;
};

/// Hash the positions of an entity's nodes, in their order.
std::uint64_t hash_of_nodes(const Mesh& mesh, std::span<const LocalId> nodes) {
  Hash64 hash;
  for (const LocalId v : nodes)
    for (std::size_t k = 0; k < 3; ++k)
      hash.add(std::bit_cast<std::uint64_t>(mesh.vertices().coordinates[3 * index(v) + k]));
  return hash.value();
}

/// Return the number of entities of each kind that must remain, over all ranks, and a sum of their hashes.
std::vector<std::int64_t> what_stays(const Mesh& mesh) {
  std::vector<std::int64_t> sums(2);
  const auto is_in = [&](const mesh::MeshSet& set, std::size_t c) {
    return set.entities[mesh::index(Dim::volume)].contains(local_id(c));
  };
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    if (mesh.cells().type(c) == CellType::tet) continue;
    sums[0] += 1;
    Hash64 all(hash_of_nodes(mesh, mesh.cells().nodes_of(c)));
    for (std::size_t s = 0; s < mesh.sets().size(); ++s)
      if (is_in(mesh.sets()[s], c)) all.add(std::uint64_t{s});
    for (const auto& field : mesh.fields())
      if (field->dim == Dim::volume)
        all.add(static_cast<std::int64_t>(std::get<std::vector<std::int64_t>>(field->values)[c]));
    sums[1] += all.value() >> 16U;
  }
  for (const mesh::MeshSet& set : mesh.sets()) {
    const bool is_between = set.info.name == "between";
    sums.insert(sums.end(), 2, 0);
    for (const LocalId f : set.entities[mesh::index(Dim::face)]) {
      if (index(f) >= mesh.n_owned(Dim::face)) continue;
      const auto nodes = mesh.entities(Dim::face).nodes_of(index(f));
      if (nodes.size() == 3 && !is_between && set.info.name != "z-") continue;
      *(sums.end() - 2) += 1;
      std::int64_t sum = 0;  // in any order
      for (const LocalId v : nodes) sum += hash_of_nodes(mesh, {&v, 1}) >> 16U;
      sums.back() += sum;
    }
  }
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(sums), MPI_SUM);
  return sums;
}

double volume_of_tets(const Mesh& mesh) {
  double sum = 0.0;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    if (mesh.cells().type(c) != CellType::tet) continue;
    const auto nodes = mesh.cells().nodes_of(c);
    std::array<Vector, 4> x{};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        x[i][k] = mesh.vertices().coordinates[3 * index(nodes[i]) + k] - (i > 0 ? x[0][k] : 0);
    sum += (x[1][0] * (x[2][1] * x[3][2] - x[2][2] * x[3][1]) - x[1][1] * (x[2][0] * x[3][2] - x[2][2] * x[3][0]) +
            x[1][2] * (x[2][0] * x[3][1] - x[2][1] * x[3][0])) /
           6;
  }
  return mpi::sum(mesh.context(), sum);
}

/// Add fields that record the positions of cells and vertices, on any number of ranks.
void add_places(Mesh& mesh) {
  const auto ids = mesh.add_field<std::int64_t>("id", Dim::volume);
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
    ids.values()[c] = hash_of_nodes(mesh, mesh.cells().nodes_of(c)) >> 1U;
  const auto x = mesh.add_field<double>("x", Dim::vertex);
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) x.values()[v] = mesh.vertices().coordinates[3 * v];
  const auto number = mesh.add_field<std::int32_t>("number", Dim::vertex);
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v)
    number.values()[v] = static_cast<std::int32_t>(value(mesh.vertices().global_ids[v]));
}

class AdaptMixed : public ::testing::TestWithParam<Under> {};

TEST_P(AdaptMixed, OtherCellsStay) {
  for (const double finest : {0.05, 0.3}) {
    Mesh mesh = MixedCube(world(), 6, GetParam()).make(finest < 0.1);
    add_places(mesh);
    const std::vector<std::int64_t> before = what_stays(mesh);
    const double volume = volume_of_tets(mesh);
    ASSERT_GT(before[0], 0);
    const AdaptReport report = adapt(mesh, shock(finest));
    mesh.validate();
    EXPECT_EQ(what_stays(mesh), before);
    EXPECT_NEAR(volume_of_tets(mesh), volume, 1e-12);
    EXPECT_EQ(std::ranges::count(report.measures, Dim::edge, &SetMeasure::dim), 1);
    for (const SetMeasure& one : report.measures) EXPECT_NEAR(one.after, one.before, 1e-12) << one.name;
    if (finest < 0.1)
      EXPECT_GT(report.splits.n_made, 100);
    else
      EXPECT_GT(report.collapses.n_made, 20);
    const auto x = mesh.field<double>("x", Dim::vertex);
    for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v)
      EXPECT_NEAR(x.values()[v], mesh.vertices().coordinates[3 * v], 1e-12);
  }
}

TEST_P(AdaptMixed, TheSameMeshOnAnyRanksFromAnyDistribution) {
  const SizeFunction size = shock(0.08);
  const auto checksums = [](const Mesh& mesh) {
    std::vector<std::uint64_t> all{mesh.checksum()};
    for (const auto& field : mesh.fields()) all.push_back(mesh.checksum(*field));
    return all;
  };
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = MixedCube(alone, 5, GetParam()).make(false);
    add_places(reference);
    adapt(reference, size);
    return checksums(reference);
  });
  for (const bool is_scattered : {false, true}) {
    for (const bool balances : {false, true}) {
      Mesh mesh = MixedCube(world(), 5, GetParam()).make(is_scattered);
      add_places(mesh);
      adapt(mesh, size, {.balances = balances});
      mesh.validate();
      EXPECT_EQ(checksums(mesh), wanted) << is_scattered << balances;
    }
  }
}

/// Errors of fixed cells request no refinement: their edges, of length 1/6, already have the wanted size.
TEST_P(AdaptMixed, ErrorsOfOtherCellsAskForNothing) {
  Mesh mesh = MixedCube(world(), 6, GetParam()).make(true);
  std::vector<double> errors;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
    errors.push_back(mesh.cells().type(c) == CellType::tet ? 0.01 : 1e6);
  const std::vector<double> sizes = sizes_from_errors(mesh, errors, {.error = 0.01});
  for (std::size_t v = 0; v < sizes.size(); ++v) {
    EXPECT_GE(sizes[v], 0.5 / 6);
    EXPECT_LE(sizes[v], 1.5 / 6);
  }
  std::ranges::copy(sizes, mesh.add_field<double>("size", Dim::vertex).values().begin());
  const std::vector<std::int64_t> before = what_stays(mesh);
  adapt(mesh, "size", {.limits = {.growth = 0.4}});
  mesh.validate();
  EXPECT_EQ(what_stays(mesh), before);
}

INSTANTIATE_TEST_SUITE_P(Under, AdaptMixed, ::testing::Values(Under::prisms, Under::hexes));

}  // namespace
}  // namespace barrio::adapt
