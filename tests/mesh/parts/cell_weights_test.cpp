#include "barrio/mesh/cell_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/partition_quality.hpp"
#include "barrio/partition/graph.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

/// Make five hexes, then seven tets, and a face that does not count. Weights do not depend on nodes.
MeshTables mixed() {
  MeshTables tables;
  for (const auto& [type, n] : {std::pair(CellType::hex, 5), {CellType::quad, 1}, {CellType::tet, 7}})
    tables.blocks.push_back({type, {n, world().size()}, 4, {}, {}});
  return tables;
}

/// Put a value on each row of a block, or only on every other row.
template <class T, class ValueOf>
void add_column(const MeshTables& tables, std::int32_t block, bool is_dense, ValueOf&& value_of, TagTable& tag) {
  const Slabs& rows = tables.blocks[block].rows;
  TagColumn column{.block = block, .is_dense = is_dense};
  for (std::int64_t row = rows.first(world().rank()); row < rows.first(world().rank() + 1); ++row) {
    if (!is_dense && row % 2 == 1) continue;
    if (!is_dense) column.rows.push_back(static_cast<std::int32_t>(row - rows.first(world().rank())));
    const T value = value_of(row);
    column.items.add(std::as_bytes(std::span(&value, 1)), false);
  }
  tag.columns.push_back(std::move(column));
}

/// Gather the weights of all cells, the hexes first.
std::vector<std::int64_t> all_weights(const MeshTables& tables, const CellWeights& wanted) {
  const std::vector<std::int64_t> mine = compute_cell_weights(world(), tables, wanted);
  const auto first_tet = mine.begin() + static_cast<std::ptrdiff_t>(tables.blocks[0].rows.size(world().rank()));
  auto all = test::collect(world(), std::vector<std::int64_t>(mine.begin(), first_tet));
  const auto tets = test::collect(world(), std::vector<std::int64_t>(first_tet, mine.end()));
  all.insert(all.end(), tets.begin(), tets.end());
  return all;
}

