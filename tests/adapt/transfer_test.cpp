#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

// Data that is carried over when cells change.

namespace barrio::adapt {
namespace {

using mesh::Dim;
using mesh::Mesh;
using test::shock;
using test::Start;
using test::tet_cube;
using test::world;

using Vector = std::array<double, 3>;

Vector place(const Mesh& mesh, LocalId v) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  return {x[3 * index(v)], x[3 * index(v) + 1], x[3 * index(v) + 2]};
}

Vector centre(const Mesh& mesh, std::size_t cell) {
  Vector sum{};
  for (const LocalId v : mesh.cells().nodes_of(cell))
    for (std::size_t k = 0; k < 3; ++k) sum[k] += place(mesh, v)[k] / 4;
  return sum;
}

double linear(const Vector& x, std::size_t component) {
  return component == 0 ? 1 + 2 * x[0] - 3 * x[1] + x[2] : -4 * x[0] + 0.5 * x[2];
}

/// Add fields that record the origin of each vertex and cell.
void add_fields(Mesh& mesh) {
  const auto two = mesh.add_field<double>("two", Dim::vertex, 2);
  const auto one = mesh.add_field<float>("one", Dim::vertex);
  const auto number = mesh.add_field<std::int32_t>("number", Dim::vertex);
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) {
    const Vector x = place(mesh, local_id(v));
    for (std::size_t i = 0; i < 2; ++i) two.values()[2 * v + i] = linear(x, i);
    one.values()[v] = static_cast<float>(linear(x, 0));
    number.values()[v] = static_cast<std::int32_t>(value(mesh.vertices().global_ids[v]) % 5);
  }
  const auto at = mesh.add_field<double>("at", Dim::volume, 3);
  const auto id = mesh.add_field<std::int64_t>("id", Dim::volume);
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    std::ranges::copy(centre(mesh, c), at.values().begin() + static_cast<std::ptrdiff_t>(3 * c));
    id.values()[c] = value(mesh.cells().id(c));
  }
}

std::vector<std::uint64_t> checksums(const Mesh& mesh) {
  std::vector<std::uint64_t> all{mesh.checksum()};
  for (const auto& field : mesh.fields()) all.push_back(mesh.checksum(*field));
  return all;
}

TEST(AdaptTransfer, LinearFunctionsStayWhatTheyAre) {
  Mesh mesh = tet_cube(world(), 8, Start::scattered);
  add_fields(mesh);
  adapt(mesh, shock(0.08));
  mesh.validate();
  const auto two = mesh.field<double>("two", Dim::vertex);
  const auto one = mesh.field<float>("one", Dim::vertex);
  double off = 0.0;
  double off_float = 0.0;
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
    const Vector x = place(mesh, local_id(v));
    for (std::size_t i = 0; i < 2; ++i) off = std::max(off, std::abs(two.values()[2 * v + i] - linear(x, i)));
    off_float = std::max(off_float, std::abs(static_cast<double>(one.values()[v]) - linear(x, 0)));
  }
  EXPECT_LE(off, 1e-12);
  EXPECT_LE(off_float, 1e-6);
}

/// A cell inherits all its data from one nearby cell.
TEST(AdaptTransfer, CellsInheritFromTheOneInWhosePlaceTheyAre) {
  Mesh mesh = tet_cube(world(), 9, Start::boxes, 3);
  adapt(mesh, shock(0.09));
  add_fields(mesh);
  const std::int64_t n_before = mesh.n_global(Dim::volume);
  const SizeFunction moved = [](const Vector& x) { return shock(0.09)({x[0] - 0.05, x[1], x[2]}); };
  const AdaptReport report = adapt(mesh, moved, {.parent_field = "parent"});
  mesh.validate();
  const auto at = mesh.field<double>("at", Dim::volume);
  const auto id = mesh.field<std::int64_t>("id", Dim::volume);
  const auto parent = mesh.field<std::int64_t>("parent", Dim::volume);
  std::int64_t n_unchanged = 0;
  std::int64_t n_distinct = 0;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    EXPECT_EQ(parent.values()[2 * c], id.values()[c] + 1);
    EXPECT_GE(id.values()[c], 0);
    EXPECT_LT(id.values()[c], n_before);
    const Vector x = centre(mesh, c);
    double off = 0.0;
    for (std::size_t k = 0; k < 3; ++k) off = std::max(off, std::abs(at.values()[3 * c + k] - x[k]));
    const bool is_unchanged = parent.values()[2 * c + 1] == 0;
    n_unchanged += is_unchanged ? 1 : 0;
    n_distinct += off > 1e-14 ? 1 : 0;
    EXPECT_LE(off, is_unchanged ? 1e-14 : 0.5) << c;
    // Cells never inherit across a material.
    EXPECT_EQ(static_cast<int>(3 * at.values()[3 * c]), static_cast<int>(3 * x[0])) << x[0];
  }
  EXPECT_EQ(mpi::sum(world(), n_unchanged), report.n_unchanged);
  EXPECT_GT(mpi::sum(world(), n_distinct), 0);
  EXPECT_GT(report.n_unchanged, 0);
}

