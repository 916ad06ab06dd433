// Domains that are not cubes of one material: what is straight or flat keeps its measure, whatever lies beside it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::adapt {
namespace {

using mesh::Dim;
using mesh::Mesh;
using test::Start;
using test::tet_cube;
using test::world;
using Point = std::array<double, 3>;
using Map = std::function<Point(const Point&)>;

Point at(const Mesh& mesh, LocalId v) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  return {x[3 * index(v)], x[3 * index(v) + 1], x[3 * index(v) + 2]};
}

/// Move the vertices of a mesh.
Mesh mapped(Mesh&& made, const Map& map) {
  mpi::Context& context = made.context();
  mesh::LocalMesh local = std::move(made).release();
  for (std::size_t i = 0; i < local.coordinates.size(); i += 3) {
    const Point to = map({local.coordinates[i], local.coordinates[i + 1], local.coordinates[i + 2]});
    std::ranges::copy(to, local.coordinates.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return mesh::adopt(context, std::move(local));
}

/// Add a set of the faces of the side z = 1 whose centroids a function accepts.
Mesh with_patch(Mesh&& made, const std::function<bool(const Point&)>& is_inside) {
  mpi::Context& context = made.context();
  mesh::LocalMesh local = std::move(made).release();
  const mesh::LocalEntities& faces = local.entities[mesh::index(Dim::face)];
  mesh::MeshSet patch;
  patch.info = {.kind = mesh::SetKind::neumann, .id = 99, .name = "patch"};
  for (std::size_t f = 0; f < faces.size(); ++f) {
    Point centre{};
    for (const LocalId v : faces.nodes_of(f))
      for (std::size_t k = 0; k < 3; ++k) centre[k] += local.coordinates[3 * index(v) + k] / 3;
    if (centre[2] > 1 - 1e-9 && is_inside(centre)) patch.entities[mesh::index(Dim::face)].insert(local_id(f));
  }
  local.sets.push_back(patch);
  return mesh::adopt(context, std::move(local));
}

/// Adapt, and expect all areas and volumes to be as before.
AdaptReport expect_kept(Mesh& mesh, const SizeFunction& size, const AdaptOptions& options = {}) {
  const AdaptReport report = adapt(mesh, size, options);
  mesh.validate();
  for (const SetMeasure& one : report.measures)
    EXPECT_NEAR(one.after, one.before, 1e-12 * one.before) << (one.name.empty() ? "volume" : one.name);
  EXPECT_NEAR(report.measures[0].after, test::measure(mesh, size).volume, 1e-12 * report.measures[0].after);
  return report;
}

double turns(double x) { return x * std::numbers::pi; }

/// A patch with an outline of many corners in a flat side, of which a feature angle makes none.
TEST(AdaptShapes, PatchesInAFlatSideKeepTheirOutline) {
  const auto disc = [](const Point& x) { return std::hypot(x[0] - 0.5, x[1] - 0.5) < 0.33; };
  const auto cross = [](const Point& x) { return std::abs(x[0] - 0.5) < 0.15 || std::abs(x[1] - 0.5) < 0.15; };
  for (const auto& inside : {std::function<bool(const Point&)>(disc), std::function<bool(const Point&)>(cross)}) {
    for (const double feature_angle : {40.0, 100.0}) {
      Mesh mesh = with_patch(tet_cube(world(), 10, Start::scattered), inside);
      const AdaptReport report = expect_kept(mesh, uniform_size(0.4), {.feature_angle = feature_angle});
      EXPECT_LT(report.n_cells, report.n_cells_before / 4);
    }
  }
}

/// Facets of curved surfaces, beside planes and straight lines along which vertices may slide.
TEST(AdaptShapes, CurvedSurfacesKeepTheirFacets) {
  const auto half_ring = [](const Point& x) {
    const double r = 1 + x[2];
    return Point{r * std::cos(turns(x[0])), r * std::sin(turns(x[0])), 1.7 * x[1]};
  };
  const auto cone = [](const Point& x) {
    const double r = (1 + x[2]) * (1 - 0.6 * x[1]);
    return Point{r * std::cos(turns(x[0]) / 2), r * std::sin(turns(x[0]) / 2), x[1]};
  };
  const auto shell = [](const Point& x) {
    const double r = 1 + 0.5 * x[2];
    const double a = turns(x[0]) / 3;
    const double b = turns(x[1]) / 4;
    return Point{r * std::cos(a) * std::cos(b), r * std::sin(a) * std::cos(b), r * std::sin(b)};
  };
  for (const auto& map : {Map(half_ring), Map(cone), Map(shell)}) {
    for (const double size : {0.5, 0.22}) {
      const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
        Mesh reference = mapped(tet_cube(alone, 6, Start::boxes, 2), map);
        adapt(reference, uniform_size(size));
        return std::vector<std::uint64_t>{reference.checksum()};
      });
      Mesh mesh = mapped(tet_cube(world(), 6, Start::scattered, 2), map);
      expect_kept(mesh, uniform_size(size));
      EXPECT_EQ(mesh.checksum(), wanted[0]);
    }
  }
}

