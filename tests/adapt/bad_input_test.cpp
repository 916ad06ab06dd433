#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

// One message on all ranks, and an unchanged mesh.

namespace barrio::adapt {
namespace {

using mesh::Mesh;
using test::tet_cube;
using test::world;

void expect_refused(Mesh& mesh, const SizeFunction& size, ErrorCode code, const std::string& text) {
  const std::uint64_t before = mesh.checksum();
  try {
    adapt(mesh, size);
    ADD_FAILURE() << "not refused: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
  EXPECT_EQ(mesh.checksum(), before);
  mesh.validate();
}

TEST(AdaptBadInput, OtherCellsAreNamed) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {3, 3, 3}, .parts = {std::min(world().size(), 3), 1, 1}});
  Mesh hexes(world(), tables);
  expect_refused(hexes, test::shock(0.1), ErrorCode::usage, "a hex of 8 nodes");
}

TEST(AdaptBadInput, WhatCannotBeKeptIsNamed) {
  Mesh mesh = tet_cube(world(), 14);
  const auto flux = mesh.add_field<double>("flux", mesh::Dim::face);
  for (std::size_t f = 0; f < mesh.n_owned(mesh::Dim::face); ++f)
    flux.values()[f] = static_cast<double>(value(mesh.entities(mesh::Dim::face).id(f)));
  mesh.add_field<std::int32_t>("side", mesh::Dim::face);
  mesh.add_field<double>("pressure", mesh::Dim::vertex);
  const std::string name = "field 'flux' on faces, with more than 1000 different values";
  expect_refused(mesh, test::shock(0.2), ErrorCode::usage, name);
  const AdaptReport report = adapt(mesh, test::shock(0.2), {.leaves_out = true});
  EXPECT_EQ(report.left_out, std::vector<std::string>{name});
  mesh.validate();
  ASSERT_EQ(mesh.fields().size(), 2);
  EXPECT_EQ(mesh.fields()[0]->name, "pressure");
  EXPECT_EQ(mesh.fields()[1]->name, "side");
}

TEST(AdaptBadInput, ASizeThatIsNone) {
  Mesh mesh = tet_cube(world(), 3);
  for (const double h : std::array{0.0, -1.0, std::nan(""), HUGE_VAL})
    expect_refused(
        mesh, [h](const std::array<double, 3>& x) { return x[2] > 0.9 ? h : 0.1; }, ErrorCode::bad_input,
        "must be above 0 and finite");
}

TEST(AdaptBadInput, ASizeThatThrowsOnOneRank) {
  Mesh mesh = tet_cube(world(), 4);
  const SizeFunction size = [](const std::array<double, 3>&) -> double {
    if (world().rank() == world().size() - 1)
      throw Error(ErrorCode::failed, {.subject = "size", .cause = "is not known here"});
    return 0.3;
  };
  expect_refused(mesh, size, ErrorCode::failed, "is not known here");
}