TEST(CellWeights, ByTypeAndTagMultiply) {
  MeshTables tables = mixed();
  EXPECT_TRUE(compute_cell_weights(world(), tables, {}).empty());
  EXPECT_EQ(all_weights(tables, {.by_type = {{CellType::hex, 3}, {CellType::quad, 9}}}),
            (std::vector<std::int64_t>{3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1}));
  TagTable work{.info = {.name = "work"}};
  const std::int32_t common = 4;
  const auto bytes = std::as_bytes(std::span(&common, 1));
  work.info.default_value.assign(bytes.begin(), bytes.end());
  add_column<std::int32_t>(tables, 0, true, [](std::int64_t row) { return static_cast<std::int32_t>(row + 1); }, work);
  add_column<std::int32_t>(
      tables, 2, false, [](std::int64_t row) { return static_cast<std::int32_t>(10 * row); }, work);
  tables.tags.push_back(work);
  EXPECT_EQ(all_weights(tables, {.tag = "work"}), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 0, 4, 20, 4, 40, 4, 60}));
  EXPECT_EQ(all_weights(tables, {.by_type = {{CellType::tet, 0}, {CellType::hex, 2}}, .tag = "work"}),
            (std::vector<std::int64_t>{2, 4, 6, 8, 10, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(CellWeights, RealValuesCountInStepsOfTheLargest) {
  MeshTables tables = mixed();
  TagTable work{.info = {.name = "work", .type = TagType::float64}};
  add_column<double>(tables, 0, true, [](std::int64_t) { return 0.25e-9; }, work);
  add_column<double>(tables, 2, true, [](std::int64_t row) { return row == 6 ? 1e-9 : row == 2 ? 1e-40 : 0.0; }, work);
  tables.tags.push_back(work);
  const std::int64_t step = std::int64_t{1} << 52;  // twelve cells leave room for all digits
  EXPECT_EQ(all_weights(tables, {.tag = "work"}),
            (std::vector<std::int64_t>{step / 4, step / 4, step / 4, step / 4, step / 4, 0, 0, 1, 0, 0, 0, step}))
      << "the smallest counts";
}

void expect_refused(const MeshTables& tables, const CellWeights& wanted, ErrorCode code, const std::string& text) {
  try {
    static_cast<void>(compute_cell_weights(world(), tables, wanted));
    ADD_FAILURE() << "should refuse: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(CellWeights, BadWeightsAreRefused) {
  MeshTables tables = mixed();
  TagTable work{.info = {.name = "work", .type = TagType::float64}};
  add_column<double>(tables, 0, true, [](std::int64_t row) { return row == 3 ? -0.5 : 1.0; }, work);
  add_column<double>(tables, 2, true, [](std::int64_t) { return 1.0; }, work);
  TagTable vector{.info = {.name = "vector", .n_components = 3}};
  TagTable gaps{.info = {.name = "gaps"}};
  add_column<std::int32_t>(tables, 0, true, [](std::int64_t) { return 1; }, gaps);
  add_column<std::int32_t>(tables, 2, false, [](std::int64_t) { return 1; }, gaps);
  TagTable odd{.info = {.name = "odd", .type = TagType::float64}};
  add_column<double>(tables, 0, true, [](std::int64_t) { return 1.0; }, odd);
  add_column<double>(
      tables, 2, true, [](std::int64_t row) { return row == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0; }, odd);
  TagTable large{.info = {.name = "large"}};
  for (const std::int32_t block : {0, 2})
    add_column<std::int32_t>(tables, block, true, [](std::int64_t) { return INT32_MAX; }, large);
  tables.tags = {work, vector, gaps, odd, large};
  const std::string remedy = " (give each cell a finite number >= 0)";
  expect_refused(tables, {.tag = "workk"}, ErrorCode::usage,
                 "weight 'workk': is not a tag of this mesh. Did you mean 'work'? (barrio info lists the tags of a "
                 "file)");
  expect_refused(
      tables, {.tag = "vector"}, ErrorCode::usage,
      "weight 'vector': must be a tag with a single number per cell (give a tag with one integer or real number per "
      "cell)");
  expect_refused(tables, {.tag = "work"}, ErrorCode::bad_input,
                 "weight 'work' of element 3 (0-based): is -0.5" + remedy);
  expect_refused(tables, {.tag = "odd"}, ErrorCode::bad_input, "weight 'odd' of element 10 (0-based): is nan" + remedy);
  expect_refused(tables, {.by_type = {{CellType::hex, 1'000'000'000}}, .tag = "large"}, ErrorCode::bad_input,
                 "weights of cells: add up to more than 2^62 (divide them all by the same number)");
  try {
    static_cast<void>(compute_cell_weights(world(), tables, {.tag = "gaps"}));
    ADD_FAILURE() << "should refuse a cell without a value";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("(0-based): is missing"), std::string::npos) << error.what();
  }
}

TEST(CellWeights, EveryPartitionerBalancesThem) {
  const auto available = partition::available_graph_methods();
  for (const std::string& method : partitioner_names()) {
    const bool is_by_coordinates = method == "rcb" || method == "hilbert";
    if (!is_by_coordinates && std::ranges::find(available, method) == available.end()) continue;
    for (const bool tets : {false, true}) {
      MeshTables tables = make_box(world(), {.n = {10, 10, 10}, .tets = tets});
      // Cells of the lower half of the box have five times the weight.
      std::vector<std::int64_t> weights;
      for (const GlobalId id : top_ids(world(), tables))
        weights.push_back(2 * value(id) < tables.n_global(Dim::volume) ? 5 : 1);
      partition_cells(world(), tables, 5, method, weights);
      const PartitionQuality quality = partition_quality(world(), tables, weights);
      EXPECT_LE(quality.weight_imbalance, is_by_coordinates ? 1.02 : 1.1) << method;
      EXPECT_GT(quality.imbalance, 1.15) << method << " must look at the weights";
      EXPECT_EQ(quality.n_empty_parts, 0) << method;
      partition_cells(world(), tables, 5, "rcb", weights);
      const PartitionQuality by_rcb = partition_quality(world(), tables, weights);
      EXPECT_LE(static_cast<double>(quality.n_cut_sides), 1.5 * static_cast<double>(by_rcb.n_cut_sides)) << method;
    }
  }
}

TEST(CellWeights, AreOnePerCellOrNone) {
  MeshTables tables = make_box(world(), {.n = {4, 3, 2}});
  const std::size_t n = tables.blocks[0].rows.size(world().rank());
  for (const char* method : {"rcb", "hilbert"}) {
    // Only the first rank has weights: the cells of the others have weight 1.
    partition_cells(world(), tables, 3, method, std::vector<std::int64_t>(world().rank() == 0 ? n : 0, 1));
    const auto parts = tables.parts;
    partition_cells(world(), tables, 3, method);
    EXPECT_EQ(parts, tables.parts);
    EXPECT_THROW(partition_cells(world(), tables, 3, method, std::vector<std::int64_t>(n + 1, 1)), AgreedError);
  }
}

}  // namespace
}  // namespace barrio::mesh
