#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::adapt {
namespace {

using mesh::Mesh;
using test::measure;
using test::Measured;
using test::shock;
using test::Start;
using test::tet_cube;
using test::world;

void expect_boundaries(const Mesh& mesh) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const double at : {0.0, 1.0}) {
      const std::string name = fmt::format("{}{}", "xyz"[axis], at == 0.0 ? '-' : '+');
      const auto [area, off] = test::measure_boundary(mesh, name, axis, at);
      EXPECT_NEAR(area, 1.0, 1e-12) << name;
      EXPECT_EQ(off, 0.0) << name;
    }
  }
}

TEST(Adapt, ACoarserMeshHasTheWantedLengthsAndItsBoundaries) {
  Mesh mesh = tet_cube(world(), 20);
  const SizeFunction size = shock(0.08);
  const AdaptReport report = adapt(mesh, size);
  mesh.validate();
  const Measured now = measure(mesh, size);
  EXPECT_EQ(report.n_cells_before, 48'000);
  EXPECT_EQ(report.n_cells, now.n_cells);
  EXPECT_NEAR(now.volume, 1.0, 1e-12);
  EXPECT_GE(now.min_quality, 0.3);
  EXPECT_GE(now.mean_quality, 0.8);
  EXPECT_GE(now.part_in_range, 0.93);
  EXPECT_LE(now.longest, 2.0);
  const double per_complexity = static_cast<double>(now.n_cells) / now.complexity;
  EXPECT_GE(per_complexity, 9.0);
  EXPECT_LE(per_complexity, 14.0);
  EXPECT_GT(report.collapses.n_made, report.splits.n_made);
  expect_boundaries(mesh);
  EXPECT_NEAR(test::measure_material(mesh, "box"), 1.0, 1e-12);
  EXPECT_GT(mesh.revision(), 0);
}

TEST(Adapt, AFinerMeshHasTheWantedLengthsAndItsBoundaries) {
  Mesh mesh = tet_cube(world(), 4);
  const SizeFunction size = shock(0.09);
  const AdaptReport report = adapt(mesh, size);
  mesh.validate();
  const Measured now = measure(mesh, size);
  EXPECT_NEAR(now.volume, 1.0, 1e-12);
  EXPECT_GE(now.min_quality, 0.3);
  EXPECT_GE(now.mean_quality, 0.78);
  EXPECT_GE(now.part_in_range, 0.87);
  EXPECT_GT(report.splits.n_made, report.collapses.n_made);
  EXPECT_GT(report.n_cells, report.n_cells_before);
  expect_boundaries(mesh);
}

/// Bitwise equal coordinates, cells and ids give equal checksums.
TEST(Adapt, TheSameMeshOnAnyRanksFromAnyDistribution) {
  const SizeFunction size = shock(0.11);
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = tet_cube(alone, 10);
    adapt(reference, size);
    return std::vector<std::uint64_t>{reference.checksum(),
                                      static_cast<std::uint64_t>(reference.n_global(mesh::Dim::face))};
  });
  for (const Start start : {Start::boxes, Start::on_rank_0, Start::scattered}) {
    for (const bool balances : {false, true}) {
      Mesh mesh = tet_cube(world(), 10, start);
      adapt(mesh, size, {.balances = balances});
      mesh.validate();
      EXPECT_EQ(mesh.checksum(), wanted[0]) << static_cast<int>(start) << balances;
      EXPECT_EQ(static_cast<std::uint64_t>(mesh.n_global(mesh::Dim::face)), wanted[1]);
      expect_boundaries(mesh);
    }
  }
}

TEST(Adapt, MaterialsKeepTheirVolumes) {
  Mesh mesh = tet_cube(world(), 12, Start::boxes, 3);
  adapt(mesh, shock(0.1));
  mesh.validate();
  for (int i = 1; i <= 3; ++i)
    EXPECT_NEAR(test::measure_material(mesh, fmt::format("volume {}", i)), 1.0 / 3, 1e-12) << i;
  expect_boundaries(mesh);
}

