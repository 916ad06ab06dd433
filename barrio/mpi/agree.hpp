#pragma once

/// @file Agree on errors: all ranks throw if any one failed.

#include "barrio/base/error.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Agree on the outcome of a local phase: return only if it succeeded on all ranks. Collective.
/// @throws AgreedError on every rank, with the code and text of the lowest rank that failed.
/// A rank that waits for a missing rank longer than `agree_limit_seconds` ends the job with exit code 1.
/// Cost: one reduction of 4 bytes; in case of failure also broadcasts of the error.
void agree(Context& context, const Status& status);

/// Run a phase that does not communicate, then agree on its outcome. Collective.
template <class Phase>
void agree_after(Context& context, Phase&& phase) {
  agree(context, capture(std::forward<Phase>(phase)));
}

}  // namespace barrio::mpi

namespace barrio {
using mpi::agree;
using mpi::agree_after;
}  // namespace barrio
