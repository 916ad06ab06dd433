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
  double seconds = 0.0;  ///< of the slowest rank, the barrier behind the round included
  MpiCalls calls;        ///< of this rank in the round; the barriers around it are not counted
};

/// Run one round, and check what it brought. Collective.
/// @throws AgreedError{differs} naming the contender if it brought anything else
Timed time_round(mpi::Context& context, Contender& contender, const std::string& name, const Work& work,
                 const Tally& wanted);

/// What one contender needs for a round.
struct Row {
  std::string name;
  double seconds = std::numeric_limits<double>::infinity();  ///< the shortest of all repetitions
  double numbers = 0.0;                                      ///< that a rank gets, mean over ranks and rounds
  double messages = 0.0;                                     ///< that a rank gives to MPI, mean over ranks and rounds
  double collectives = 0.0;  ///< that a rank calls, mean over rounds, largest over ranks
};

/// The rows of one number of iterations, and whom it left out.
struct Case {
  std::uint64_t n = 0;
  std::vector<Row> rows = {};
  std::vector<std::string> left_out = {};
};

/// Run all contenders of the options, one after the other in every repetition. Collective. @throws as time_round
Case compare(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n);

/// The same with `n_back_to_back` rounds of each contender one after the other, and no barrier between them: the time
/// of a round is their mean, from the first rank's begin to the last one's end. For clocks that all ranks share, as on
/// a simulated cluster. Contents are checked; that all are content is agreed once, at the end.
Case compare_back_to_back(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n);

}  // namespace barrio::bench
