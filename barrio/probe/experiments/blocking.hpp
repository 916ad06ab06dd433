#pragma once

#include "barrio/base/json.hpp"
#include "barrio/probe/experiments/limits.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Time that each call takes, by size, one way and both ways: Isend, Irecv, compute, Wait (Saif 2004, figure 3.1).
/// Both sides of the pair.
Json find_blocking_calls(Pair& pair);

/// Whether a wait for a send that follows it at once blocks until the receiver calls MPI again, by size and send mode
/// (Saif 2004, figures 3.4 and 3.12). Both sides of the pair.
Json find_early_waits(Pair& pair);

/// Which call of the receiver lets a sender go that waits (Saif 2004, figures 3.5 and 3.13). Both sides of the pair.
Json find_releases(Pair& pair, const MessageLimits& limits);

/// Whether pairs whose ranks wait for their sends before they wait for their receives get through, by size (Saif 2004,
/// figure 3.6). Both sides of the pair.
Json find_deadlocks(Pair& pair);

}  // namespace barrio::probe
