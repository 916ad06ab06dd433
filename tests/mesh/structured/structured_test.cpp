#include "barrio/mesh/structured.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "barrio/mesh/box_halo.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;
using Place = std::array<std::int64_t, 3>;

constexpr std::array all_decompositions{Decomposition::alljorkori, Decomposition::alljkbal, Decomposition::sqij,
                                        Decomposition::sqjk, Decomposition::sqijk};

/// The general mesh resolves the same boxes by messages, and must find the same sharers, owners and ids.
TEST(Structured, SharingEqualsThatOfTheGeneralMesh) {
  for (const Decomposition decomposition : all_decompositions) {
    SCOPED_TRACE(name(decomposition));
    const StructuredMesh blocks(world(), {.n = {9, 10, 11}, .decomposition = decomposition, .ghost_layers = 1});
    blocks.validate();
    const auto [a, b, c] = blocks.grid();
    EXPECT_LE(a * b * c, world().size());
    if (a * b * c < world().size()) continue;  // then parts go to ranks in slices
    const Mesh mesh(world(), blocks.to_tables(), {.ghost_layers = 1});
    ASSERT_EQ(static_cast<std::int64_t>(mesh.n_owned(Dim::volume)), blocks.own_cells().size());
    EXPECT_EQ(static_cast<std::int64_t>(mesh.n_local(Dim::volume)), blocks.local_cells().size());
    EXPECT_EQ(static_cast<std::int64_t>(mesh.vertices().shared.size()), blocks.n_shared_vertices());
    std::map<GlobalId, std::pair<Rank, std::vector<Rank>>> expected;
    for (std::size_t s = 0; s < mesh.vertices().shared.size(); ++s) {
      const auto ranks = mesh.vertices().sharers_of(s);
      const std::size_t v = index(mesh.vertices().shared[s]);
      expected[mesh.vertices().global_ids[v]] = {mesh.vertices().owners[v], {ranks.begin(), ranks.end()}};
    }
    const IndexBox box = blocks.own_vertices();
    for (std::int64_t v = 0; v < box.size(); ++v) {
      std::array<Rank, 8> ranks{};
      const int n = blocks.sharers(box.at(v), ranks);
      const auto found = expected.find(blocks.vertex_id(box.at(v)));
      if (found == expected.end()) {
        EXPECT_EQ(n, 1);
        EXPECT_EQ(blocks.owner(box.at(v)), world().rank());
      } else {
        EXPECT_EQ(found->second.second, std::vector<Rank>(ranks.begin(), ranks.begin() + n));
        EXPECT_EQ(found->second.first, blocks.owner(box.at(v)));
      }
    }
    // Corners and coordinates.
    const std::vector<double> x = blocks.make_coordinates();
    std::map<GlobalId, std::array<double, 3>> position;
    for (std::size_t v = 0; v < mesh.vertices().size(); ++v)
      for (std::size_t k = 0; k < 3; ++k)
        position[mesh.vertices().global_ids[v]][k] = mesh.vertices().coordinates[3 * v + k];
    for (std::size_t cell = 0; cell < mesh.cells().n_owned; ++cell) {
      const Place at = blocks.all_cells().at(value(mesh.cells().global_ids[cell]));
      const auto corners = blocks.corners(at);
      const auto nodes = mesh.cells().nodes_of(cell);
      for (std::size_t i = 0; i < 8; ++i) {
        const GlobalId id = mesh.vertices().global_ids[index(nodes[i])];
        EXPECT_EQ(blocks.vertex_id(box.at(corners[i])), id);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(x[static_cast<std::size_t>(3 * corners[i]) + k], position[id][k]);
      }
    }
  }
}

