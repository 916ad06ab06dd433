#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "barrio/io/common/description.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"
#include "barrio/io/vtk/vtk_left_out.hpp"

namespace barrio::io::detail {

/// A VTK file of any dialect, cut into shares of bounded size.
struct VtkShares {
  std::string format;
  int n;
  std::int64_t n_points;
  /// `with_grid` as in `read_vtk_share`.
  std::function<VtkGrid(int share, bool with_grid)> read;
  std::int64_t n_grid_cells = 0;  ///< of a structured dataset
  int grid_type = 0;              ///< VTK's number of the type of those; 0: the shares state the types
  std::map<std::pair<int, int>, std::string> set_names = {};  ///< by dimension and id
  VtkLeftOut left_out = {};
};
/// Return the number of shares of bounded size that hold so many bytes; at least 1.
int n_shares_of(std::uintmax_t n_bytes) noexcept;
Json inspect_vtk_shares(const std::string& path, const VtkShares& shares, const InspectOptions& options);

Json inspect_vtk(const std::string& path, const InspectOptions& options);
Json inspect_vtu(const std::string& path, const InspectOptions& options);
Json inspect_pvtu(const std::string& path, const InspectOptions& options);
Json inspect_xdmf(const std::string& path, const InspectOptions& options);
Json inspect_vtkhdf(const std::string& path, const InspectOptions& options);

}  // namespace barrio::io::detail