/// Vertices that stand alone in a set survive, and remain in it.
TEST(Adapt, ProbesStay) {
  mpi::Context& context = world();
  constexpr std::int64_t stride = 11;  // no two of them are neighbours
  Mesh made = tet_cube(context, 6, Start::scattered);
  mesh::LocalMesh local = std::move(made).release();
  mesh::MeshSet& probes = local.sets.front();
  for (std::size_t v = 0; v < local.n_vertices(); ++v)
    if (value(local.vertex_ids[v]) % stride == 0) probes.vertices.insert(local_id(v));
  Mesh mesh = mesh::adopt(context, std::move(local));
  const auto sum_of_places = [&] {
    std::array<double, 4> sum{};
    for (const LocalId v : mesh.sets().front().vertices) {
      if (index(v) >= mesh.n_owned(mesh::Dim::vertex)) continue;
      sum[0] += 1;
      for (std::size_t i = 0; i < 3; ++i) sum[i + 1] += mesh.vertices().coordinates[3 * index(v) + i];
    }
    mpi::all_reduce(context, std::span<double>(sum), MPI_SUM);
    return sum;
  };
  const std::array<double, 4> before = sum_of_places();
  EXPECT_EQ(before[0], 32);  // of 343
  adapt(mesh, shock(0.12));
  mesh.validate();
  const std::array<double, 4> after = sum_of_places();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(after[i], before[i], 1e-9) << i;
}

/// Frozen: the cells of one of three materials and the faces of one boundary. All others around them change.
TEST(Adapt, FrozenSetsStay) {
  const SizeFunction size = shock(0.05);
  const AdaptOptions options{.frozen_sets = {"volume 1", "y-"}, .parent_field = "parent"};
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = tet_cube(alone, 9, Start::boxes, 3);
    adapt(reference, size, options);
    return std::vector<std::uint64_t>{reference.checksum()};
  });
  Mesh mesh = tet_cube(world(), 9, Start::scattered, 3);
  const AdaptReport report = adapt(mesh, size, options);
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), wanted[0]);
  EXPECT_GT(report.splits.n_made, 0);
  EXPECT_GE(report.n_unchanged, 6 * 9 * 9 * 3);
  const auto n_owned = [&](const mesh::MeshSet& set, mesh::Dim dim) {
    const mesh::Range owned{{LocalId{0}, local_id(mesh.n_owned(dim))}};
    return mpi::sum(world(), static_cast<std::int64_t>(set.entities[mesh::index(dim)].intersected(owned).size()));
  };
  const mesh::MeshSet& cells = mesh.set(mesh::SetKind::material, "volume 1");
  EXPECT_EQ(n_owned(cells, mesh::Dim::volume), 6 * 9 * 9 * 3);
  const auto parent = mesh.field<std::int64_t>("parent", mesh::Dim::volume);
  for (const LocalId c : cells.entities[mesh::index(mesh::Dim::volume)])
    EXPECT_EQ(parent.values()[2 * index(c) + 1], 0);
  EXPECT_EQ(n_owned(mesh.set(mesh::SetKind::neumann, "y-"), mesh::Dim::face), 2 * 9 * 9);
  EXPECT_GT(n_owned(mesh.set(mesh::SetKind::neumann, "y+"), mesh::Dim::face), 2 * 9 * 9);
  expect_boundaries(mesh);
  try {
    adapt(mesh, size, {.frozen_sets = {"volume 7"}});
    ADD_FAILURE() << "not refused";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("there is no such set"), std::string::npos) << error.what();
  }
  mesh.validate();
}

/// Initially all cells of a plate are flat.
TEST(Adapt, APlateBecomesOneOfGoodCells) {
  mpi::Context& context = world();
  Mesh made = tet_cube(context, 5, Start::scattered);
  mesh::LocalMesh local = std::move(made).release();
  for (std::size_t i = 2; i < local.coordinates.size(); i += 3) local.coordinates[i] *= 0.15;
  Mesh mesh = mesh::adopt(context, std::move(local));
  EXPECT_GT(adapt(mesh, uniform_size(0.07)).in_range, 0.5);
  const AdaptReport report = adapt(mesh, uniform_size(0.07));
  mesh.validate();
  EXPECT_GT(report.in_range, 0.7);
  EXPECT_GT(report.min_quality, 0.2);
  EXPECT_NEAR(test::measure(mesh, uniform_size(0.07)).volume, 0.15, 1e-13);
}

