#include "barrio/io/climate/climate_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {
namespace {

using Kind = files::NativeValues::Kind;

/// Marks of an axis: the name of its variable, its units or its standard name.
struct Marks {
  const char* noun;
  std::vector<std::string_view> names;
  std::string_view direction;  ///< of its degrees, in its units
  std::string_view standard_name;
};
const std::array<Marks, 3>& marks() {
  static const std::array<Marks, 3> all{{{"longitudes", {"lon", "longitude"}, "east", "longitude"},
                                         {"latitudes", {"lat", "latitude"}, "north", "latitude"},
                                         {"levels", {"lev", "level", "plev", "height", "altitude", "depth"}, "", ""}}};
  return all;
}

/// Tell whether units are degrees of a direction, in one of CF's spellings: "degrees_east", "degree_E" and so on.
bool are_degrees(std::string_view units, std::string_view direction) {
  if (!units.starts_with("degree")) return false;
  units.remove_prefix(6);
  if (units.starts_with('s')) units.remove_prefix(1);
  if (units.starts_with('_')) units.remove_prefix(1);
  return units == direction || units == (direction == "east" ? "E" : "N");
}

/// Return the coordinate variable along whose dimension most others run; one with a single value only if all have one.
const ClimateListing::Variable* max_used(const std::vector<const ClimateListing::Variable*>& all,
                                         const std::vector<std::int64_t>& n_uses) {
  const auto weight = [&](const ClimateListing::Variable* variable) {
    return std::tuple(variable->shape[0] > 1, n_uses[variable->dimensions[0]], variable->shape[0]);
  };
  const auto most = std::ranges::max_element(all, {}, weight);
  return most == all.end() ? nullptr : *most;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool ClimateListing::is_coordinate(const Variable& variable) const {
  return variable.shape.size() == 1 && variable.dimensions.size() == 1 && variable.dimensions[0] >= 0 &&
         listing_.dimensions[variable.dimensions[0]] == variable.name;
}

bool ClimateListing::is_such(const Variable& variable, Axis axis) const {
  const Marks& known = marks()[axis];
  if (contains(known.names, variable.name)) return true;
  const auto text = [&](const char* attribute) { return file_.attribute(variable.name, attribute).value_or(""); };
  if (axis == level) return !text("positive").empty() || text("axis") == "Z";
  return are_degrees(text("units"), known.direction) || text("standard_name") == known.standard_name;
}

bool ClimateListing::is_time(std::int32_t dimension) const {
  if (dimension < 0) return false;
  const std::string& name = listing_.dimensions[dimension];
  return name == "time" || file_.attribute(name, "units").value_or("").find(" since ") != std::string::npos;
}

bool ClimateListing::mentions(Axis axis) const {
  return std::ranges::any_of(listing_.dimensions, [&](auto& name) { return contains(marks()[axis].names, name); }) ||
         std::ranges::any_of(listing_.variables, [&](const Variable& variable) { return is_such(variable, axis); });
}

const ClimateListing::Variable* ClimateListing::find_axis(Axis axis, const std::string& path) const {
  std::vector<const Variable*> all;
  const Variable* other = nullptr;  // has the marks of the axis, but is not a coordinate
  for (const Variable& variable : listing_.variables) {
    if (!is_such(variable, axis)) continue;
    if (is_coordinate(variable)) {
      all.push_back(&variable);
    } else if (other == nullptr) {
      other = &variable;
    }
  }
  if (all.empty()) {
    const Marks& known = marks()[axis];
    const auto bare =
        std::ranges::find_if(listing_.dimensions, [&](const auto& name) { return contains(known.names, name); });
    const std::string name = other != nullptr                    ? other->name
                             : bare != listing_.dimensions.end() ? *bare
                                                                 : std::string(known.names[0]);
    std::string cause = "is missing";
    if (other != nullptr && other->shape.size() != 1) {
      cause = fmt::format("has {} dimensions, but {} of a grid have one", other->shape.size(), known.noun);
    } else if (other != nullptr && other->dimensions[0] < 0) {
      cause = fmt::format("runs along a dimension of length {} that has no name", other->shape[0]);
    } else if (other != nullptr) {
      cause = fmt::format("runs along the dimension '{}' of length {}, not along one of its own name",
                          listing_.dimensions[other->dimensions[0]], other->shape[0]);
    }
    throw Error(
        ErrorCode::bad_input,
        {.subject = path,
         .cause = fmt::format("variable '{}' {}", name, cause),
         .remedy = fmt::format("a grid needs its {0} in a variable {1}({1}), in degrees_{2}; remap other grids to "
                               "one, for example by cdo remapbil",
                               known.noun, name, known.direction)});
  }
  std::vector<std::int64_t> n_uses(listing_.dimensions.size(), 0);
  for (const Variable& variable : listing_.variables)
    for (const std::int32_t dimension : variable.dimensions)
      if (dimension >= 0 && variable.shape.size() > 1) n_uses[dimension] += 1;
  return max_used(all, n_uses);
}

const ClimateListing::Variable* ClimateListing::find_levels(std::int32_t latitudes, std::int32_t longitudes) const {
  std::vector<std::int64_t> n_uses(listing_.dimensions.size(), 0);
  for (const Variable& variable : listing_.variables) {
    const auto& d = variable.dimensions;
    const std::size_t n = d.size();
    if (n > 2 && d[n - 1] == longitudes && d[n - 2] == latitudes && d[n - 3] >= 0) n_uses[d[n - 3]] += 1;
  }
  std::vector<const Variable*> all;
  for (const Variable& variable : listing_.variables)
    if (is_coordinate(variable) && n_uses[variable.dimensions[0]] > 0 && is_such(variable, level))
      all.push_back(&variable);
  return max_used(all, n_uses);
}

ClimatePacking ClimateListing::packing(const Variable& variable) const {
  const auto scale = file_.number(variable.name, "scale_factor");
  const auto offset = file_.number(variable.name, "add_offset");
  ClimatePacking packing{.is_packed = scale || offset, .scale = scale.value_or(1.0), .offset = offset.value_or(0.0)};
  for (const char* attribute : {"_FillValue", "missing_value"})
    if (const auto value = file_.number(variable.name, attribute)) packing.missing.push_back(*value);
  return packing;
}

std::vector<double> ClimateListing::numbers(const Variable& variable, const std::string& path) const {
  if (variable.kind == Kind::other)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("variable '{}' does not hold numbers", variable.name),
                                       .remedy = "write it as floating-point numbers"});
  std::vector<double> values;
  if (variable.kind == Kind::real) {
    values = file_.reals(variable.name);
  } else {
    const std::vector<std::int64_t> all = file_.integers(variable.name);
    values.assign(all.begin(), all.end());
  }
  packing(variable).unpack(values);
  return values;
}