TEST(Structured, GhostsHoldWhatTheirOwnersHaveAcrossPeriodicEndsToo) {
  for (const Decomposition decomposition : all_decompositions) {
    for (const std::array<bool, 3> is_periodic :
         {std::array{false, false, false}, {true, false, false}, {true, true, true}}) {
      for (const int layers : {0, 1}) {
        const StructuredMesh blocks(
            world(),
            {.n = {8, 9, 10}, .is_periodic = is_periodic, .decomposition = decomposition, .ghost_layers = layers});
        blocks.validate();
        std::vector<double> values(2 * blocks.local_cells().size(), -1.0);
        for (std::int64_t c = 0; c < blocks.own_cells().size(); ++c) {
          const Place at = blocks.own_cells().at(c);
          const auto place = static_cast<std::size_t>(2 * blocks.local_cells().place(at));
          values[place] = static_cast<double>(value(blocks.cell_id(at)));
          values[place + 1] = 0.5;
        }
        blocks.exchange(std::span<double>(values), 2);
        for (std::int64_t c = 0; c < blocks.local_cells().size(); ++c) {
          EXPECT_EQ(values[static_cast<std::size_t>(2 * c)], value(blocks.cell_id(blocks.local_cells().at(c))));
          EXPECT_EQ(values[static_cast<std::size_t>(2 * c + 1)], 0.5);
        }
      }
    }
  }
}

TEST(Structured, VerticesHaveGhostsByItsLayout) {
  for (const std::array<bool, 3> is_periodic : {std::array{false, false, false}, {true, false, true}}) {
    // Boxes of at least two cells, on up to eight ranks: thinner ones would lack cells that vertices need.
    const StructuredMesh blocks(world(), {.n = {15, 16, 17}, .is_periodic = is_periodic, .ghost_layers = 1});
    const BoxHaloOptions options{.ghosts = 1, .has_outside = false};
    const std::size_t n_boxes = blocks.layout()->boxes().size();
    const IndexBox all =
        n_boxes == 0 ? IndexBox{} : places_with_ghosts(*blocks.layout(), 0, Centering::vertex, options);
    const IndexBox own = blocks.own_vertices();
    std::vector<std::int64_t> ids(all.size(), -1);
    for (std::int64_t v = 0; v < own.size(); ++v) ids[all.place(own.at(v))] = value(blocks.vertex_id(own.at(v)));
    const std::vector<std::span<std::int64_t>> spans(n_boxes, ids);
    BoxHalo<3> halo(blocks.layout(), {BoxField::by_place<std::int64_t>(Centering::vertex, spans)}, options);
    halo.exchange();
    for (std::int64_t v = 0; v < all.size(); ++v) {
      Place at = all.at(v);
      for (std::size_t k = 0; k < 3; ++k)
        if (is_periodic[k]) at[k] = (at[k] + blocks.options().n[k]) % blocks.options().n[k];
      EXPECT_EQ(ids[v], value(blocks.vertex_id(at)));
    }
  }
}

TEST(Structured, VerticesStandWhereTheAxesSay) {
  const StructuredMesh blocks(world(), {.n = {2, 3, 2}, .along = {{{0, 1, 5}, {9, 8, 6, 0}, {}}}});
  blocks.validate();
  const IndexBox box = blocks.own_vertices();
  const std::vector<double> x = blocks.make_coordinates();
  for (std::int64_t v = 0; v < box.size(); ++v) {
    const auto [i, j, k] = box.at(v);
    const std::array<double, 3> expected{std::array{0.0, 1.0, 5.0}[i], std::array{9.0, 8.0, 6.0, 0.0}[j],
                                         0.5 * static_cast<double>(k)};
    EXPECT_EQ(blocks.coordinates({i, j, k}), expected);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), x.begin() + 3 * v));
  }
  // Converted to tables with positively oriented hexes, although one axis descends.
  const MeshTables tables = blocks.to_tables();
  validate(world(), tables, "the box");
  std::int64_t row = tables.vertices.first(world().rank());
  for (std::size_t at = 0; at < tables.coordinates.size(); at += 3, ++row)
    EXPECT_EQ((std::array{tables.coordinates[at], tables.coordinates[at + 1], tables.coordinates[at + 2]}),
              blocks.coordinates(blocks.all_vertices().at(row)));
  if (world().rank() == 0) {
    EXPECT_EQ(tables.blocks[0].cell(0)[0], GlobalId{12});
  }
}

