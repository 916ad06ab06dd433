#pragma once

#include "barrio/base/error.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Ask all ranks how a local phase went, and go on only if it went well everywhere. Collective.
/// @throws AgreedError on every rank, with the code and text of the lowest rank that failed.
/// A rank that waits longer than `agree_limit_seconds` for one that never comes ends the job with exit code 1.
/// Cost: one reduction of 4 bytes; a broadcast more in case of failure.
void agree(Context& context, const Status& status);

/// Run a phase that communicates with nobody, then agree on its outcome. Collective.
template <class Phase>
void agree_after(Context& context, Phase&& phase) {
  agree(context, capture(std::forward<Phase>(phase)));
}

}  // namespace barrio::mpi

namespace barrio {
using mpi::agree;
using mpi::agree_after;
}  // namespace barrio
