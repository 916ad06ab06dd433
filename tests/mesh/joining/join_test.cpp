#include "barrio/mesh/join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::WholeMesh;
using test::world;

/// Make a box of unit cells with the given lower corner.
MeshTables block(std::array<double, 3> low, std::array<std::int64_t, 3> n, bool tets = false) {
  std::array<double, 3> high{};
  for (std::size_t k = 0; k < 3; ++k) high[k] = low[k] + static_cast<double>(n[k]);
  return make_box(world(), {.n = n, .low = low, .high = high, .tets = tets});
}

/// Move a piece's vertices, in the same way on any rank count.
template <class Move>
MeshTables moved(MeshTables tables, Move&& move) {
  for (std::size_t i = 0; i < tables.coordinates.size() / 3; ++i)
    move(tables.vertices.first(world().rank()) + static_cast<std::int64_t>(i), &tables.coordinates[3 * i]);
  return tables;
}

std::uint64_t checksum_of(MeshTables tables) {
  if (tables.n_parts == 0) partition_cells(world(), tables, 3);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  mesh.validate();
  return mesh.checksum();
}

/// Serial reference: vertices of different pieces within the tolerance become one, also along chains.
struct SerialJoin {
  std::vector<std::array<double, 3>> vertices;  // the remaining ones
  std::vector<WholeMesh::Cell> cells;

  SerialJoin(const std::vector<MeshTables>& pieces, double tolerance) {
    struct Vertex {
      std::array<double, 3> x;
      std::size_t piece;
      std::size_t lowest;
    };
    std::vector<Vertex> all;
    std::vector<std::size_t> first;
    std::vector<WholeMesh> whole;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      whole.emplace_back(world(), pieces[p]);
      first.push_back(all.size());
      for (const auto& x : whole.back().vertices) all.push_back({x, p, all.size()});
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (Vertex& a : all) {
        for (Vertex& b : all) {
          const double d = std::hypot(a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]);
          if (a.piece == b.piece || d > tolerance || a.lowest >= b.lowest) continue;
          b.lowest = a.lowest;
          changed = true;
        }
      }
    }
    std::vector<std::int64_t> row(all.size(), -1);
    for (std::size_t v = 0; v < all.size(); ++v) {
      if (all[v].lowest == v) {
        row[v] = vertices.size();
        vertices.push_back(all[v].x);
      } else {
        row[v] = row[all[v].lowest];
      }
    }
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      for (WholeMesh::Cell cell : whole[p].cells) {
        for (std::int64_t& node : cell.nodes) node = row[first[p] + static_cast<std::size_t>(node)];
        cells.push_back(cell);
      }
    }
  }
};

void expect_joined(const std::vector<MeshTables>& pieces, double tolerance) {
  const SerialJoin expected(pieces, tolerance);
  const Joined joined = join(world(), pieces, {.tolerance = tolerance});
  validate(world(), joined.tables, "joined");
  const WholeMesh found(world(), joined.tables);
  EXPECT_EQ(joined.report.n_vertices, static_cast<std::int64_t>(expected.vertices.size()));
  ASSERT_EQ(found.vertices.size(), expected.vertices.size());
  for (std::size_t v = 0; v < found.vertices.size(); ++v) EXPECT_EQ(found.vertices[v], expected.vertices[v]);
  ASSERT_EQ(found.cells.size(), expected.cells.size());
  for (std::size_t c = 0; c < found.cells.size(); ++c) EXPECT_EQ(found.cells[c].nodes, expected.cells[c].nodes);
}

TEST(Join, BlocksSideBySideEqualTheSerialOracle) {
  expect_joined({block({0, 0, 0}, {3, 2, 2}), block({3, 0, 0}, {2, 2, 2}), block({0, 2, 0}, {3, 3, 2}),
                 block({3, 2, 0}, {2, 3, 2})},
                1e-6);
  expect_joined({block({-2, -2, -2}, {2, 2, 2}, true), block({0, -2, -2}, {2, 2, 2}, true)}, 0.0);
  expect_joined({block({0, 0, 0}, {1, 1, 1}), block({5, 5, 5}, {1, 1, 1})}, 1e-3);  // far apart
  expect_joined({block({0, 0, 0}, {2, 1, 1})}, 1e-3);                               // alone
}

