#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/json.hpp"
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

/// What the ranks of a job have counted that may not have come to its end: read from the files of its ranks.
struct KeptRun {
  RecordedRun run;            ///< `hosts` is empty if a rank is missing; `seconds` is 0 if it was not over
  std::vector<Rank> missing;  ///< ranks without a file
  bool is_written = false;    ///< the job wrote its own document
  bool is_over = false;       ///< the time to record has passed on all ranks
};

/// Read what jobs have left in a folder, job after job by name; ranks may be running meanwhile. Local. A file that is
/// not whole counts as missing. @throws Error{failed} if the folder cannot be read
std::vector<KeptRun> read_kept_runs(const std::string& folder);

/// Write such a run as a document of schema barrio.traffic. @param seconds  how long the job ran, if that is known
Json to_json(const KeptRun& kept, std::optional<double> seconds);

}  // namespace barrio::rankmap
