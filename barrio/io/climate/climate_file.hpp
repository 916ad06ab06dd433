#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/netcdf.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/mesh/structured.hpp"

// Grids of longitudes, latitudes and maybe levels on netCDF, by the CF conventions: an axis is a coordinate variable,
// which has the name of its dimension; a field runs over (level, latitude, longitude), behind the time.

namespace barrio::io::detail {

/// A coordinate variable.
struct ClimateAxis {
  std::string name = {};  ///< empty: the file has no such axis, and the grid one place along it
  std::vector<double> values;
};

/// A variable over latitudes and longitudes, maybe levels too.
struct ClimateVariable {
  std::string name = {};
  std::vector<std::int64_t> within;  ///< place in each dimension before those of the grid: the last time step
  bool has_levels = false;
  bool is_real = true;         ///< in the file: floating-point numbers, not integers
  bool becomes_int32 = false;  ///< they are integers of up to 32 bits
  /// The values of a packed variable are the numbers in the file times this, and a constant.
  double scale = 1.0;
  double offset = 0.0;
  std::vector<double> missing = {};  ///< numbers in the file that stand for no value
};

/// What a file holds, without the values of its fields. O(places along the axes + variables).
struct ClimateCatalog {
  std::array<ClimateAxis, 3> axes;  ///< of longitudes, latitudes, levels
  bool goes_round = false;          ///< the first longitude comes right after the last one
  std::int64_t n_steps = 0;
  std::vector<ClimateVariable> variables;
  std::vector<std::string> left_out;    ///< what of the grid is not read, and why
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
  /// Whether cells in the order of the file would be mirror images: one axis descends, or all three.
  [[nodiscard]] bool is_mirrored() const noexcept;
  /// Visit cells by their corners, the right way round.
  void for_each_cell(std::int64_t first, std::int64_t n,
                     const std::function<void(std::span<const std::int64_t>)>& visit) const;
};

/// Whether a netCDF file has longitudes or latitudes, by its variables and dimensions. Local.
bool is_climate(const files::NetcdfFile& file);

/// Read axes and the list of variables. Local.
/// @throws Error{bad_input} naming the variable that is missing, damaged or not supported
ClimateCatalog read_climate_catalog(const files::NetcdfFile& file, const std::string& path);

/// A file that all ranks read together, and what they know of it.
struct ClimateSource {
  files::NetcdfFile file;
  ClimateCatalog catalog;
};
/// Open a file on all ranks; rank 0 reads the catalog. Collective. The log says what is left out.
ClimateSource open_climate(mpi::Context& context, const std::string& path);

/// Read a box of a variable, the first axis running fastest; a variable without levels is repeated on each. As
/// NetcdfFile::reals. Missing values become NaN, but those of integers stay.
std::vector<double> read_climate_box(const files::NetcdfFile& file, const ClimateVariable& variable,
                                     const mesh::IndexBox& box);

}  // namespace barrio::io::detail
