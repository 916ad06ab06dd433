#include "barrio/io/read_structured.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/climate/climate_file.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

using detail::ClimateCatalog;
using detail::ClimateVariable;
using mesh::IndexBox;

constexpr RegionName read_region{"io.read_structured"};

mesh::StructuredOptions options_of(const ClimateCatalog& catalog, const StructuredReadOptions& wanted) {
  mesh::StructuredOptions options{.decomposition = wanted.decomposition, .ghost_layers = wanted.ghost_layers};
  options.is_periodic[0] = catalog.is_periodic;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& places = catalog.axes[axis].values;
    std::vector<double>& along = options.along[axis];
    along.reserve(places.size() + 1);
    along.insert(along.end(), places.begin(), places.end());
    if (axis == 0 && catalog.is_periodic)
      along.push_back(places.front() + (places.front() < places.back() ? 360.0 : -360.0));
    if (places.size() == 1) along.push_back(places.front() + 1.0);  // the layer of a grid without levels
    options.n[axis] = std::ssize(along) - 1;
  }
  return options;
}

/// Choose the variables to read. Local; the same on all ranks.
std::vector<ClimateVariable> chosen(const ClimateCatalog& catalog, const std::vector<std::string>& names,
                                    const std::string& path) {
  std::vector<std::string> known;
  for (const ClimateVariable& variable : catalog.variables) known.push_back(variable.name);
  for (const std::string& name : names) {
    if (name == "*" || std::ranges::find(known, name) != known.end()) continue;
    throw AgreedError(
        ErrorCode::usage,
        {.subject = path,
         .cause = fmt::format("has no field '{}' over latitudes and longitudes.{}", name, did_you_mean(name, known)),
         .remedy = known.empty() ? "it has no such fields" : fmt::format("it has {}", fmt::join(known, ", "))});
  }
  std::vector<ClimateVariable> some = catalog.variables;
  std::erase_if(some, [&](const ClimateVariable& variable) {
    return std::ranges::none_of(names, [&](const std::string& name) { return name == "*" || name == variable.name; });
  });
  return some;
}

/// Append a value to each line of a box. @param column  one value for each line
std::vector<double> with_column(const std::vector<double>& values, const std::vector<double>& column) {
  std::vector<double> all;
  all.reserve(values.size() + column.size());
  const std::size_t n = values.size() / column.size();
  for (std::size_t line = 0; line < column.size(); ++line) {
    const auto first = values.begin() + (line * n);
    all.insert(all.end(), first, first + n);
    all.push_back(column[line]);
  }
  return all;
}

/// Read a field on the vertices of own cells. The column beyond the last longitude repeats the first one; on a grid
/// without levels the upper side repeats the lower one.
std::vector<double> read_field(const detail::ClimateSource& source, const ClimateVariable& variable, IndexBox box) {
  const std::array<std::int64_t, 3> n = source.catalog.grid().dimensions;
  const bool is_flat = n[2] == 1 && !box.empty();
  const bool wraps = box.high[0] > n[0];
  if (is_flat) box.high[2] = 1;
  if (wraps) box.high[0] = n[0];
  std::vector<double> values = read_climate_box(source.file, variable, box);
  if (source.catalog.is_periodic) {
    const bool must_read = wraps && box.low[0] > 0;
    IndexBox first_column;
    if (must_read) first_column = {{0, box.low[1], box.low[2]}, {1, box.high[1], box.high[2]}};
    std::vector<double> column = read_climate_box(source.file, variable, first_column);
    if (wraps && !must_read)
      for (std::size_t at = 0; at < values.size(); at += n[0]) column.push_back(values[at]);
    if (wraps) values = with_column(values, column);
  }
  if (is_flat) {
    const std::vector<double> lower = values;
    values.insert(values.end(), lower.begin(), lower.end());
  }
  return values;
}

}  // namespace

StructuredGrid read_structured(mpi::Context& context, const std::string& path, const StructuredReadOptions& options) {
  const Region region(context.trace(), read_region);
  agree_after(context, [&] {
    if (!context.is_root() || detect_format(path) == Format::climate) return;
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = "is not a grid of longitudes and latitudes on netCDF",
                                       .remedy = "read it as a mesh, by io::read"});
  });
  detail::ClimateSource source = detail::open_climate(context, path, options.step);
  const std::vector<ClimateVariable> variables = chosen(source.catalog, options.fields, path);
  StructuredGrid grid{mesh::StructuredMesh(context, options_of(source.catalog, options)), {}};
  files::or_close(source.file, [&] {
    for (const ClimateVariable& variable : variables)
      grid.fields.push_back({variable.name, read_field(source, variable, grid.mesh.own_vertices())});
  });
  return grid;
}

}  // namespace barrio::io
