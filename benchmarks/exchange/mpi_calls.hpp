#pragma once

#include <cstdint>

namespace barrio::bench {

/// Counts of this rank's MPI calls so far, in barrio and in libraries. This program defines MPI's functions, which
/// take precedence over those of the MPI library, and forwards each call to its profiling name.
struct MpiCalls {
  /// Barriers, reductions, scans, gathers, scatters, broadcasts, all-to-alls, neighbourhood collectives, and calls that
  /// make a communicator; blocking or not.
  std::uint64_t collectives = 0;
  /// Sends in any mode, including starts of persistent sends.
  std::uint64_t messages = 0;

  MpiCalls& operator+=(const MpiCalls& other) {
    collectives += other.collectives;
    messages += other.messages;
    return *this;
  }
  friend MpiCalls operator-(MpiCalls a, const MpiCalls& b) {
    return {a.collectives - b.collectives, a.messages - b.messages};
  }
};

MpiCalls mpi_calls();

/// Tell whether calls are counted. False in the simulator, where the counts stay zero.
bool counts_mpi_calls();

}  // namespace barrio::bench
