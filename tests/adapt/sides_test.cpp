// Listed edges and faces: with their sets and values they follow the cells, edges as feature lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::adapt {
namespace {

using mesh::CellType;
using mesh::Dim;
using mesh::Mesh;
using test::shock;
using test::world;
using Point = std::array<double, 3>;
using Ids = std::vector<std::int64_t>;

/// A line through the cube, in a set of its own, with a value.
struct Line {
  const char* name;
  std::array<int, 3> from;  // in halves of the cube
  std::array<int, 3> to;
  std::int32_t value;  // of the tag "wire"; 0: none
};
constexpr std::array lines{
    Line{"rim", {0, 0, 0}, {2, 0, 0}, 7},              // an edge of the cube
    Line{"across", {0, 0, 2}, {2, 2, 2}, 8},           // the diagonal of a side
    Line{"first half", {0, 0, 0}, {1, 1, 1}, 7},       // of the diagonal of the volume
    Line{"second half", {1, 1, 1}, {2, 2, 2}, 9},      //
    Line{"in no other set", {1, 0, 1}, {1, 2, 1}, 0},  // inside, without a value
};

int halves(const Line& line) {
  return std::max({line.to[0] - line.from[0], line.to[1] - line.from[1], line.to[2] - line.from[2]});
}

/// A unit cube of n^3 boxes (n even) of six tetrahedra around their diagonal, with listed edges along lines, and the
/// listed triangles of two sides, of which one half has another value.
Mesh lined_cube(mpi::Context& context, std::int64_t n, bool is_scattered) {
  mesh::MeshArrays arrays;
  std::vector<double> coordinates;
  std::map<CellType, Ids> nodes;
  std::map<std::string, Ids> members;
  std::vector<std::int32_t> wire;
  std::vector<double> heat;
  const auto id = [&](std::array<std::int64_t, 3> x) { return x[0] + (n + 1) * (x[1] + (n + 1) * x[2]); };
  if (context.is_root()) {
    for (std::int64_t i = 0; i < (n + 1) * (n + 1) * (n + 1); ++i)
      for (const std::int64_t x : {i % (n + 1), i / (n + 1) % (n + 1), i / ((n + 1) * (n + 1))})
        coordinates.push_back(static_cast<double>(x) / static_cast<double>(n));
    for (std::int64_t box = 0; box < n * n * n; ++box) {
      std::array<std::size_t, 3> axes{0, 1, 2};
      do {
        std::array<std::int64_t, 3> x{box % n, box / n % n, box / (n * n)};
        Ids tet{id(x)};
        for (const std::size_t axis : axes) {
          x[axis] += 1;
          tet.push_back(id(x));
        }
        const bool is_odd = axes[1] == (axes[0] + 2) % 3;
        if (is_odd) std::swap(tet[2], tet[3]);
        nodes[CellType::tet].insert(nodes[CellType::tet].end(), tet.begin(), tet.end());
      } while (std::ranges::next_permutation(axes).found);
    }
    for (const Line& line : lines) {
      std::array<std::int64_t, 3> x{};
      for (std::size_t k = 0; k < 3; ++k) x[k] = n / 2 * line.from[k];
      for (std::int64_t step = 0; step < n / 2 * halves(line); ++step) {
        const std::int64_t first = id(x);
        for (std::size_t k = 0; k < 3; ++k) x[k] += line.to[k] > line.from[k] ? 1 : 0;
        members[line.name].push_back(std::ssize(wire));
        wire.push_back(line.value);
        nodes[CellType::edge].insert(nodes[CellType::edge].end(), {first, id(x)});
      }
    }
    for (std::int64_t square = 0; square < 2 * n * n; ++square) {
      const std::int64_t k = square < n * n ? 0 : n;
      const std::int64_t i = square % n;
      const std::int64_t j = square / n % n;
      for (const auto& [a, b] : {std::pair<int, int>{1, 0}, {0, 1}}) {
        nodes[CellType::triangle].insert(nodes[CellType::triangle].end(),
                                         {id({i, j, k}), id({i + a, j + b, k}), id({i + 1, j + 1, k})});
        heat.push_back(k == 0 ? 0.25 : i < n / 2 ? 0.5 : 0.75);
      }
    }
  }
  arrays.coordinates = coordinates;
  for (const CellType type : {CellType::edge, CellType::triangle, CellType::tet})
    arrays.cells.push_back({.type = type, .nodes_per_cell = mesh::topology(type).n_corners, .nodes = nodes[type]});
  std::int32_t number = 0;
  for (const Line& line : lines)
    arrays.add_set(mesh::SetKind::other, ++number, line.name).members.push_back({CellType::edge, members[line.name]});
  arrays.add_tag("wire", mesh::TagType::int32).values.push_back({CellType::edge, std::as_bytes(std::span(wire))});
  arrays.add_tag("heat", mesh::TagType::float64).values.push_back({CellType::triangle, std::as_bytes(std::span(heat))});
  Mesh mesh = mesh::mesh_from_arrays(context, arrays);
  if (is_scattered) {
    std::vector<Rank> to;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      to.push_back(static_cast<Rank>(Hash64(3).add(value(mesh.cells().id(c))).value() %
                                     static_cast<std::uint64_t>(context.size())));
    mesh.migrate(to);
  }
  const auto number_of = mesh.add_field<std::int64_t>("number", Dim::edge);
  for (std::size_t e = 0; e < mesh.n_owned(Dim::edge); ++e)
    for (std::size_t s = 0; s < mesh.sets().size(); ++s)
      if (mesh.sets()[s].entities[1].contains(local_id(e))) number_of.values()[e] = 100 + static_cast<std::int64_t>(s);
  return mesh;
}

Point point(const Mesh& mesh, LocalId v) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  return {x[3 * index(v)], x[3 * index(v) + 1], x[3 * index(v) + 2]};
}

