#pragma once

/// @file Recorded traffic of a program: documents of `barrio record`, and counts of unfinished jobs.

#include <optional>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/json.hpp"
#include "barrio/rankmap/hosts.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::rankmap {

/// Contents of a document of `barrio record`, or of any traffic document.
struct RecordedRun {
  /// Traffic of the program's own calls: messages, to neighbours, one-sided.
  TrafficMatrix traffic;
  /// Traffic inside collectives, by the pairs of the algorithm that MPIs use for each; an estimate.
  TrafficMatrix collectives;
  /// Hosts of the ranks, in rank order; empty if the document does not state them.
  std::vector<HostRun> hosts;
  double seconds = 0.0;  ///< run time of the program; 0 if the document does not state it
};

/// Read a traffic document with all its contents. Local. @throws Error{bad_input}, or Error{failed} if it cannot be
/// opened
RecordedRun read_recorded_run(const std::string& path);

/// Counts of the ranks of a job that may not have come to its end, read from the files of its ranks.
struct KeptRun {
  RecordedRun run;            ///< `hosts` is empty if a rank is missing; `seconds` is 0 if it was not over
  std::vector<Rank> missing;  ///< ranks without a file
  bool is_written = false;    ///< the job wrote its own document
  bool is_over = false;       ///< the recording time has passed on all ranks
};

/// Read the counts that jobs have left in a folder, job after job by name; ranks may still run. Local. An incomplete
/// file counts as missing. @throws Error{failed} if the folder cannot be read
std::vector<KeptRun> read_kept_runs(const std::string& folder);

/// Write such a run as a document of schema barrio.traffic. @param seconds  run time of the job, if known
Json to_json(const KeptRun& kept, std::optional<double> seconds);

}  // namespace barrio::rankmap
