#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/recorded_run.hpp"

namespace barrio::rankmap {

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