template <class T>
T value_of(const Mesh& mesh, const std::string& tag, Dim dim, std::size_t i) {
  for (const mesh::MeshTag& one : mesh.tags()) {
    if (one.info.name != tag) continue;
    T value{};
    const auto bytes = one.value(dim, local_id(i));
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  return {};
}

/// Expect each line to be covered by listed edges of its set, one after the other, with its values.
void expect_lines(const Mesh& mesh) {
  std::vector<double> lengths(lines.size() + 1);
  const auto number_of = mesh.field<std::int64_t>("number", Dim::edge);
  for (std::size_t e = 0; e < mesh.n_owned(Dim::edge); ++e) {
    const auto ends = mesh.entities(Dim::edge).nodes_of(e);
    const std::array<Point, 2> x{point(mesh, ends[0]), point(mesh, ends[1])};
    const double length = std::hypot(x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]);
    std::size_t n_sets = 0;
    for (std::size_t s = 0; s < lines.size(); ++s) {
      if (!mesh.sets()[s].entities[1].contains(local_id(e))) continue;
      n_sets += 1;
      lengths[s] += length;
      EXPECT_EQ(value_of<std::int32_t>(mesh, "wire", Dim::edge, e), lines[s].value);
      EXPECT_EQ(number_of.values()[e], 100 + static_cast<std::int64_t>(s));
      for (const Point& end : x) {
        for (std::size_t k = 0; k < 3; ++k) {
          const double from = lines[s].from[k] / 2.0;
          const double to = lines[s].to[k] / 2.0;
          EXPECT_GE(end[k], from - 1e-12);
          EXPECT_LE(end[k], to + 1e-12);
          if (from == to) continue;
          for (std::size_t l = 0; l < k; ++l) {  // all coordinates that change do so at the same rate
            if (lines[s].from[l] == lines[s].to[l]) continue;
            EXPECT_NEAR(end[k] - from, end[l] - lines[s].from[l] / 2.0, 1e-12);
          }
        }
      }
    }
    EXPECT_EQ(n_sets, 1);
    lengths.back() += 1;
  }
  mpi::all_reduce(mesh.context(), std::span<double>(lengths), MPI_SUM);
  for (std::size_t s = 0; s < lines.size(); ++s) {
    double length = 0.0;
    for (std::size_t k = 0; k < 3; ++k) length += std::pow((lines[s].to[k] - lines[s].from[k]) / 2.0, 2);
    EXPECT_NEAR(lengths[s], std::sqrt(length), 1e-12) << lines[s].name;
  }
  EXPECT_EQ(lengths.back(), static_cast<double>(mesh.n_global(Dim::edge)));
}