TEST(AdaptBadInput, PayloadsThatThrow) {
  const bool is_last = world().rank() == world().size() - 1;
  Mesh mesh = tet_cube(world(), 4);
  const std::uint64_t before = mesh.checksum();
  const std::size_t n_tags = mesh.tags().size();
  int n_unpacked = 0;
  mesh::Payload payload{.dim = mesh::Dim::volume,
                        .pack = [](LocalId, std::vector<std::byte>&) {},
                        .unpack = [&](LocalId, std::span<const std::byte>) { n_unpacked += 1; }};
  const auto expect_thrown = [&](const std::vector<mesh::Payload>& payloads, double h, const std::string& text) {
    try {
      adapt(mesh, [h](const std::array<double, 3>&) { return h; }, {.payloads = payloads});
      ADD_FAILURE() << "not refused: " << text;
    } catch (const AgreedError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
    EXPECT_EQ(mesh.tags().size(), n_tags);
    mesh.validate();
  };
  expect_thrown({payload}, -1.0, "must be above 0");
  EXPECT_EQ(n_unpacked, mesh.n_local(mesh::Dim::volume)) << "cells may be elsewhere";
  mesh::Payload other = payload;
  other.dim = mesh::Dim::face;
  expect_thrown({other}, 0.3, "payload on dimension 2");
  if (world().size() > 1)
    expect_thrown({is_last ? std::vector{payload} : std::vector<mesh::Payload>()}, 0.3, "payloads");
  other = payload;
  other.pack = [&](LocalId, std::vector<std::byte>&) {
    if (is_last) throw std::runtime_error("no ink left");
  };
  expect_thrown({other}, 0.3, "no ink left");
  EXPECT_EQ(mesh.checksum(), before);
  other = payload;
  other.unpack = [&](LocalId, std::span<const std::byte>) {
    if (is_last) throw std::runtime_error("no paper left");
  };
  expect_thrown({other}, 0.3, "no paper left");
  EXPECT_NE(mesh.checksum(), before) << "it is the adapted one";
}

/// The size function is valid at the initial vertices and throws at new ones: rounds end, and the mesh is sound.
TEST(AdaptBadInput, ASizeThatThrowsAtNewVertices) {
  Mesh mesh = tet_cube(world(), 4);
  const SizeFunction size = [](const std::array<double, 3>& x) -> double {
    // Multiples of 1/16: corners of boxes, and midpoints of their tets.
    if (std::ranges::any_of(x, [](double one) { return std::abs(one * 16 - std::round(one * 16)) > 1e-9; }))
      throw Error(ErrorCode::failed, {.subject = "size", .cause = "is not known here"});
    return 0.05;
  };
  try {
    adapt(mesh, size);
    ADD_FAILURE() << "not refused";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("is not known here"), std::string::npos) << error.what();
  }
  mesh.validate();
  EXPECT_GT(mesh.n_global(mesh::Dim::volume), 6 * 64);
  EXPECT_NEAR(test::measure(mesh, uniform_size(0.05)).volume, 1.0, 1e-12);
}

TEST(AdaptBadInput, SizesInAFieldThatAreNone) {
  Mesh mesh = tet_cube(world(), 3);
  const auto expect = [&](const std::string& name, ErrorCode code, const std::string& text) {
    const std::uint64_t before = mesh.checksum();
    try {
      adapt(mesh, name);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
    EXPECT_EQ(mesh.checksum(), before);
  };
  mesh.add_field<double>("zero", mesh::Dim::vertex);
  mesh.add_field<std::int32_t>("whole", mesh::Dim::vertex);
  mesh.add_field<double>("pair", mesh::Dim::vertex, 2);
  expect("h", ErrorCode::usage, "is neither a field nor a tag on the vertices");
  expect("zero", ErrorCode::bad_input, "wanted size 0 at");
  expect("whole", ErrorCode::usage, "has integers");
  expect("pair", ErrorCode::usage, "more than one number");
}

TEST(AdaptBadInput, SizesThatNeedTooManyCells) {
  Mesh mesh = tet_cube(world(), 3);
  expect_refused(mesh, uniform_size(1e-4), ErrorCode::usage, "need about 1.2e+13 cells");
}

/// That would allow flat cells, and walks around their edges would not end.
TEST(AdaptBadInput, NoQualityAtAllGivesASoundMesh) {
  Mesh mesh = tet_cube(world(), 6);
  const AdaptReport report = adapt(mesh, uniform_size(0.12), {.min_quality = 0});
  EXPECT_GT(report.min_quality, 1e-3);
  mesh.validate();
  EXPECT_NEAR(test::measure(mesh, uniform_size(0.12)).volume, 1.0, 1e-12);
}

TEST(AdaptBadInput, CoordinatesBeyondWhatCanBeComputed) {
  for (const double factor : {1e60, 1e-60}) {
    mpi::Context& context = world();
    Mesh made = tet_cube(context, 3);
    mesh::LocalMesh local = std::move(made).release();
    for (double& x : local.coordinates) x *= factor;
    Mesh mesh = mesh::adopt(context, std::move(local));
    expect_refused(mesh, uniform_size(factor), ErrorCode::bad_input, "must be from 1e-37 to 1e37");
  }
}

TEST(AdaptBadInput, AParentFieldThatIsThere) {
  Mesh mesh = tet_cube(world(), 3);
  mesh.add_field<std::int64_t>("parent", mesh::Dim::volume);
  try {
    adapt(mesh, uniform_size(0.3), {.parent_field = "parent"});
    ADD_FAILURE() << "not refused";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("a field on cells of that name"), std::string::npos) << error.what();
  }
}

