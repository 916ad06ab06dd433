// Merging vertices by pairs: against a union-find that each rank does for itself.
#include "barrio/mesh/join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/same_tables.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::WholeFile;
using test::world;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Serial reference: the new row of each row, and the rows that stay.
struct Classes {
  std::vector<std::int64_t> lowest;
  std::vector<std::int64_t> new_row;
  std::vector<std::int64_t> kept;

  Classes(std::int64_t n, const Pairs& pairs) : lowest(n), new_row(n) {
    std::iota(lowest.begin(), lowest.end(), std::int64_t{0});
    const auto find = [&](std::int64_t row) {
      while (lowest[row] != row) row = lowest[row];
      return row;
    };
    for (const auto& [a, b] : pairs) {
      const std::int64_t x = find(a);
      const std::int64_t y = find(b);
      lowest[std::max(x, y)] = std::min(x, y);
    }
    for (std::int64_t row = 0; row < n; ++row) {
      lowest[row] = find(row);
      if (lowest[row] == row) kept.push_back(row);
      new_row[row] = lowest[row] == row ? std::ssize(kept) - 1 : new_row[lowest[row]];
    }
  }
};

/// Give each pair to a rank that its number and the seed choose.
std::vector<VertexPair> share(const Pairs& pairs, std::uint64_t key) {
  std::vector<VertexPair> mine;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if ((i * 2654435761U + key) % static_cast<std::uint64_t>(world().size()) ==
        static_cast<std::uint64_t>(world().rank()))
      mine.push_back({GlobalId{pairs[i].first}, GlobalId{pairs[i].second}});
  return mine;
}

/// Replace vertices among the entities that a value names.
void turn_codes(std::vector<std::byte>& bytes, const Classes& classes) {
  for (std::size_t at = 0; at + sizeof(EntityCode) <= bytes.size(); at += sizeof(EntityCode)) {
    EntityCode code{};
    std::memcpy(&code, &bytes[at], sizeof code);
    if (code == EntityCode::none || is_set(code) || dim_of(code) != Dim::vertex) continue;
    code = code_of(Dim::vertex, GlobalId{classes.new_row[row_of(code)]});
    std::memcpy(&bytes[at], &code, sizeof code);
  }
}

/// Merge the vertices of tables and compare with the reference everything that tables hold.
void expect_merged(const MeshTables& before, const Pairs& pairs, std::uint64_t key) {
  const Classes classes(before.vertices.n_rows, pairs);
  WholeFile expected(world(), before);
  std::vector<double> x;
  for (const std::int64_t row : classes.kept)
    x.insert(x.end(), expected.coordinates.begin() + 3 * row, expected.coordinates.begin() + 3 * row + 3);
  expected.coordinates = x;
  for (auto& [type, nodes] : expected.cells)
    for (std::int64_t& node : nodes) node = classes.new_row[node];
  for (auto& members : expected.members) {
    std::set<std::pair<int, std::int64_t>> moved;
    for (const auto& [dim, row] : members) moved.emplace(dim, dim == 0 ? classes.new_row[row] : row);
    members = moved;
  }
  MeshTables after = before;
  const MergedVertices merged = merge_vertices(world(), after, share(pairs, key), "the test");
  EXPECT_EQ(merged.n_merged, before.vertices.n_rows - std::ssize(classes.kept));
  EXPECT_EQ(after.vertices.n_rows, std::ssize(classes.kept));
  for (std::size_t i = 0; i < merged.new_rows.size(); ++i)
    EXPECT_EQ(value(merged.new_rows[i]), classes.new_row[before.vertices.first(world().rank()) + i]);
  validate_all_but_degenerate(world(), after, "the test");
  const WholeFile found(world(), after);
  EXPECT_EQ(found.coordinates, expected.coordinates);
  EXPECT_EQ(found.cells, expected.cells);
  EXPECT_EQ(found.sets, expected.sets);
  EXPECT_EQ(found.members, expected.members);
  EXPECT_EQ(found.parts, expected.parts);
  ASSERT_EQ(after.tags.size(), before.tags.size());
  for (std::size_t t = 0; t < before.tags.size(); ++t) {
    SCOPED_TRACE(before.tags[t].info.name);
    test::TagValues values;
    for (auto& [place, bytes] : test::values_of(before, before.tags[t])) {  // ascending, so the lowest row comes first
      std::vector<std::byte> turned = bytes;
      if (before.tags[t].info.type == TagType::entity) turn_codes(turned, classes);
      values.try_emplace({place.first, place.first < 0 ? classes.new_row[place.second] : place.second}, turned);
    }
    EXPECT_EQ(test::values_of(after, after.tags[t]), values);
    std::vector<std::byte> on_sets = before.tags[t].on_sets.items.bytes;
    if (before.tags[t].info.type == TagType::entity) turn_codes(on_sets, classes);
    EXPECT_EQ(after.tags[t].on_sets.items.bytes, on_sets);
  }
}

