#include <fmt/format.h>

#include "barrio/io/climate/climate_file.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/mpi/agree.hpp"

// Longitude/latitude grids. Rank 0 reads the axes and the list of variables. Then every rank reads, of each field, the
// lines of the grid that hold its slab of the vertices.

namespace barrio::io::detail {
namespace {

using mesh::IndexBox;

/// Return whole lines of a grid that cover rows: the rest of a level, whole levels, the start of a level. Boxes may be
/// empty, but there are always three, since ranks read them together.
std::array<IndexBox, 3> lines_around(const PointGrid& grid, files::Rows rows) {
  std::array<IndexBox, 3> boxes{};
  if (rows.count == 0) return boxes;
  const auto [n_i, n_j, n_k] = grid.dimensions;
  const std::int64_t first = rows.first / n_i;
  const std::int64_t end = (rows.first + rows.count - 1) / n_i + 1;
  const std::int64_t j = first % n_j;
  const std::int64_t k = first / n_j;
  const std::int64_t end_j = end % n_j;
  const std::int64_t end_k = end / n_j;
  if (k == end_k) {
    boxes[0] = {{0, j, k}, {n_i, end_j, k + 1}};
    return boxes;
  }
  if (j > 0) boxes[0] = {{0, j, k}, {n_i, n_j, k + 1}};
  boxes[1] = {{0, 0, k + (j > 0 ? 1 : 0)}, {n_i, n_j, end_k}};
  boxes[2] = {{0, 0, end_k}, {n_i, end_j, end_k + 1}};
  return boxes;
}

std::vector<double> read_rows(const ClimateSource& source, const ClimateVariable& variable, files::Rows rows) {
  std::vector<double> values;
  for (const IndexBox& box : lines_around(source.catalog.grid(), rows)) {
    const std::vector<double> some = read_climate_box(source.file, variable, box);
    values.insert(values.end(), some.begin(), some.end());
  }
  const std::ptrdiff_t before = rows.first % source.catalog.grid().dimensions[0];
  values.erase(values.begin(), values.begin() + (values.empty() ? 0 : before));
  values.resize(rows.count);
  return values;
}

}  // namespace

mesh::MeshTables read_climate(mpi::Context& context, const std::string& path, const TableOptions& options) {
  ClimateSource source = open_climate(context, path, options.step);
  const ClimateCatalog& catalog = source.catalog;
  if (catalog.is_periodic)
    context.log().notice(fmt::format(
        "{}: the longitudes are periodic, but there are no cells between the last and the first one", path));
  const PointGrid grid = catalog.grid();
  mesh::MeshTables tables;
  tables.vertices = {grid.n_points(), context.size()};
  const files::Rows mine = slab_of(tables.vertices, context.rank());
  tables.coordinates.reserve(3 * mine.count);
  for (std::int64_t row = mine.first; row < mine.first + mine.count; ++row) {
    const std::array<double, 3> x = catalog.coordinates(row);
    tables.coordinates.insert(tables.coordinates.end(), x.begin(), x.end());
  }
  const bool has_hexes = grid.dimensions[2] > 1;
  mesh::CellBlock& cells = tables.blocks.emplace_back();
  cells.type = has_hexes ? mesh::CellType::hex : mesh::CellType::quad;
  cells.nodes_per_cell = has_hexes ? 8 : 4;
  cells.rows = {grid.n_cells(), context.size()};
  const files::Rows my_cells = slab_of(cells.rows, context.rank());
  cells.nodes.reserve(my_cells.count * cells.nodes_per_cell);
  catalog.for_each_cell(my_cells.first, my_cells.count, [&](std::span<const std::int64_t> corners) {
    for (const std::int64_t corner : corners) cells.nodes.push_back(GlobalId{corner});
  });
  NewTags tags(context, tables, options.without_tags);
  files::or_close(source.file, [&] {
    for (const ClimateVariable& variable : catalog.variables) {
      auto* tag =
          tags.find_or_add(variable.name, variable.becomes_int32 ? mesh::TagType::int32 : mesh::TagType::float64);
      if (tag == nullptr) continue;
      const std::vector<double> values = read_rows(source, variable, mine);
      tag->columns.push_back(variable.becomes_int32
                                 ? dense_column(-1, std::vector<std::int32_t>(values.begin(), values.end()))
                                 : dense_column(-1, values));
    }
  });
  return tables;
}

}  // namespace barrio::io::detail
