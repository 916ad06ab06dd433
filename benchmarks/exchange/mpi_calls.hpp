#pragma once

#include <cstdint>

namespace barrio::bench {

/// What this rank has called of MPI so far, in barrio and in libraries: definitions of MPI's functions in this program
/// stand before those of the MPI library and pass each call on by its profiling name.
struct MpiCalls {
  /// Barriers, reductions, scans, gathers, scatters, broadcasts, all-to-alls, neighbourhood collectives, and what makes
  /// a communicator; blocking or not.
  std::uint64_t collectives = 0;
  /// Messages given to MPI, whatever the mode; starts of persistent sends too.
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

/// False in the simulator, where the counts stay zero.
bool counts_mpi_calls();

}  // namespace barrio::bench
