#pragma once

/// @file States of a simulation as a time series for VTK and ParaView.

#include <string>
#include <vector>

#include "barrio/amr/output_quantity.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/files/overlapping_amr.hpp"

namespace barrio::amr {

/// File of states of a simulation, a time series that VTK and ParaView open: levels of boxes
/// (files::OverlappingAmrFile). All verbs are collective.
template <std::size_t D>
class SimulationFile {
 public:
  /// Open a file. @param quantities  if empty, the conserved variables @throws AgreedError{failed} as FileWriter
  SimulationFile(const std::string& path, const Simulation<D>& simulation, std::vector<OutputQuantity> quantities = {});
  /// Add the present state. Memory: one quantity on one block.
  void write(const Simulation<D>& simulation);
  void close() { file_.close(); }

 private:
  std::vector<OutputQuantity> quantities_;
  files::OverlappingAmrFile file_;
};

extern template class SimulationFile<2>;
extern template class SimulationFile<3>;

}  // namespace barrio::amr
