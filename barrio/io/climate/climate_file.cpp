#include "barrio/io/climate/climate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "barrio/io/climate/climate_listing.hpp"
#include "barrio/io/common/share_catalog.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::io::detail {

bool ClimateCatalog::is_mirrored() const noexcept {
  return std::ranges::count_if(axes, [](const ClimateAxis& axis) { return axis.values.front() > axis.values.back(); }) %
             2 ==
         1;
}

void ClimateCatalog::for_each_cell(std::int64_t first, std::int64_t n,
                                   const std::function<void(std::span<const std::int64_t>)>& visit) const {
  if (!is_mirrored()) return grid().for_each_cell(first, n, visit);
  std::array<std::int64_t, 8> turned{};
  grid().for_each_cell(first, n, [&](std::span<const std::int64_t> corners) {
    const std::span<std::int64_t> nodes = std::span(turned).first(corners.size());
    if (corners.size() == 8) {
      std::ranges::rotate_copy(corners, corners.begin() + 4, nodes.begin());  // swap top and bottom
    } else {
      std::ranges::reverse_copy(corners, nodes.begin());
    }
    visit(nodes);
  });
}

void ClimatePacking::unpack(std::vector<double>& numbers) const {
  for (double& number : numbers)
    number = std::ranges::find(missing, number) == missing.end() ? number * scale + offset
                                                                 : std::numeric_limits<double>::quiet_NaN();
}

bool is_climate(const files::NetcdfFile& file) {
  const ClimateListing listing(file);
  return listing.mentions(ClimateListing::longitude) || listing.mentions(ClimateListing::latitude);
}

namespace {

bool is_periodic(const std::vector<double>& longitudes) {
  if (longitudes.size() < 3) return false;
  double narrowest = std::numeric_limits<double>::infinity();
  double widest = 0.0;
  for (std::size_t i = 0; i + 1 < longitudes.size(); ++i) {
    narrowest = std::min(narrowest, std::abs(longitudes[i + 1] - longitudes[i]));
    widest = std::max(widest, std::abs(longitudes[i + 1] - longitudes[i]));
  }
  constexpr double slack = 0.01;  // longitudes may be rounded
  const double gap = 360.0 - std::abs(longitudes.back() - longitudes.front());
  return gap >= (1.0 - slack) * narrowest && gap <= (1.0 + slack) * widest;
}

}  // namespace

ClimateCatalog read_climate_catalog(const files::NetcdfFile& file, const std::string& path) {
  const ClimateListing listing(file);
  const auto refuse = [&](const std::string& variable, std::string cause, std::string remedy) {
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("variable '{}' {}", variable, std::move(cause)),
                                       .remedy = std::move(remedy)});
  };
  std::array<const ClimateListing::Variable*, 3> axes{};
  ClimateCatalog catalog;
  for (const auto axis : {ClimateListing::longitude, ClimateListing::latitude, ClimateListing::level}) {
    ClimateAxis& into = catalog.axes[axis];
    axes[axis] = axis == ClimateListing::level ? listing.find_levels(axes[1]->dimensions[0], axes[0]->dimensions[0])
                                               : listing.find_axis(axis, path);
    if (axes[axis] == nullptr) {
      into.values = {0.0};
      continue;
    }
    into.name = axes[axis]->name;
    into.values = listing.numbers(*axes[axis], path);
    if (into.values.empty() || (axis != ClimateListing::level && into.values.size() < 2))
      refuse(into.name, fmt::format("has {} values, but must have at least two", into.values.size()),
             "check that the file is a grid, not a single point");
    const auto wrong = std::ranges::find_if(into.values, [](double x) { return !std::isfinite(x); });
    if (wrong != into.values.end())
      refuse(into.name, fmt::format("has a value that is not a finite number at index {}", wrong - into.values.begin()),
             "write it again: an axis must not have missing values");
    const bool ascends = into.values.size() == 1 || into.values[0] < into.values[1];
    const auto turn = std::ranges::adjacent_find(
        into.values, [&](double one, double next) { return ascends ? one >= next : one <= next; });
    if (turn != into.values.end())
      refuse(into.name,
             fmt::format("has the value {} after {} at index {}, but must ascend or descend throughout", turn[1],
                         turn[0], turn - into.values.begin() + 1),
             "sort the points of the grid, and the fields with them");
  }
  double n_points = 1.0;  // in floating point: the product may exceed 2^63
  for (const ClimateAxis& axis : catalog.axes) n_points *= static_cast<double>(axis.values.size());
  if (n_points > 1e17)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = "has a grid of more points than can be numbered",
                                       .remedy = "check the dimensions of the grid"});
  catalog.is_periodic = is_periodic(catalog.axes[0].values);
  listing.add_fields(axes, path, catalog);
  return catalog;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClimateAxis, name, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClimatePacking, is_packed, scale, offset, missing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClimateVariable, name, within, has_levels, is_real, becomes_int32, packing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClimateCatalog, axes, is_periodic, n_steps, variables, left_out, not_fields)

ClimateSource open_climate(mpi::Context& context, const std::string& path, int step) {
  ClimateCatalog catalog;
  agree_after(context, [&] {
    if (context.is_root()) catalog = read_climate_catalog(files::NetcdfFile(path), path);
  });
  share_catalog(context, catalog);
  check_size(catalog.grid(), path, context.size());
  for (const std::string& what : catalog.left_out) context.log().notice(fmt::format("{}: {}", path, what));
  if (!catalog.not_fields.empty())
    context.log().info(fmt::format("{}: variables that are not over latitudes and longitudes are not read: {}", path,
                                   fmt::join(catalog.not_fields, ", ")));
  const std::int64_t place = std::max<std::int64_t>(chosen_step(context, path, step, catalog.n_steps), 0);
  for (ClimateVariable& variable : catalog.variables)
    for (std::int64_t& last : variable.within) last = std::min(last, place);  // dimensions of length 1 have only 0
  return {files::NetcdfFile(context, path), std::move(catalog)};
}

std::vector<double> read_climate_box(const files::NetcdfFile& file, const ClimateVariable& variable,
                                     const mesh::IndexBox& box) {
  // A rank without a share takes part with zero rows.
  std::array<files::Run, 3> runs{};  // of levels, latitudes, longitudes, as the file has them
  for (std::size_t axis = 0; axis < 3 && !box.empty(); ++axis) runs[2 - axis] = {box.low[axis], box.extent(axis)};
  const std::span<const files::Run> of = std::span<const files::Run>(runs).subspan(variable.has_levels ? 0 : 1);
  const files::Rows rows{of[0].first, of[0].count, variable.within, of.subspan(1)};
  std::vector<double> values;
  if (variable.is_real) {
    values = file.reals(variable.name, rows);
  } else {
    const std::vector<std::int64_t> numbers = file.integers(variable.name, rows);
    values.assign(numbers.begin(), numbers.end());
  }
  if (!variable.becomes_int32) variable.packing.unpack(values);
  if (variable.has_levels || box.empty()) return values;
  const std::ptrdiff_t n_of_level = values.size();
  values.reserve(box.size());
  for (std::int64_t level = 1; level < box.extent(2); ++level)
    std::copy_n(values.begin(), n_of_level, std::back_inserter(values));
  return values;
}

}  // namespace barrio::io::detail
