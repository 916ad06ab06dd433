#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

struct StrategyOptions {
  Output output = {};
  std::vector<std::string> parts{"overlap", "cells", "anew"};  ///< also rounds; engine needs MPI_THREAD_MULTIPLE
  std::vector<std::uint64_t> sizes;                            ///< bytes of a message; empty: those of a profile
  std::vector<double> imbalances{0.0, 0.5};                    ///< extra computing of odd ranks, as a fraction
  std::vector<int> messages{1, 4};                             ///< to each peer in a round
  int n_repeats = 9;
  double batch_seconds = 8e-3;  ///< approximate time of consecutive rounds of a strategy
};

/// Tell whether the command line has the part that needs MPI_THREAD_MULTIPLE; called before MPI is initialised.
bool wants_engine(int argc, char** argv);

/// Parse the command line. Collective. @return nothing after --help. @throws AgreedError{usage}
std::optional<StrategyOptions> parse_strategy_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
