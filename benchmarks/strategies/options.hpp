#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

struct StrategyOptions {
  Output output = {};
  std::vector<std::string> parts{"overlap", "cells", "anew"};  ///< and engine, which needs MPI_THREAD_MULTIPLE; rounds
  std::vector<std::uint64_t> sizes;                            ///< bytes of a message; those of a profile if empty
  std::vector<double> imbalances{0.0, 0.5};                    ///< what the odd ranks compute more than the even ones
  std::vector<int> messages{1, 4};                             ///< to each peer in a round
  int n_repeats = 9;
  double batch_seconds = 8e-3;  ///< rounds of a strategy in one go take about that
};

/// Whether the command line asks for the part that needs MPI_THREAD_MULTIPLE; before MPI is initialised.
bool wants_engine(int argc, char** argv);

/// Collective. @return nothing after --help. @throws AgreedError{usage}
std::optional<StrategyOptions> parse_strategy_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
