#pragma once

#include "barrio/base/json.hpp"
#include "barrio/probe/experiments/limits.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Measure the time that each call takes, by size, one way and both ways: Isend, Irecv, compute, Wait (Saif 2004,
/// figure 3.1). Both sides of the pair call it.
Json find_blocking_calls(Pair& pair);

/// Find whether a wait right after its send blocks until the receiver calls MPI again, by size and send mode (Saif
/// 2004, figures 3.4 and 3.12). Both sides of the pair call it.
Json find_early_waits(Pair& pair);

/// Find which call of the receiver releases a waiting sender (Saif 2004, figures 3.5 and 3.13). Both sides of the pair
/// call it.
Json find_releases(Pair& pair, const MessageLimits& limits);

/// Find whether pairs complete whose ranks wait for their sends before their receives, by size (Saif 2004, figure 3.6).
/// Both sides of the pair call it.
Json find_deadlocks(Pair& pair);

}  // namespace barrio::probe
