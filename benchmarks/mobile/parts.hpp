#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

struct MobileOptions {
  std::vector<std::string> parts{"stream", "request", "local", "remote", "skewed", "directory", "policies"};
  std::int64_t n_messages = 1'000'000;  // of each rank, in a run
  int n_objects = 1000;                 // of each rank
  int n_chains = 16;                    // of messages, at each object at one time
  bool migration = false;               // objects of local and remote may migrate, though they do not
  int repeats = 5;
  std::string scratch = {};  // folder for objects on the disk; empty: the usual one for temporary files
  Output output;
};

/// Send small messages in both directions by a stream, and by rounds. Collective.
Json measure_stream(mpi::Context& context, const MobileOptions& options, Goals& goals);
/// Send a request and wait for the reply, by a stream, and by receives that are posted by hand. Collective.
Json measure_request(mpi::Context& context, const MobileOptions& options, Goals& goals);
/// Let objects send messages to objects of this rank or of the next one. Collective.
Json measure_objects(mpi::Context& context, const MobileOptions& options, bool is_remote, Goals& goals);

/// Let objects of unequal cost, all on rank 0 at first, spread over ranks. Collective.
Json measure_skewed(mpi::Context& context, const MobileOptions& options, Goals& goals);
/// Let objects migrate after every tenth message, and count the ranks that messages come by. Collective.
Json measure_directory(mpi::Context& context, const MobileOptions& options, Goals& goals);

/// Count loads from the disk by each choice of what leaves memory, by the least possible. Collective.
Json measure_policies(mpi::Context& context, const MobileOptions& options, Goals& goals);

/// Report a wrong sum. @throws AgreedError{differs} unless it is right on all ranks. Collective
void check_sum(mpi::Context& context, bool is_right, const char* what);

}  // namespace barrio::bench