/// A turned box with coordinates of some digits, or of single precision.
TEST(AdaptShapes, RoundedPlanesArePlanes) {
  const auto turned = [](const Point& x) {
    const double c = std::cos(0.4);
    const double s = std::sin(0.4);
    const Point y{c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]};
    return Point{y[0], c * y[1] - s * y[2] + 3, s * y[1] + c * y[2]};
  };
  const auto rounded = [](double x, int digits) {
    const double unit = std::pow(10.0, digits - 1 - std::floor(std::log10(std::max(std::abs(x), 1e-300))));
    return std::round(x * unit) / unit;
  };
  Mesh exact = mapped(tet_cube(world(), 12, Start::scattered), turned);
  const AdaptReport wanted = expect_kept(exact, uniform_size(0.19));
  for (const int digits : {6, 8, 0}) {
    Mesh mesh = mapped(tet_cube(world(), 12, Start::scattered), [&](const Point& x) {
      Point y = turned(x);
      for (double& one : y) one = digits > 0 ? rounded(one, digits) : static_cast<double>(static_cast<float>(one));
      return y;
    });
    const AdaptReport report = adapt(mesh, uniform_size(0.19));
    mesh.validate();
    EXPECT_LT(static_cast<double>(report.n_cells), 1.3 * static_cast<double>(wanted.n_cells)) << digits;
    EXPECT_GT(report.tolerance, wanted.tolerance) << digits;
    for (const SetMeasure& one : report.measures) EXPECT_NEAR(one.after, one.before, 10 * report.tolerance) << digits;
    // With a smaller tolerance the facets are taken as they are.
    Mesh strict = mapped(tet_cube(world(), 12, Start::scattered), [&](const Point& x) {
      Point y = turned(x);
      for (double& one : y) one = digits > 0 ? rounded(one, digits) : static_cast<double>(static_cast<float>(one));
      return y;
    });
    expect_kept(strict, uniform_size(0.19), {.tolerance = 1e-14});
  }
}

/// All vertices of a side are in a set: those that split its edges join it, and it gets coarser like any other side.
TEST(AdaptShapes, NodeSetsCoverTheSideThatTheyCovered) {
  for (const double size : {0.07, 0.4}) {
    Mesh made = tet_cube(world(), 6, Start::scattered);
    mesh::LocalMesh local = std::move(made).release();
    mesh::MeshSet& nodes = local.sets.emplace_back();
    nodes.info = {.kind = mesh::SetKind::dirichlet, .id = 7, .name = "wall"};
    mesh::MeshSet& inner = local.sets.emplace_back();  // of the volume, without its boundary, as Gmsh's references are
    inner.info = {.kind = mesh::SetKind::other, .id = 8, .name = "inner"};
    const auto is_inner = [](const double* x) {
      return std::all_of(x, x + 3, [](double y) { return y > 0 && y < 1; });
    };
    for (std::size_t v = 0; v < local.n_vertices(); ++v) {
      if (local.coordinates[3 * v + 2] == 0.0) local.sets[local.sets.size() - 2].vertices.insert(local_id(v));
      if (is_inner(&local.coordinates[3 * v])) local.sets.back().vertices.insert(local_id(v));
    }
    Mesh mesh = mesh::adopt(world(), std::move(local));
    const std::int64_t n_before = mesh.n_global(Dim::vertex);
    const AdaptReport report = expect_kept(mesh, uniform_size(size));
    EXPECT_EQ(mesh.n_global(Dim::vertex) > n_before, size < 0.1);
    EXPECT_LT(test::measure(mesh, uniform_size(size)).longest, 2.0);
    EXPECT_GT(report.in_range, 0.7);
    const mesh::Range& in_wall = mesh.set(mesh::SetKind::dirichlet, "wall").vertices;
    const auto sets = mesh.sets();
    const auto in_inner = std::ranges::find(sets, std::string("inner"), [](const auto& set) { return set.info.name; });
    std::int64_t n_missing = 0;
    for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
      const Point x = at(mesh, local_id(v));
      EXPECT_EQ(in_wall.contains(local_id(v)), x[2] == 0.0) << x[0] << ' ' << x[1] << ' ' << x[2];
      const bool is_in = in_inner->vertices.contains(local_id(v));
      EXPECT_TRUE(is_inner(x.data()) || !is_in);
      if (is_inner(x.data()) && !is_in && v < mesh.n_owned(Dim::vertex)) ++n_missing;
    }
    EXPECT_LE(mpi::sum(world(), n_missing), mesh.n_global(Dim::vertex) / 20);
  }
}

