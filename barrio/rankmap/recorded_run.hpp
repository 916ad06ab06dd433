#pragma once

#include <string>
#include <vector>

#include "barrio/rankmap/hosts.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::rankmap {

/// What `barrio record` wrote of a program's run, or any document of traffic.
struct RecordedRun {
  /// What the program says that it sends: messages, to neighbours, one-sided.
  TrafficMatrix traffic;
  /// What collectives send inside, by the pairs of the algorithm that MPIs use for each; an estimate.
  TrafficMatrix collectives;
  /// Where ranks were, in the order of ranks; empty if the document does not say.
  std::vector<HostRun> hosts;
  double seconds = 0.0;  ///< how long the program ran; 0 if the document does not say
};

/// Read a traffic document with all that it tells. Local. @throws Error{bad_input}, or Error{failed} if it cannot be
/// opened
RecordedRun read_recorded_run(const std::string& path);

}  // namespace barrio::rankmap
