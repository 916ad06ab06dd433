#include "barrio/io/climate/climate_file.hpp"
#include "barrio/io/common/description.hpp"

namespace barrio::io::detail {

Json inspect_climate(const std::string& path, const InspectOptions& options) {
  const files::NetcdfFile file(path);
  const ClimateCatalog catalog = read_climate_catalog(file, path);
  const PointGrid grid = catalog.grid();
  Json result;
  result["format"] = "grid of longitudes and latitudes, " + file.format();
  result["vertices"] = grid.n_points();
  const auto type = grid.dimensions[2] > 1 ? mesh::CellType::hex : mesh::CellType::quad;
  add_entities(result, {{{type, mesh::topology(type).n_corners}, grid.n_cells()}});
  add_sets(result, {});
  result["grid"] = {{"longitudes", grid.dimensions[0]},
                    {"latitudes", grid.dimensions[1]},
                    {"levels", catalog.axes[2].name.empty() ? 0 : grid.dimensions[2]},
                    {"time_steps", catalog.n_steps},
                    {"is_periodic", catalog.is_periodic}};
  if (!catalog.time_axis.empty()) add_times(result, file.reals(catalog.time_axis), catalog.n_steps);
  result["tags"] = Json::array();
  for (const ClimateVariable& variable : catalog.variables)
    result["tags"].push_back(
        {{"name", variable.name}, {"type", variable.becomes_int32 ? "int" : "double"}, {"on", "vertices"}});
  if (!catalog.left_out.empty()) result["unsupported"] = catalog.left_out;
  if (!has_quality(grid.n_points(), options)) return result;
  std::vector<Point> points;
  points.reserve(grid.n_points());
  for (std::int64_t row = 0; row < grid.n_points(); ++row) points.push_back(catalog.coordinates(row));
  add_box(result, points);
  Quality quality;
  std::vector<Point> corners_of;
  catalog.for_each_cell(0, grid.n_cells(), [&](std::span<const std::int64_t> corners) {
    corners_of.clear();
    for (const std::int64_t corner : corners) corners_of.push_back(points[corner]);
    quality.add(type, corners_of);
  });
  result["quality"] = quality.json();
  return result;
}

}  // namespace barrio::io::detail