TEST(AdaptTransfer, TheSameBitsOnAnyRanksFromAnyDistribution) {
  const SizeFunction size = shock(0.11);
  const AdaptOptions options{.parent_field = "parent"};
  const std::vector<std::uint64_t> wanted = test::of_one_rank([&](mpi::Context& alone) {
    Mesh reference = tet_cube(alone, 9);
    add_fields(reference);
    adapt(reference, size, options);
    return checksums(reference);
  });
  for (const Start start : {Start::boxes, Start::on_rank_0, Start::scattered}) {
    Mesh mesh = tet_cube(world(), 9, start);
    add_fields(mesh);
    adapt(mesh, size, options);
    EXPECT_EQ(checksums(mesh), wanted) << static_cast<int>(start);
  }
}

TEST(AdaptTransfer, SizesInAField) {
  const auto run = [](mpi::Context& context, Start start) {
    Mesh mesh = tet_cube(context, 9, start);
    const auto h = mesh.add_field<double>("h", Dim::vertex);
    for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) h.values()[v] = shock(0.09)(place(mesh, local_id(v)));
    const AdaptReport report = adapt(mesh, "h");
    mesh.validate();
    EXPECT_GE(report.in_range, 0.85);
    EXPECT_GE(report.min_quality, 0.3);
    EXPECT_TRUE(report.is_complete);
    return mesh;
  };
  mpi::Context alone(MPI_COMM_SELF);
  const Mesh reference = run(alone, Start::boxes);
  const test::Measured measured = test::measure(reference, shock(0.09));
  EXPECT_GE(measured.part_in_range, 0.8);
  EXPECT_NEAR(measured.volume, 1.0, 1e-12);
  for (const Start start : {Start::boxes, Start::scattered})
    EXPECT_EQ(checksums(run(world(), start)), checksums(reference)) << static_cast<int>(start);
}

/// The report agrees with the mesh, although it uses lengths that it updated while cells changed.
TEST(AdaptTransfer, TheReportSaysWhatTheMeshIs) {
  Mesh mesh = tet_cube(world(), 10);
  const AdaptReport report = adapt(mesh, shock(0.1));
  const test::Measured measured = test::measure(mesh, shock(0.1));
  EXPECT_NEAR(report.min_quality, measured.min_quality, 1e-5);
  EXPECT_NEAR(report.mean_quality, measured.mean_quality, 1e-5);
  EXPECT_NEAR(report.in_range, measured.part_in_range, 0.03);  // edges count once for each cell there
}

mesh::MeshTag tag_of(const std::string& name, mesh::TagType type, bool length_varies = false) {
  mesh::MeshTag tag;
  tag.info = {.name = name, .type = type, .length_varies = length_varies};
  return tag;
}

/// Make a mesh with tags of all kinds, on some cells and vertices.
Mesh with_tags(mpi::Context& context, Start start) {
  Mesh made = tet_cube(context, 7, start);
  mesh::LocalMesh local = std::move(made).release();
  mesh::MeshTag some = tag_of("some", mesh::TagType::int32);
  mesh::MeshTag word = tag_of("word", mesh::TagType::bytes, true);
  mesh::MeshTag warm = tag_of("warm", mesh::TagType::float64);
  mesh::MeshTag knot = tag_of("knot", mesh::TagType::int32);
  const mesh::LocalEntities& cells = local.entities[mesh::index(Dim::volume)];
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto id = static_cast<std::int32_t>(value(cells.ids[c]));
    if (id % 3 == 0) {
      some.on[3].entities.insert(local_id(c));
      some.on[3].items.add(std::as_bytes(std::span(&id, 1)), false);
    }
    const std::string text(id % 4, static_cast<char>('a' + id % 26));
    word.on[3].entities.insert(local_id(c));
    word.on[3].items.add(std::as_bytes(std::span(text)), true);
  }
  for (std::size_t v = 0; v < local.n_vertices(); ++v) {
    const double x = local.coordinates[3 * v];
    warm.on[0].entities.insert(local_id(v));
    warm.on[0].items.add(std::as_bytes(std::span(&x, 1)), false);
    const auto id = static_cast<std::int32_t>(value(local.vertex_ids[v]));
    if (id % 2 != 0) continue;
    knot.on[0].entities.insert(local_id(v));
    knot.on[0].items.add(std::as_bytes(std::span(&id, 1)), false);
  }
  local.tags = {some, word, warm, knot};
  return mesh::adopt(context, std::move(local));
}

