#pragma once

/// @file A quantity of cells for output, computed from the conserved variables.

#include <functional>
#include <span>
#include <string>

namespace barrio::amr {

/// Quantity of each cell for output.
struct OutputQuantity {
  std::string name;  ///< of the array in files
  int width = 1;     ///< number of components
  /// @param u  the conserved variables of a cell @param out  `width` numbers
  std::function<void(std::span<const double> u, std::span<double> out)> compute;
};

}  // namespace barrio::amr