TEST(Adapt, GhostsAreAsBefore) {
  mpi::Context& context = world();
  Mesh made = tet_cube(context, 6);
  mesh::LocalMesh local = std::move(made).release();
  local.options.ghost_layers = 2;
  Mesh mesh = mesh::adopt(context, std::move(local));
  adapt(mesh, shock(0.2));
  EXPECT_EQ(mesh.ghost_layers(), 2);
  mesh.validate();
}

/// A mesh that already fits the size field hardly changes.
TEST(Adapt, ProgressRisesToTheEnd) {
  for (const double size : {0.05, 0.3}) {
    Mesh mesh = tet_cube(world(), 6);
    std::vector<double> parts;
    adapt(mesh, [&](const std::array<double, 3>&) { return size; },
          {.progress = [&](double part) { parts.push_back(part); }});
    ASSERT_GE(parts.size(), 5U) << size;
    EXPECT_TRUE(std::ranges::is_sorted(parts));
    EXPECT_GE(parts.front(), 0.0);
    EXPECT_GT(parts.back(), 0.9);
    EXPECT_LE(parts.back(), 1.0);
  }
}

TEST(Adapt, ASecondCallHasLittleToDo) {
  Mesh mesh = tet_cube(world(), 14);
  const SizeFunction size = shock(0.09);
  const AdaptReport first = adapt(mesh, size);
  const AdaptReport second = adapt(mesh, size);
  const auto all = [](const AdaptReport& report) {
    return report.collapses.n_made + report.splits.n_made + report.swaps.n_made;
  };
  EXPECT_LE(all(second), all(first) / 20);
}

/// Here edges of boxes are split, and each half is slightly too short.
TEST(Adapt, HalvesOfALatticeDoNotStay) {
  for (const double too_long : {1.33, 1.38}) {
    Mesh mesh = tet_cube(world(), 8);
    const SizeFunction size = [=](const std::array<double, 3>&) { return 0.125 / too_long; };
    adapt(mesh, size);
    mesh.validate();
    const Measured now = measure(mesh, size);
    EXPECT_GE(now.part_in_range, 0.9);
    EXPECT_GE(now.mean_quality, 0.75);
    EXPECT_LE(static_cast<double>(now.n_cells) / now.complexity, 14.0);
    expect_boundaries(mesh);
  }
}

TEST(Adapt, SpheresAnywhereGiveAValidMesh) {
  std::mt19937_64 random(test::seed());
  std::uniform_real_distribution<double> anywhere(0.0, 1.0);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<std::array<double, 4>> spheres(3);
    for (auto& sphere : spheres)
      for (double& x : sphere) x = anywhere(random);
    const double finest = 0.05 + 0.1 * anywhere(random);
    const SizeFunction size = [&](const std::array<double, 3>& x) {
      double h = 0.4;
      for (const auto& s : spheres) {
        const double off = std::abs(std::hypot(x[0] - s[0], x[1] - s[1], x[2] - s[2]) - 0.4 * s[3]);
        h = std::min(h, finest + 0.5 * off);
      }
      return h;
    };
    Mesh mesh = tet_cube(world(), 7, repeat == 0 ? Start::scattered : Start::boxes);
    for (int step = 0; step < 2; ++step) {
      adapt(mesh, size);
      mesh.validate();
      const Measured now = measure(mesh, size);
      EXPECT_NEAR(now.volume, 1.0, 1e-12);
      EXPECT_GE(now.min_quality, 0.3);
      expect_boundaries(mesh);
    }
  }
}

}  // namespace
}  // namespace barrio::adapt