TEST(Join, PiecesFarFromTheOriginAndPointsEqualTheSerialOracle) {
  // Without a tolerance the cells of the search grid are tiny, and far from the origin their indices exceed 64 bits.
  const auto far = [](MeshTables piece) {
    return moved(std::move(piece), [](std::int64_t, double* x) {
      for (std::size_t k = 0; k < 3; ++k) x[k] = 5e6 + 0.125 * x[k];
    });
  };
  expect_joined({far(block({0, 0, 0}, {2, 2, 2})), far(block({2, 0, 0}, {2, 2, 2}))}, 0.0);
}

TEST(Join, RandomShiftsWithinTheToleranceEqualTheSerialOracle) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 8; ++repeat) {
    const std::uint64_t key = random();
    const double tolerance = repeat % 2 == 0 ? 0.05 : 0.3;
    std::vector<MeshTables> pieces;
    for (int p = 0; p < 4; ++p) {
      const std::array<double, 3> low{2.0 * (p % 2), 2.0 * (p / 2), 0.0};
      pieces.push_back(moved(block(low, {2, 2, 1}), [&](std::int64_t row, double* x) {
        std::mt19937_64 own(key + 1000U * static_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(row));
        std::uniform_real_distribution<double> shift(-0.06, 0.06);
        for (std::size_t k = 0; k < 3; ++k) x[k] += shift(own);
      }));
    }
    expect_joined(pieces, tolerance);
  }
}

TEST(Join, OneBoxInPiecesIsThatBox) {
  // 8 blocks of 4^3 form a box of 8^3, in another order of elements.
  std::vector<MeshTables> pieces;
  for (int p = 0; p < 8; ++p) pieces.push_back(block({4.0 * (p % 2), 4.0 * (p / 2 % 2), 4.0 * (p / 4)}, {4, 4, 4}));
  const Joined joined = join(world(), pieces);
  EXPECT_EQ(joined.report.n_vertices_before, 8 * 125);
  EXPECT_EQ(joined.report.n_vertices, 729);
  EXPECT_EQ(joined.report.joints.size(), 28U) << "each piece touches each other";
  for (const Joint& joint : joined.report.joints) {
    EXPECT_EQ(joint.n_unmatched(), 0);
    EXPECT_EQ(joint.n_ambiguous, 0);
    EXPECT_EQ(joint.n_chained, 0);
    EXPECT_TRUE(joint.is_joined);
  }
  // Sets of equal kind, id and name are merged: the material and six sides, each with the faces of all pieces.
  EXPECT_EQ(joined.tables.sets.size(), 7U);
  EXPECT_EQ(checksum_of(joined.tables), 3333516964820754254U) << "the value of one rank, written down";
}

TEST(Join, ReportsWhatDidNotMatch) {
  // The second block has cells of another size: 3 x 3 vertices meet 4 x 4, and only the corners match.
  const MeshTables coarse = block({0, 0, 0}, {2, 2, 2});
  const MeshTables fine = make_box(world(), {.n = {3, 3, 3}, .low = {2, 0, 0}, .high = {4, 2, 2}});
  const Joined joined = join(world(), {coarse, fine}, {.tolerance = 1e-6});
  ASSERT_EQ(joined.report.joints.size(), 1U);
  const Joint& joint = joined.report.joints[0];
  EXPECT_EQ(joint.n_near, 9 + 16);
  EXPECT_EQ(joint.n_matched, 8);
  EXPECT_EQ(joint.n_unmatched(), 17);
  EXPECT_TRUE(joint.is_joined);
  EXPECT_EQ(joined.report.n_vertices, 27 + 64 - 4);
  const Joined open = join(world(), {coarse, fine}, {.tolerance = 1e-6, .require_conforming = true});
  EXPECT_FALSE(open.report.joints[0].is_joined);
  EXPECT_EQ(open.report.n_vertices, 27 + 64);
}

TEST(Join, AllOrNothingHoldsForEachJoint) {
  const MeshTables left = block({0, 0, 0}, {2, 2, 2});
  const MeshTables middle = block({2, 0, 0}, {2, 2, 2});
  const MeshTables right = make_box(world(), {.n = {3, 3, 3}, .low = {4, 0, 0}, .high = {6, 2, 2}});
  const Joined joined = join(world(), {left, middle, right}, {.tolerance = 1e-6, .require_conforming = true});
  ASSERT_EQ(joined.report.joints.size(), 2U);
  EXPECT_TRUE(joined.report.joints[0].is_joined);
  EXPECT_FALSE(joined.report.joints[1].is_joined);
  EXPECT_EQ(joined.report.n_vertices, 27 + 27 - 9 + 64);
}

