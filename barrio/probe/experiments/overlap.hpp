#pragma once

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// What calls cost that find nothing to do.
struct IdleCalls {
  double test_seconds = 0.0;
  double iprobe_seconds = 0.0;
};
IdleCalls time_idle_calls(Pair& pair);
Json to_json(const IdleCalls& calls);

/// The part of their time that other processes, or the host of a virtual machine, took from two ranks that only
/// computed for 20 ms: of the worse side. Both sides of the pair.
double find_lost_time(Pair& pair);

/// How much of an exchange both ways is left to wait for after computing, by size and by the number of tests meanwhile.
/// Fills the times, and the number of tests, of a profile. Both sides of the pair.
Json find_overlap(Pair& pair, Profile& profile);

/// Whether an exchange takes now what a profile says, at three sizes: rows of stored and measured seconds, and "holds"
/// unless one is three times the other. Both sides of the pair. Cost: some milliseconds.
Json check_profile(Pair& pair, const Profile& profile);

/// How fast messages follow each other by size and by how many are on their way. Fills packet size and ring depth of a
/// profile. Both sides of the pair.
Json find_streams(Pair& pair, Profile& profile);

}  // namespace barrio::probe
