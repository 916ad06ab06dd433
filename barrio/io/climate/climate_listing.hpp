#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/netcdf.hpp"
#include "barrio/io/climate/climate_file.hpp"

namespace barrio::io::detail {

/// The variables of a netCDF file, interpreted by the CF conventions. Local.
class ClimateListing {
 public:
  using Variable = files::NetcdfListing::Variable;
  enum Axis : std::uint8_t { longitude, latitude, level };

  explicit ClimateListing(const files::NetcdfFile& file) : file_(file), listing_(file.list()) {}

  /// Tell whether a variable or a dimension is named like the axis, or the attributes of a variable mark it as that
  /// axis.
  [[nodiscard]] bool mentions(Axis axis) const;
  /// Find the coordinate variable of longitudes or latitudes along which most other variables run.
  /// @throws Error{bad_input} saying what is wrong if no variable qualifies
  [[nodiscard]] const Variable* find_axis(Axis axis, const std::string& path) const;
  /// Find the levels in the same way, for variables over these horizontal dimensions. @return null if no field has
  /// levels
  [[nodiscard]] const Variable* find_levels(std::int32_t latitudes, std::int32_t longitudes) const;
  /// Read how numbers of a variable in the file are to be understood.
  [[nodiscard]] ClimatePacking packing(const Variable& variable) const;
  /// Read all values of a variable, unpacked. @throws Error{bad_input} if it holds no numbers
  [[nodiscard]] std::vector<double> numbers(const Variable& variable, const std::string& path) const;
  /// List the variables over the axes, and the others.
  /// @throws Error{bad_input} naming a variable whose extents are not those of the axes
  void add_fields(const std::array<const Variable*, 3>& axes, const std::string& path, ClimateCatalog& catalog) const;

 private:
  [[nodiscard]] bool is_coordinate(const Variable& variable) const;
  [[nodiscard]] bool is_such(const Variable& variable, Axis axis) const;
  [[nodiscard]] bool is_time(std::int32_t dimension) const;

  const files::NetcdfFile& file_;
  files::NetcdfListing listing_;
};

}  // namespace barrio::io::detail