TEST(Join, ToleranceMayDifferFromJointToJoint) {
  const MeshTables left = block({0, 0, 0}, {1, 1, 1});
  const MeshTables middle = block({1.01, 0, 0}, {1, 1, 1});
  const MeshTables right = block({2.02, 0, 0}, {1, 1, 1});
  const Joined joined = join(world(), {left, middle, right}, {.tolerance = 1e-6, .joints = {{2, 1, 0.02}}});
  EXPECT_EQ(joined.report.n_vertices, 24 - 4);
  ASSERT_EQ(joined.report.joints.size(), 1U) << "left and middle do not come near each other";
  EXPECT_NEAR(joined.report.joints[0].max_gap, 0.01, 1e-12);
  const Joined missed = join(world(), {left, middle, right}, {.tolerance = 0.006});
  EXPECT_EQ(missed.report.n_vertices, 24);
  ASSERT_EQ(missed.report.joints.size(), 2U);
  EXPECT_NEAR(missed.report.joints[0].nearest_miss, 0.01, 1e-12) << "what tolerance would have done";
}

TEST(Join, ReportsAmbiguousAndChainedMatches) {
  // The other piece has two boxes, whose ends are on both sides of this one's face and within its tolerance.
  const MeshTables one = make_box(world(), {.n = {1, 1, 1}});
  const MeshTables near = make_box(world(), {.n = {1, 1, 1}, .low = {0.97, 0.0, 0.0}, .high = {2.0, 1.0, 1.0}});
  const MeshTables far = make_box(world(), {.n = {1, 1, 1}, .low = {1.03, 0.0, 0.0}, .high = {2.1, 1.0, 1.0}});
  const MeshTables two = join(world(), {near, far}, {.tolerance = 1e-9}).tables;
  ASSERT_EQ(two.vertices.n_rows, 16);
  const Joined joined = join(world(), {one, two}, {.tolerance = 0.05});
  const Joint& joint = joined.report.joints[0];
  EXPECT_EQ(joint.n_matched, 12);
  EXPECT_EQ(joint.n_ambiguous, 4);
  EXPECT_EQ(joint.n_chained, 8) << "those of the two boxes are 0.06 apart";
  EXPECT_EQ(joined.report.n_vertices, 16);
  const Joined open = join(world(), {one, two}, {.tolerance = 0.05, .require_conforming = true});
  EXPECT_EQ(open.report.n_vertices, 24);
}

/// Return the message with which `join` refuses a tolerance, or "".
std::string refusal(const std::vector<MeshTables>& pieces, const JoinOptions& options) {
  try {
    (void)join(world(), pieces, options);
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::differs);
    return error.what();
  }
  return {};
}

TEST(Join, RefusesTolerancesThatCollapseCells) {
  // Cells of length 0.1, tolerance 0.07: each line would collapse to one vertex. 8 hexes, and 12 listed faces per box.
  const MeshTables low = make_box(world(), {.n = {4, 1, 1}, .high = {0.4, 1.0, 1.0}});
  const MeshTables high = make_box(world(), {.n = {4, 1, 1}, .low = {0.05, 1.0, 0.0}, .high = {0.45, 2.0, 1.0}});
  const std::string text = refusal({low, high}, {.tolerance = 0.07});
  EXPECT_NE(
      text.find("tolerance 0.07: is too wide: 32 cells and listed sides would lose corners, the first in piece 0"),
      std::string::npos)
      << text;
  // Cells of a single piece.
  EXPECT_NE(refusal({low}, {.tolerance = 0.11, .within_pieces = true}).find("would lose corners"), std::string::npos);
  EXPECT_EQ(refusal({low}, {.tolerance = 0.09, .within_pieces = true}), "");
}

TEST(Join, TakesNoLongerForAWideTolerance) {
  const std::vector<MeshTables> pieces{block({0, 0, 0}, {24, 24, 24}), block({24, 0, 0}, {24, 24, 24})};
  for (const double tolerance : {1.5, 3.0, 6.0, 24.0, 1e6}) {
    const double begin = MPI_Wtime();
    const std::string text = refusal(pieces, {.tolerance = tolerance});
    EXPECT_NE(text.find("is too wide"), std::string::npos) << tolerance << ": " << text;
    EXPECT_LT(MPI_Wtime() - begin, 20.0) << "each pair of the vertices would be looked at";
  }
}

