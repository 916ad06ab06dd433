#pragma once

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::probe {

/// What to find out.
enum class Depth {
  check,   ///< idle calls, latency, three sizes: well under a second, to see if a profile still holds
  limits,  ///< and the limits and the overlap: what a profile needs, and what settings change
  all,     ///< and where calls block, what releases them, the figures and programs of the thesis
};

struct ProbeOptions {
  Depth depth = Depth::all;
};

struct Findings {
  /// Of schema barrio.probe.transport; on all ranks. Where the job has several nodes, and two ranks on the first one,
  /// "on_node" is another document with what holds within a node.
  Json document;
  Profile profile;  ///< of the job's platform; the same on all ranks
};

/// Find out how messages between two ranks behave over the transport this job was launched with. Collective; ranks
/// beyond the pair sleep meanwhile. Cost: one to four seconds, with several nodes one more; messages of up to 4 MiB.
/// @throws AgreedError{usage} with one rank. If the pair stalls for good, the job ends with a message
/// Source: Saif 2004, chapter 3.
Findings run(mpi::Context& context, const ProbeOptions& options = {});

/// Whether the findings have a profile that was not disturbed by other work.
bool has_profile(const Json& document);

/// Put the profiles of a document among those of a file. Local. @throws Error{failed} if it cannot be written
void store(const std::string& path, const Json& document);

}  // namespace barrio::probe
