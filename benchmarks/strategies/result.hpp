#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/strategies/options.hpp"

namespace barrio::bench {

// Each part returns one row per measured case. Collective; the same on all ranks. @throws AgreedError{differs} if an
// exchange delivered wrong contents.

/// Measure the wait after computing, by size: without calls, and with strategies that call MPI meanwhile.
Json measure_overlap(mpi::Context& context, const StrategyOptions& options);
/// Measure all strategies, interleaved, by size, imbalance and number of messages.
/// @param rounds_of_life  after which each exchange is remade, as for a changing mesh; 0: never
Json measure_cells(mpi::Context& context, const StrategyOptions& options, std::uint64_t rounds_of_life = 0);
/// Measure the communication engine on rank 0, which computes while the others wait. Needs MPI_THREAD_MULTIPLE.
Json measure_engine(mpi::Context& context, const StrategyOptions& options);

/// Measure rounds without computing on any number of ranks: time, messages, collectives.
Json measure_rounds(mpi::Context& context, const StrategyOptions& options);

/// Make the document with goals. Collective.
Json make_document(mpi::Context& context, const StrategyOptions& options);
std::string to_text(const Json& document);

/// Throw on all ranks if one of them received wrong contents.
void check_contents(bool is_right, const std::string& what);

}  // namespace barrio::bench
