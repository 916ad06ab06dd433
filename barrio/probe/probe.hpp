#pragma once

/// @file Probe how MPI messages behave over the job's transport, and store the profile.

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::probe {

/// Extent of a probe.
enum class Depth {
  check,   ///< idle calls, latency, three sizes: well under a second, to check whether a profile still holds
  limits,  ///< also the limits and the overlap: the contents of a profile, and what settings change
  all,     ///< also where calls block, what releases them, the figures and programs of the thesis
};

/// Options of `run()`; the same on all ranks.
struct ProbeOptions {
  Depth depth = Depth::all;    ///< choice of experiments
  double max_seconds = 600.0;  ///< no experiment begins after that
};

/// Result of a probe: document and profile; the same on all ranks.
struct Findings {
  /// Of schema barrio.probe.transport; on all ranks. If the job has several nodes, and two ranks on the first one,
  /// "on_node" is another document for messages within a node. "not_tried" names the experiments that were left out,
  /// with the reason: the time was over, or other work disturbs the measurement.
  Json document;
  Profile profile;  ///< of the job's platform; the same on all ranks
};

/// Measure how messages between two ranks behave over the transport with which this job was launched. Collective; ranks
/// beyond the pair sleep meanwhile. Cost: one to four seconds, with several nodes one more, and on a busy host up to a
/// minute; messages of up to 4 MiB.
/// @throws AgreedError{usage} with one rank. If the pair stalls for good, the job ends with a message
/// Source: Saif 2004, chapter 3.
Findings run(mpi::Context& context, const ProbeOptions& options = {});

/// Tell whether the findings have a whole profile that other work did not disturb.
bool has_profile(const Json& document);

/// Store the profiles of a document among those of a file. Local. @throws Error{failed} if it cannot be written
void store(const std::string& path, const Json& document);

}  // namespace barrio::probe