void ClimateListing::add_fields(const std::array<const Variable*, 3>& axes, const std::string& path,
                                ClimateCatalog& catalog) const {
  const auto dimension_of = [&](Axis axis) { return axes[axis] == nullptr ? -2 : axes[axis]->dimensions[0]; };
  if (dimension_of(longitude) == dimension_of(latitude))  // a variable with the name of one and the units of the other
    throw Error(
        ErrorCode::bad_input,
        {.subject = path,
         .cause = fmt::format("variable '{}' would be both latitudes and longitudes", axes[latitude]->name),
         .remedy = "give latitudes in degrees_north and longitudes in degrees_east, each in a variable of its own"});
  for (const Variable& variable : listing_.variables) {
    const auto& d = variable.dimensions;
    const std::size_t n = d.size();
    const auto leave_out = [&](std::string_view cause) {
      catalog.left_out.push_back(fmt::format("variable '{}' is left out: {}", variable.name, cause));
    };
    if (std::ranges::find(d, dimension_of(longitude)) == d.end() ||
        std::ranges::find(d, dimension_of(latitude)) == d.end()) {
      const bool is_axis =
          std::ranges::find(axes, &variable) != axes.end() || (is_coordinate(variable) && is_time(d[0]));
      if (!is_axis) catalog.not_fields.push_back(variable.name);
      continue;
    }
    if (d[n - 1] != dimension_of(longitude) || d[n - 2] != dimension_of(latitude)) {
      leave_out("it does not run along (level, latitude, longitude) in that order");
      continue;
    }
    if (variable.kind == Kind::other) {
      leave_out("it holds no numbers");
      continue;
    }
    ClimateVariable field{.name = variable.name, .within = {}, .is_real = variable.kind == Kind::real};
    field.has_levels = n > 2 && d[n - 3] == dimension_of(level);
    const std::size_t n_before = n - (field.has_levels ? 3 : 2);
    for (std::size_t k = n_before; k < n; ++k) {
      const ClimateAxis& axis = catalog.axes[n - 1 - k];
      if (variable.shape[k] != std::ssize(axis.values))
        throw Error(ErrorCode::bad_input,
                    {.subject = path,
                     .cause = fmt::format("variable '{}' has length {} along '{}', which has {} values", variable.name,
                                          variable.shape[k], axis.name, axis.values.size()),
                     .remedy = damaged_remedy});
    }
    std::string fault;
    for (std::size_t k = 0; k < n_before; ++k) {
      const bool is_a_time = is_time(d[k]);
      if (is_a_time) {
        catalog.n_steps = std::max(catalog.n_steps, variable.shape[k]);
        const std::string& axis = listing_.dimensions[d[k]];
        const bool has_times = std::ranges::any_of(listing_.variables, [&](const Variable& other) {
          return other.name == axis && other.shape.size() == 1 && other.kind != Kind::other;
        });
        if (has_times) catalog.time_axis = axis;
      }
      if (variable.shape[k] != 1 && !is_a_time)
        fault = fmt::format("its dimension '{}' of length {} is neither the time nor one of the grid",
                            d[k] < 0 ? "" : listing_.dimensions[d[k]], variable.shape[k]);
      if (variable.shape[k] < 1 && is_a_time) fault = "it has no time step";
      field.within.push_back(variable.shape[k] - 1);
    }
    if (!fault.empty()) {
      leave_out(fault);
      continue;
    }
    field.packing = packing(variable);
    field.becomes_int32 = !field.is_real && !field.packing.is_packed && field.packing.missing.empty() &&
                          (variable.number_bytes < 4 || (variable.number_bytes == 4 && variable.is_signed));
    catalog.variables.push_back(std::move(field));
  }
}

}  // namespace barrio::io::detail
