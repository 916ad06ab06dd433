#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/strategies/options.hpp"

namespace barrio::bench {

// Each part gives one row per measured case. Collective; the same on all ranks. @throws AgreedError{differs} if an
// exchange brought anything but what was sent.

/// What is left to wait for after computing, by size: untouched, and with the strategies that call MPI meanwhile.
Json measure_overlap(mpi::Context& context, const StrategyOptions& options);
/// All strategies, interleaved, by size, imbalance and number of messages.
/// @param rounds_of_life  after which each exchange is made anew, as by a mesh that changes; 0: never
Json measure_cells(mpi::Context& context, const StrategyOptions& options, std::uint64_t rounds_of_life = 0);
/// The communication engine on rank 0, which computes, while the others wait. MPI_THREAD_MULTIPLE.
Json measure_engine(mpi::Context& context, const StrategyOptions& options);

/// Rounds without computing on any number of ranks: time, messages, collectives.
Json measure_rounds(mpi::Context& context, const StrategyOptions& options);

/// The document with goals. Collective.
Json make_document(mpi::Context& context, const StrategyOptions& options);
std::string to_text(const Json& document);

/// All ranks throw if one of them saw something else than was sent.
void check_contents(bool is_right, const std::string& what);

}  // namespace barrio::bench
