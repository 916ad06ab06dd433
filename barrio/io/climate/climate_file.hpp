#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/netcdf.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/mesh/structured.hpp"

// Longitude/latitude grids, with or without levels, in netCDF by the CF conventions. An axis is a coordinate variable,
// which has the name of its dimension. A field runs over (level, latitude, longitude), after the time.

namespace barrio::io::detail {

/// A coordinate variable.
struct ClimateAxis {
  std::string name = {};  ///< empty if the file lacks this axis; the grid then has one point along it
  std::vector<double> values;
};

/// Attributes by which numbers in the file become values: value = number * scale + offset.
struct ClimatePacking {
  bool is_packed = false;  ///< has a scale or an offset
  double scale = 1.0;
  double offset = 0.0;
  std::vector<double> missing = {};  ///< numbers in the file that mark a missing value

  /// Turn numbers into values, missing ones into NaN.
  void unpack(std::vector<double>& numbers) const;
};

/// A variable over latitudes and longitudes, with or without levels.
struct ClimateVariable {
  std::string name = {};
  std::vector<std::int64_t> within;  ///< index in each dimension before those of the grid: the time step
  bool has_levels = false;
  bool is_real = true;         ///< floating-point in the file, not integer
  bool becomes_int32 = false;  ///< integers of at most 32 bits, not packed, of which none can be missing
  ClimatePacking packing = {};
};

/// Contents of a file without the values of its fields. O(points along the axes + variables).
struct ClimateCatalog {
  std::array<ClimateAxis, 3> axes;  ///< of longitudes, latitudes, levels
  bool is_periodic = false;         ///< the longitudes are periodic: the first one follows the last one
  std::int64_t n_steps = 0;
  std::string time_axis = {};  ///< variable with the times of the steps; empty: the file has none
  std::vector<ClimateVariable> variables;
  std::vector<std::string> left_out;    ///< variables on the grid that are not read, and why
  std::vector<std::string> not_fields;  ///< variables that are not over latitudes and longitudes

  [[nodiscard]] PointGrid grid() const noexcept {
    const auto n = [&](std::size_t axis) { return std::ssize(axes[axis].values); };
    return {{n(0), n(1), n(2)}};
  }
  [[nodiscard]] std::array<double, 3> coordinates(std::int64_t row) const noexcept {
    const auto at = grid().place(row);
    std::array<double, 3> x{};
    for (std::size_t axis = 0; axis < 3; ++axis) x[axis] = axes[axis].values[at[axis]];
    return x;
  }
  /// Tell whether cells in the file's order would be mirror images: one axis descends, or all three.
  [[nodiscard]] bool is_mirrored() const noexcept;
  /// Visit cells by their corners, correctly oriented.
  void for_each_cell(std::int64_t first, std::int64_t n,
                     const std::function<void(std::span<const std::int64_t>)>& visit) const;
};

/// Tell whether a netCDF file has longitudes or latitudes, by its variables and dimensions. Local.
bool is_climate(const files::NetcdfFile& file);

/// Read axes and the list of variables. Local.
/// @throws Error{bad_input} naming the variable that is missing, damaged or not supported
ClimateCatalog read_climate_catalog(const files::NetcdfFile& file, const std::string& path);

/// A file opened by all ranks, and its catalog.
struct ClimateSource {
  files::NetcdfFile file;
  ClimateCatalog catalog;
};
/// Open a file on all ranks; rank 0 reads the catalog. Collective. The log names what is left out.
/// @param step  as in TableOptions
ClimateSource open_climate(mpi::Context& context, const std::string& path, int step);

/// Read a box of a variable, the first axis fastest; a variable without levels is repeated on each. Collective as
/// NetcdfFile::reals. Missing values become NaN.
std::vector<double> read_climate_box(const files::NetcdfFile& file, const ClimateVariable& variable,
                                     const mesh::IndexBox& box);

}  // namespace barrio::io::detail