/// Cubes that touch in one vertex, in a chain, and one that touches two others.
TEST(AdaptShapes, BodiesThatTouchInAVertex) {
  const auto make = [](mpi::Context& context, Start start) {
    // The cells of every second box of a chessboard's diagonal: only corners are shared.
    Mesh mesh = tet_cube(context, 6, start);
    mesh::Range kept;
    mesh::LocalMesh local = std::move(mesh).release();
    const mesh::LocalEntities& cells = local.entities[mesh::index(Dim::volume)];
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Point centre{};
      for (const LocalId v : cells.nodes_of(c))
        for (std::size_t k = 0; k < 3; ++k) centre[k] += local.coordinates[3 * index(v) + k] / 4;
      const int box =
          static_cast<int>(2 * centre[0]) + static_cast<int>(2 * centre[1]) + static_cast<int>(2 * centre[2]);
      if (box == 0 || box == 3) kept.insert(local_id(c));
    }
    mesh::keep_cells(local, kept);
    return mesh::adopt(context, std::move(local));
  };
  for (const double size : {0.35, 0.09}) {
    const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
      Mesh reference = make(alone, Start::boxes);
      adapt(reference, uniform_size(size));
      return std::vector<std::uint64_t>{reference.checksum()};
    });
    Mesh mesh = make(world(), Start::scattered);
    EXPECT_EQ(mesh.n_global(Dim::volume), 2 * 6 * 27);
    const AdaptReport report = expect_kept(mesh, uniform_size(size));
    EXPECT_NEAR(report.measures[0].after, 0.25, 1e-13);
    EXPECT_EQ(mesh.checksum(), wanted[0]);
    std::int64_t n_shared = 0;
    for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v)
      n_shared += at(mesh, local_id(v)) == Point{0.5, 0.5, 0.5} ? 1 : 0;
    EXPECT_EQ(mpi::sum(world(), n_shared), 1);
  }
}

/// From cells of many sizes to small ones.
TEST(AdaptShapes, RefiningALotLeavesNoLongEdges) {
  Mesh mesh = mapped(tet_cube(world(), 3, Start::scattered), [](const Point& x) {
    return Point{x[0] + 0.1 * std::sin(7 * x[1]) * x[0] * (1 - x[0]), x[1],
                 x[2] + 0.08 * std::sin(9 * x[0] + 5 * x[1]) * x[2] * (1 - x[2])};
  });
  const SizeFunction size = uniform_size(0.048);
  const AdaptReport report = expect_kept(mesh, size);
  const test::Measured now = test::measure(mesh, size);
  EXPECT_LT(now.longest, 2.0);
  EXPECT_GE(now.min_quality, 0.3);
  EXPECT_GE(now.mean_quality, 0.84);
  EXPECT_GE(now.part_in_range, 0.94);
  EXPECT_GT(report.n_cells, 40'000);
}

/// All edges of a lattice have about the wanted length, and yet there are too few cells or too many.
TEST(AdaptShapes, LatticesGetAsManyCellsAsOtherMeshes) {
  for (const auto& [n, h] : {std::pair{5, 0.08}, {5, 0.11}, {1, 0.135}, {10, 0.07}}) {
    Mesh mesh = tet_cube(world(), n);
    const SizeFunction size = uniform_size(h);
    expect_kept(mesh, size);
    const double of_complexity = static_cast<double>(mesh.n_global(Dim::volume)) * h * h * h;
    EXPECT_GT(of_complexity, 9.0) << n << ' ' << h;
    EXPECT_LT(of_complexity, 13.5) << n << ' ' << h;
  }
}

/// Tets around a vertex on a sphere of n facets: work is linear in the number of facets.
Mesh hub(mpi::Context& context, int n) {
  std::vector<double> coordinates;
  std::vector<std::int64_t> nodes;
  const auto vertex = [&](int i, int j) {
    if (i == 0) return std::int64_t{1};
    if (i == n) return std::int64_t{2} + static_cast<std::int64_t>(n - 1) * 2 * n;
    return std::int64_t{2} + static_cast<std::int64_t>(i - 1) * 2 * n + j % (2 * n);
  };
  if (context.rank() == 0) {
    coordinates = {0, 0, 0};
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; j < (i == 0 || i == n ? 1 : 2 * n); ++j) {
        const double a = turns(static_cast<double>(i) / n);
        const double b = turns(static_cast<double>(j) / n);
        const Point x{std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)};
        coordinates.insert(coordinates.end(), x.begin(), x.end());
      }
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < 2 * n; ++j) {
        const std::array at_corner{vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)};
        if (i + 1 < n) nodes.insert(nodes.end(), {0, at_corner[0], at_corner[1], at_corner[2]});
        if (i > 0) nodes.insert(nodes.end(), {0, at_corner[0], at_corner[2], at_corner[3]});
      }
    }
  }
  mesh::MeshArrays arrays;
  arrays.coordinates = coordinates;
  arrays.cells.push_back({.type = mesh::CellType::tet, .nodes_per_cell = 4, .nodes = nodes});
  return mesh::mesh_from_arrays(context, arrays);
}

TEST(AdaptShapes, AHubOfManyTets) {
  const SizeFunction size = uniform_size(0.3);
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = hub(alone, 24);
    adapt(reference, size);
    return std::vector<std::uint64_t>{reference.checksum()};
  });
  Mesh mesh = hub(world(), 24);
  EXPECT_EQ(mesh.n_global(Dim::volume), 2 * 24 * 24 * 2 - 4 * 24);
  expect_kept(mesh, size);
  EXPECT_EQ(mesh.checksum(), wanted[0]);
}

}  // namespace
}  // namespace barrio::adapt
