#pragma once

#include <functional>
#include <span>
#include <string>

namespace barrio::amr {

/// Something to be written of each cell.
struct OutputQuantity {
  std::string name;
  int width = 1;  ///< numbers
  /// @param u  the conserved variables of a cell @param out  `width` numbers
  std::function<void(std::span<const double> u, std::span<double> out)> compute;
};

}  // namespace barrio::amr
