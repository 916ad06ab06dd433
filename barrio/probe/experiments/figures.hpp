#pragma once

#include "barrio/base/json.hpp"
#include "barrio/probe/experiments/limits.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Draw the timelines of Saif 2004, figures 3.2 to 3.6 and 3.11 to 3.13, and those of processes that arrive at
/// different times. Sizes are the thesis', or twice the eager limit where the thesis' size must be above it and is not.
/// Both sides of the pair call it.
Json draw_figures(Pair& pair, const MessageLimits& limits);

/// Run the programs of figures 3.7 and 3.8 (a test in the middle; drawn in 3.9 and 3.10) and 3.14 and 3.15 (waits for
/// sends after those for receives), before and after the change, with the thesis' model of the latter: T2 + 2 (ts + tw)
/// + tw + mu against T2 + mu. Both sides of the pair call it.
Json run_programs(Pair& pair, const MessageLimits& limits);

}  // namespace barrio::probe