TEST(Structured, PlacesThatAreNoAxisAreRefused) {
  const auto refused = [](std::vector<double> places) -> std::string {
    try {
      const StructuredMesh blocks(world(), {.n = {3, 1, 1}, .along = {{std::move(places), {}, {}}}});
    } catch (const AgreedError& error) {
      return error.subject() + " " + error.cause();
    }
    return "";
  };
  EXPECT_EQ(refused({0, 1, 2}), "3 places along axis 0 must be one for each of the 4 vertices there");
  const std::string no_axis = "places along axis 0 must be finite numbers that strictly ascend or strictly descend";
  EXPECT_EQ(refused({0, 1, 1, 2}), no_axis);
  EXPECT_EQ(refused({0, 1, 2, 1}), no_axis);
  EXPECT_EQ(refused({0, 1, NAN, 3}), no_axis);
  EXPECT_EQ(refused({3, 2, 1, -INFINITY}), no_axis);
  EXPECT_EQ(refused({3, 2, 1, 0}), "");
}

TEST(Structured, EveryCellAndVertexIsOwnedOnce) {
  for (const Decomposition decomposition : all_decompositions) {
    const StructuredMesh blocks(world(),
                                {.n = {5, 6, 7}, .is_periodic = {false, true, false}, .decomposition = decomposition});
    EXPECT_EQ(mpi::sum(world(), blocks.own_cells().size()), 5 * 6 * 7);
    std::int64_t n_owned = 0;
    const IndexBox box = blocks.own_vertices();
    std::set<GlobalId> seen;  // a rank with the whole of a periodic axis has its ends twice
    for (std::int64_t v = 0; v < box.size(); ++v)
      if (blocks.owner(box.at(v)) == world().rank() && seen.insert(blocks.vertex_id(box.at(v))).second) ++n_owned;
    EXPECT_EQ(mpi::sum(world(), n_owned), 6 * 6 * 8);
  }
}

TEST(Structured, DecompositionsCutAsTheirNamesSay) {
  const auto grid = [](Decomposition decomposition, Place n) {
    return StructuredMesh(world(), {.n = n, .decomposition = decomposition}).grid();
  };
  const int p = world().size();
  EXPECT_EQ(grid(Decomposition::alljorkori, {20, 20, 20}), (std::array{1, p, 1}));
  if (p > 1) {
    EXPECT_EQ(grid(Decomposition::alljorkori, {20, 1, 20}), (std::array{1, 1, p}));
  }
  EXPECT_EQ(grid(Decomposition::sqij, {20, 20, 20})[2], 1);
  EXPECT_EQ(grid(Decomposition::sqjk, {20, 20, 20})[0], 1);
  EXPECT_EQ(grid(Decomposition::alljkbal, {20, 20, 20})[0], 1);
  if (p == 8) {
    EXPECT_EQ(grid(Decomposition::sqijk, {20, 20, 20}), (std::array{2, 2, 2}));
    EXPECT_EQ(grid(Decomposition::sqijk, {80, 4, 4}), (std::array{8, 1, 1}));
    EXPECT_EQ(grid(Decomposition::alljkbal, {4, 60, 30}), (std::array{1, 4, 2}));
    EXPECT_EQ(grid(Decomposition::sqjk, {4, 80, 20}), (std::array{1, 2, 4}));
  }
  EXPECT_EQ(grid(Decomposition::sqijk, {1, 1, 1}), (std::array{1, 1, 1})) << "ranks without a box are empty";
  EXPECT_EQ(decomposition_of("sqjk"), Decomposition::sqjk);
  EXPECT_THROW(static_cast<void>(decomposition_of("sqkj")), Error);
}

TEST(Structured, RefusesWhatMakesNoSense) {
  EXPECT_THROW(StructuredMesh(world(), {.n = {0, 1, 1}}), AgreedError);
  EXPECT_THROW(StructuredMesh(world(), {.n = {4, 4, 4}, .ghost_layers = -1}), AgreedError);
  EXPECT_THROW(StructuredMesh(world(), {.n = {4, 4, 4}, .is_periodic = {true, false, false}, .ghost_layers = 5}),
               AgreedError);
  const StructuredMesh periodic(world(), {.n = {4, 4, 4}, .is_periodic = {true, false, false}});
  EXPECT_THROW(static_cast<void>(periodic.to_tables()), AgreedError);
}

}  // namespace
}  // namespace barrio::mesh