TEST(AdaptBadInput, NoTimeGivesASoundMesh) {
  Mesh mesh = tet_cube(world(), 5);
  const AdaptReport report = adapt(mesh, test::shock(0.05), {.max_seconds = 0});
  EXPECT_FALSE(report.is_complete);
  mesh.validate();
  EXPECT_NEAR(test::measure(mesh, test::shock(0.05)).volume, 1.0, 1e-12);
}

/// Two tets that share an edge and nothing else.
TEST(AdaptBadInput, ABoundaryThatIsNoSurface) {
  mpi::Context& context = world();
  Mesh made = tet_cube(context, 3, test::Start::on_rank_0);
  mesh::LocalMesh local = std::move(made).release();
  const mesh::LocalEntities& cells = local.entities[mesh::index(mesh::Dim::volume)];
  const auto n_common = [&](std::size_t a, std::size_t b) {
    const auto of_b = cells.nodes_of(b);
    return std::ranges::count_if(cells.nodes_of(a),
                                 [&](LocalId v) { return std::ranges::find(of_b, v) != of_b.end(); });
  };
  for (std::size_t c = 1; c < cells.size(); ++c) {
    if (n_common(0, c) != 2) continue;
    mesh::keep_cells(local, mesh::Range{{LocalId{0}, LocalId{1}}, {local_id(c), local_id(c + 1)}});
    break;
  }
  Mesh mesh = mesh::adopt(context, std::move(local));
  ASSERT_EQ(mesh.n_global(mesh::Dim::volume), 2);
  expect_refused(mesh, test::shock(0.2), ErrorCode::bad_input, "has 4 boundary faces");
}

/// Its corners lie in one plane, and rounding gives a volume of either sign.
TEST(AdaptBadInput, AFlatCellThatRoundingHides) {
  const std::vector<double> coordinates{0,         0,        0,         1234567891, 987654321,  192837465,
                                        735182947, 91827364, 918273645, 1969750838, 1079481685, 1111111110};
  for (const std::vector<std::int64_t>& nodes : {std::vector<std::int64_t>{0, 1, 2, 3}, {0, 2, 1, 3}}) {
    mesh::MeshArrays arrays;
    if (world().rank() == 0) arrays.coordinates = coordinates;
    arrays.cells.push_back({.type = mesh::CellType::tet, .nodes_per_cell = 4});
    if (world().rank() == 0) arrays.cells[0].nodes = nodes;
    Mesh mesh = mesh::mesh_from_arrays(world(), arrays);
    expect_refused(mesh, [](const std::array<double, 3>&) { return 1e9; }, ErrorCode::bad_input, "is flat");
  }
}

TEST(AdaptBadInput, AnInvertedCell) {
  mpi::Context& context = world();
  Mesh made = tet_cube(context, 3);
  mesh::LocalMesh local = std::move(made).release();
  mesh::LocalEntities& cells = local.entities[mesh::index(mesh::Dim::volume)];
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (cells.ids[c] == GlobalId{17}) std::swap(cells.nodes[4 * c], cells.nodes[4 * c + 1]);
  Mesh mesh = mesh::adopt(context, std::move(local));
  expect_refused(mesh, test::shock(0.2), ErrorCode::bad_input, "cell 17");
}

}  // namespace
}  // namespace barrio::adapt
