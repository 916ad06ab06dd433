#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/exchange/contender.hpp"
#include "benchmarks/exchange/mpi_calls.hpp"
#include "benchmarks/exchange/options.hpp"
#include "benchmarks/exchange/pattern.hpp"

namespace barrio::bench {

struct Timed {
  double seconds = 0.0;  ///< of the slowest rank, including the barrier after the round
  MpiCalls calls;        ///< of this rank in the round, without the barriers around it
};

/// Run one round, and check its contents. Collective.
/// @throws AgreedError{differs} with the contender if contents are wrong
Timed time_round(mpi::Context& context, Contender& contender, const std::string& name, const Work& work,
                 const Tally& wanted);

/// Cost of a round of one contender.
struct Row {
  std::string name;
  double seconds = std::numeric_limits<double>::infinity();  ///< min of all repetitions
  double numbers = 0.0;                                      ///< received by a rank, mean over ranks and rounds
  double messages = 0.0;                                     ///< sent by a rank through MPI, mean over ranks and rounds
  double collectives = 0.0;                                  ///< called by a rank, mean over rounds, max over ranks
};

/// The rows of one number of iterations, and the contenders left out.
struct Case {
  std::uint64_t n = 0;
  std::vector<Row> rows = {};
  std::vector<std::string> left_out = {};
};

/// Run all contenders of the options, interleaved in every repetition. Collective. @throws as time_round
Case compare(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n);

/// Do the same with `n_back_to_back` rounds of each contender without barriers between them. The time of a round is
/// their mean, from the first rank's begin to the last one's end. This needs a clock that all ranks share, as on a
/// simulated cluster. Contents are checked in each round, and agreed on once, at the end.
Case compare_back_to_back(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n);

}  // namespace barrio::bench
