#pragma once

#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Names of the data of a VTK file that barrio does not read.
struct VtkLeftOut {
  std::vector<std::string> arrays = {};      ///< of texts or bits
  std::vector<std::string> field_data = {};  ///< of the file as a whole, not of its points or cells
  std::vector<std::string> others = {};      ///< described in words

  /// Add those of another piece of the same mesh, each name once. Local.
  void add(const VtkLeftOut& other);
  /// Unite those of all ranks, which hold pieces in the order of ranks. Collective.
  void unite(mpi::Context& context);
  /// Log them, if there are any. Local.
  void tell(mpi::Context& context, const std::string& path) const;
  /// Describe them for `barrio info`; empty if there are none.
  [[nodiscard]] std::vector<std::string> unsupported() const;
};

}  // namespace barrio::io::detail
