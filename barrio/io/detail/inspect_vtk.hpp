#pragma once

#include <functional>
#include <string>

#include "barrio/io/detail/description.hpp"
#include "barrio/io/detail/vtk_grid.hpp"

namespace barrio::io::detail {

/// A VTK file of any dialect, cut into shares of bounded size.
struct VtkShares {
  std::string format;
  int n;
  std::function<VtkGrid(int share)> read;
};
Json inspect_vtk_shares(const std::string& path, const VtkShares& shares, const InspectOptions& options);

Json inspect_vtk(const std::string& path, const InspectOptions& options);
Json inspect_vtu(const std::string& path, const InspectOptions& options);

}  // namespace barrio::io::detail