TEST(MergeVertices, RandomClassesEqualAUnionFind) {
  std::mt19937_64 random(test::seed());
  MeshTables box = test::tagged_box(world());
  partition_cells(world(), box, 3);
  const std::int64_t n = box.vertices.n_rows;
  for (int repeat = 0; repeat < 40; ++repeat) {
    SCOPED_TRACE(repeat);
    Pairs pairs;
    const std::uint64_t n_pairs = random() % (2 * static_cast<std::uint64_t>(n));
    for (std::uint64_t i = 0; i < n_pairs; ++i) {
      const auto row = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
      pairs.emplace_back(row(), row());
    }
    expect_merged(box, pairs, random());
  }
}

TEST(MergeVertices, LongChainsAcrossRanksEndAtTheLowestRow) {
  std::mt19937_64 random(test::seed());
  const MeshTables box = make_box(world(), {.n = {9, 9, 39}});
  const std::int64_t n = box.vertices.n_rows;
  for (const bool is_mixed : {false, true}) {
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (is_mixed) std::ranges::shuffle(order, random);
    Pairs chain;  // two classes: all rows but the last thousand of the order, and these
    for (std::int64_t i = 0; i + 1 < n; ++i)
      if (i != n - 1001) chain.emplace_back(order[i + 1], order[i]);
    const double begin = MPI_Wtime();
    expect_merged(box, chain, 1);
    EXPECT_LT(MPI_Wtime() - begin, 20.0) << "rounds grow with the chain";
  }
}

TEST(MergeVertices, NothingToMergeChangesNothing) {
  const MeshTables box = test::tagged_box(world());
  MeshTables after = box;
  EXPECT_EQ(merge_vertices(world(), after, share({{7, 7}}, 0), "the test").n_merged, 0);
  expect_merged(box, {}, 0);
  MeshTables empty;
  empty.vertices = {0, world().size()};
  EXPECT_EQ(merge_vertices(world(), empty, {}, "the test").n_merged, 0);
}

TEST(MergeVertices, RanksMayBeEmptyAndAllPairsOnOne) {
  const MeshTables small = make_box(world(), {.n = {1, 1, 1}});
  expect_merged(small, {{7, 0}, {7, 3}, {3, 0}, {6, 5}, {5, 6}, {6, 5}}, 0);
  MeshTables after = small;
  std::vector<VertexPair> mine;
  if (world().rank() == world().size() - 1)
    for (std::int64_t row = 1; row < 8; ++row) mine.push_back({GlobalId{row}, GlobalId{0}});
  EXPECT_EQ(merge_vertices(world(), after, mine, "the test").n_merged, 7);
  EXPECT_EQ(after.vertices.n_rows, 1);
}

TEST(MergeVertices, OrderedSetsKeepTheirLength) {
  MeshTables box = make_box(world(), {.n = {2, 1, 1}});
  const auto list = static_cast<std::int32_t>(box.sets.size());
  box.sets.push_back({.name = "list", .is_ordered = true});
  if (world().rank() == 0)
    box.members = {{list, Dim::vertex, 4, 3, 0}, {list, Dim::vertex, 2, 1, 3}, {list, Dim::vertex, 5, 2, 4}};
  merge_vertices(world(), box, share({{6, 4}}, 0), "the test");
  std::map<std::int64_t, std::int64_t> at;  // row by position
  for (const SetRows& rows : box.members)
    for (std::int64_t i = 0; i < rows.count && rows.set == list; ++i) at[rows.position + i] = rows.first + i;
  std::vector<std::int64_t> rows;
  for (std::int64_t place = 0; place < 6; ++place)
    rows.push_back(mpi::max(world(), at.contains(place) ? at.at(place) : std::int64_t{-1}));
  EXPECT_EQ(rows, (std::vector<std::int64_t>{4, 5, 4, 2, 5, 4}));
}

TEST(MergeVertices, RefusesRowsThatDoNotExist) {
  MeshTables box = make_box(world(), {.n = {1, 1, 1}});
  const WholeFile before(world(), box);
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{8}}) {
    try {
      merge_vertices(world(), box, share({{1, 2}, {row, 3}}, 0), "a mesh");
      FAIL() << "row " << row << " was taken";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what())
                    .find("a mesh: merges vertex " + std::to_string(row) + ", but the vertices are 0 to 7"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(WholeFile(world(), box), before);
}

}  // namespace
}  // namespace barrio::mesh
