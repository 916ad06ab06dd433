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
  Json document;    ///< of schema barrio.probe.transport; on all ranks
  Profile profile;  ///< the same on all ranks
};

/// Find out how messages between two ranks behave over the transport this job was launched with. Collective; ranks
/// beyond the pair sleep meanwhile. Cost: one to four seconds; messages of up to 4 MiB.
/// @throws AgreedError{usage} with one rank, {failed} if the pair stalls for good
/// Source: Saif 2004, chapter 3.
Findings run(mpi::Context& context, const ProbeOptions& options = {});

}  // namespace barrio::probe