/// The field that says what holds vertices has as many of each as the report.
TEST(AdaptTransfer, WhatHoldsVerticesIsAField) {
  Mesh mesh = tet_cube(world(), 6, Start::scattered, 2);
  const AdaptReport report =
      adapt(mesh, [](const Vector&) { return 2.0; }, {.frozen_sets = {"material 2"}, .held_field = "held"});
  mesh.validate();
  const auto held = mesh.field<std::int32_t>("held", Dim::vertex);
  std::array<std::int64_t, 6> n{};
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) n.at(held.values()[v]) += 1;
  mpi::all_reduce(world(), std::span<std::int64_t>(n), MPI_SUM);
  EXPECT_GT(report.edges.n_held_frozen, 0);
  EXPECT_GT(report.edges.n_held_fixed, 0);
  EXPECT_EQ(n[static_cast<std::size_t>(HeldBy::curved)], report.edges.n_held_curved);
  EXPECT_EQ(n[static_cast<std::size_t>(HeldBy::fixed)], report.edges.n_held_fixed);
  EXPECT_EQ(n[static_cast<std::size_t>(HeldBy::frozen)], report.edges.n_held_frozen);
  EXPECT_EQ(n[static_cast<std::size_t>(HeldBy::quality)], report.edges.n_held_by_quality);
}

TEST(AdaptTransfer, TagsGoAlong) {
  Mesh mesh = with_tags(world(), Start::scattered);
  adapt(mesh, shock(0.1), {.parent_field = "parent"});
  mesh.validate();
  const auto parent = mesh.field<std::int64_t>("parent", Dim::volume);
  std::int64_t n_some = 0;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    const auto id = static_cast<std::int32_t>(parent.values()[2 * c] - 1);
    const auto some = mesh.tags()[0].value(Dim::volume, local_id(c));
    ASSERT_EQ(some.size(), id % 3 == 0 ? 4U : 0U);
    EXPECT_TRUE(some.empty() || std::memcmp(some.data(), &id, 4) == 0);
    n_some += some.empty() ? 0 : 1;
    const auto word = mesh.tags()[1].value(Dim::volume, local_id(c));
    ASSERT_EQ(word.size(), static_cast<std::size_t>(id % 4));
    for (const std::byte letter : word) EXPECT_EQ(static_cast<char>(letter), 'a' + id % 26);
  }
  EXPECT_GT(mpi::sum(world(), n_some), 0);
  std::set<std::int32_t> seen;
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) {
    double x = -1;
    std::memcpy(&x, mesh.tags()[2].value(Dim::vertex, local_id(v)).data(), sizeof x);
    EXPECT_NEAR(x, place(mesh, local_id(v))[0], 1e-13);
    const auto knot = mesh.tags()[3].value(Dim::vertex, local_id(v));
    if (knot.empty()) continue;
    std::int32_t id = -1;
    std::memcpy(&id, knot.data(), sizeof id);
    EXPECT_EQ(id % 2, 0);
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 8 * 8 * 8);
    seen.insert(id);
  }
  EXPECT_GT(mpi::sum(world(), static_cast<std::int64_t>(seen.size())), 1);
}

/// Histories that a program keeps: as many entries of a cell as its id says, and one of a vertex.
TEST(AdaptTransfer, PayloadsGoAlong) {
  Mesh mesh = tet_cube(world(), 8, Start::on_rank_0);
  add_fields(mesh);
  const auto history_of = [](std::int64_t id) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < id % 4; ++i) all.push_back(10 * id + i);
    return all;
  };
  std::array<std::vector<std::vector<std::int64_t>>, 2> kept;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) kept[0].push_back(history_of(value(mesh.cells().id(c))));
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v)
    kept[1].push_back({value(mesh.vertices().global_ids[v]) % 5});
  const auto payload = [&](Dim dim, std::vector<std::vector<std::int64_t>>& all) {
    const auto pack = [&all](LocalId id, std::vector<std::byte>& out) {
      const auto bytes = std::as_bytes(std::span(all[index(id)]));
      out.insert(out.end(), bytes.begin(), bytes.end());
    };
    const auto unpack = [&all, &mesh, dim](LocalId id, std::span<const std::byte> bytes) {
      all.resize(mesh.n_local(dim));
      all[index(id)].resize(bytes.size() / sizeof(std::int64_t));
      std::ranges::copy(bytes, std::as_writable_bytes(std::span(all[index(id)])).begin());
    };
    return mesh::Payload{.dim = dim, .pack = pack, .unpack = unpack};
  };
  const std::size_t n_tags = mesh.tags().size();
  for (int step = 0; step < 2; ++step) {
    const SizeFunction size = [step](const Vector& x) { return shock(0.1)({x[0] - 0.1 * step, x[1], x[2]}); };
    adapt(mesh, size, {.payloads = {payload(Dim::volume, kept[0]), payload(Dim::vertex, kept[1])}});
    mesh.validate();
    EXPECT_EQ(mesh.tags().size(), n_tags);
    const auto ids = mesh.field<std::int64_t>("id", Dim::volume);
    const auto numbers = mesh.field<std::int32_t>("number", Dim::vertex);
    kept[0].resize(mesh.n_local(Dim::volume));
    kept[1].resize(mesh.n_local(Dim::vertex));
    for (std::size_t c = 0; c < kept[0].size(); ++c) EXPECT_EQ(kept[0][c], history_of(ids.values()[c])) << c;
    for (std::size_t v = 0; v < kept[1].size(); ++v)
      EXPECT_EQ(kept[1][v], std::vector<std::int64_t>{numbers.values()[v]}) << v;
  }
}

}  // namespace
}  // namespace barrio::adapt