TEST(Join, MergesWithinAPieceWhenAsked) {
  // One file with two unmerged blocks, made by a join that merges nothing.
  const std::vector<MeshTables> pieces{block({0, 0, 0}, {2, 2, 2}), block({2, 0, 0}, {2, 2, 2})};
  MeshTables unmerged = join(world(), pieces, {.joints = {{0, 1, 0.0}}, .require_conforming = false}).tables;
  EXPECT_EQ(unmerged.vertices.n_rows, 45);
  unmerged =
      join(world(), {pieces[0], moved(pieces[1], [](std::int64_t, double* x) { x[0] += 1e-5; })}, {.tolerance = 1e-9})
          .tables;
  EXPECT_EQ(unmerged.vertices.n_rows, 54);
  const Joined merged = join(world(), {unmerged}, {.tolerance = 1e-4, .within_pieces = true});
  EXPECT_EQ(merged.report.n_vertices, 45);
  EXPECT_EQ(merged.report.joints.at(0).n_matched, 18);
}

TEST(Join, PartsTagsAndMembersFollow) {
  std::vector<MeshTables> pieces{block({0, 0, 0}, {3, 2, 2}), block({3, 0, 0}, {2, 2, 2})};
  for (std::size_t p = 0; p < 2; ++p) {
    partition_cells(world(), pieces[p], 2);
    TagTable tag{.info = {.name = "x", .type = TagType::float64, .n_components = 1}};
    tag.columns.push_back({.block = -1});
    for (std::size_t i = 0; i < pieces[p].coordinates.size(); i += 3)
      tag.columns[0].items.add(std::as_bytes(std::span(&pieces[p].coordinates[i], 1)), false);
    tag.columns.push_back({.block = 0});
    for (const GlobalId id : top_ids(world(), pieces[p])) {
      const auto number = static_cast<double>(100 * static_cast<std::int64_t>(p) + value(id));
      tag.columns[1].items.add(std::as_bytes(std::span(&number, 1)), false);
    }
    pieces[p].tags.push_back(tag);
    const auto vertices = static_cast<std::int32_t>(pieces[p].sets.size());
    pieces[p].sets.push_back({.kind = SetKind::dirichlet, .id = 1, .name = "all"});
    if (world().rank() == 0) pieces[p].members.push_back({vertices, Dim::vertex, 0, pieces[p].vertices.n_rows});
  }
  const Joined joined = join(world(), pieces, {.tolerance = 1e-6});
  EXPECT_EQ(joined.tables.n_parts, 4);
  Mesh mesh(world(), joined.tables, {.ghost_layers = 1});
  mesh.validate();
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
    double x = 0.0;
    std::memcpy(&x, mesh.tag("x").value(Dim::vertex, local_id(v)).data(), sizeof x);
    EXPECT_EQ(x, mesh.vertices().coordinates[3 * v]);
  }
  for (std::size_t c = 0; c < mesh.n_local(Dim::volume); ++c) {
    double number = 0.0;
    std::memcpy(&number, mesh.tag("x").value(Dim::volume, local_id(c)).data(), sizeof number);
    const std::int64_t id = value(mesh.cells().global_ids[c]);
    EXPECT_EQ(number, static_cast<double>(id < 12 ? id : 100 + id - 12));
    EXPECT_EQ(mesh.cell_parts()[c] < 2, id < 12);
  }
  EXPECT_EQ(mesh.set(SetKind::dirichlet, "all").vertices.size(), mesh.n_local(Dim::vertex));
}

TEST(Join, RefusesWhatMakesNoSense) {
  const MeshTables one = block({0, 0, 0}, {1, 1, 1});
  EXPECT_THROW(static_cast<void>(join(world(), {})), AgreedError);
  EXPECT_THROW(static_cast<void>(join(world(), {one, one}, {.tolerance = std::nan("")})), AgreedError);
  EXPECT_THROW(static_cast<void>(join(world(), {one, one}, {.joints = {{0, 2, 1.0}}})), AgreedError);
  EXPECT_THROW(static_cast<void>(join(world(), {one, one}, {.joints = {{0, 1, -1.0}}})), AgreedError);
}

}  // namespace
}  // namespace barrio::mesh