/// Expect the areas where the tag "heat" has each of its values.
void expect_heat(const Mesh& mesh) {
  std::map<double, double> areas{{0.25, 0}, {0.5, 0}, {0.75, 0}};
  for (std::size_t f = 0; f < mesh.n_owned(Dim::face); ++f) {
    const auto nodes = mesh.entities(Dim::face).nodes_of(f);
    const Point a = point(mesh, nodes[0]);
    const Point b = point(mesh, nodes[1]);
    const Point c = point(mesh, nodes[2]);
    const double area = std::abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
    areas[value_of<double>(mesh, "heat", Dim::face, f)] += area;
  }
  EXPECT_EQ(areas.size(), 3U);
  EXPECT_NEAR(mpi::sum(mesh.context(), areas[0.25]), 1.0, 1e-12);
  EXPECT_NEAR(mpi::sum(mesh.context(), areas[0.5]), 0.5, 1e-12);
  EXPECT_NEAR(mpi::sum(mesh.context(), areas[0.75]), 0.5, 1e-12);
}

TEST(AdaptSides, ListedEdgesAreFeatureLines) {
  for (const double h : {0.08, 0.5}) {
    Mesh mesh = lined_cube(world(), h < 0.1 ? 6 : 10, h < 0.1);
    expect_lines(mesh);
    expect_heat(mesh);
    const std::int64_t before = mesh.n_global(Dim::edge);
    adapt(mesh, [h](const Point&) { return h; });
    mesh.validate();
    expect_lines(mesh);
    expect_heat(mesh);
    const double length = 2 + std::sqrt(2.0) + std::sqrt(3.0);
    EXPECT_LT(static_cast<double>(mesh.n_global(Dim::edge)), 1.5 * length / h + 5);
    EXPECT_GT(static_cast<double>(mesh.n_global(Dim::edge)), 0.7 * length / h) << before;
  }
}

TEST(AdaptSides, TheSameSidesOnAnyRanksFromAnyDistribution) {
  const auto checksums = [](const Mesh& mesh) {
    return std::vector{mesh.checksum(), mesh.checksum(*mesh.fields()[0])};
  };
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = lined_cube(alone, 6, false);
    adapt(reference, shock(0.06));
    return checksums(reference);
  });
  for (const bool is_scattered : {false, true}) {
    Mesh mesh = lined_cube(world(), 6, is_scattered);
    adapt(mesh, shock(0.06));
    mesh.validate();
    expect_lines(mesh);
    EXPECT_EQ(checksums(mesh), wanted);
  }
}

TEST(AdaptSides, FrozenEdgesStay) {
  Mesh mesh = lined_cube(world(), 6, true);
  adapt(mesh, [](const Point&) { return 0.09; }, {.frozen_sets = {"across"}});
  mesh.validate();
  expect_lines(mesh);
  std::int64_t n = 0;
  for (const LocalId e : mesh.sets()[1].entities[1]) n += index(e) < mesh.n_owned(Dim::edge) ? 1 : 0;
  EXPECT_EQ(mpi::sum(world(), n), 6);
}

}  // namespace
}  // namespace barrio::adapt
