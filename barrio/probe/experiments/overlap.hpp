#pragma once

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Times of calls that find nothing to do.
struct IdleCalls {
  double test_seconds = 0.0;
  double iprobe_seconds = 0.0;
};
IdleCalls time_idle_calls(Pair& pair);
Json to_json(const IdleCalls& calls);

/// Measure the share of their time that other processes, or the host of a virtual machine, took from two ranks that
/// only computed for 20 ms; the worse side counts. Both sides of the pair call it.
double find_lost_time(Pair& pair);

/// Measure how much of a two-way exchange is left to wait for after computing, by size and by the number of tests in
/// between. Fills the times, and the number of tests, of a profile. Both sides of the pair call it.
Json find_overlap(Pair& pair, Profile& profile);

/// Check whether an exchange still takes the time of a profile, at three sizes: rows of stored and measured seconds,
/// and "holds" unless one is three times the other. Both sides of the pair call it. Cost: some milliseconds.
Json check_profile(Pair& pair, const Profile& profile);

/// Measure the rate of consecutive messages, by size and by number in flight. Fills packet size and ring depth of a
/// profile. Both sides of the pair call it.
Json find_streams(Pair& pair, Profile& profile);

}  // namespace barrio::probe
