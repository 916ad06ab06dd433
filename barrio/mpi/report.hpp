#pragma once

/// @file Result documents, and tables of the time each region took over all ranks.

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Begin a result document with all that a reader needs to repeat the run: `json_document` plus MPI library, launcher,
/// rank count, nodes and seed. Collective. @return the same document on all ranks
Json document(Context& context, std::string_view schema, int schema_version, std::uint64_t seed = 0);

/// Return name and version of the MPI library, on one line. Works before MPI_Init.
std::string mpi_library();

/// Statistics over ranks of one region.
struct RegionSummary {
  std::string name;                  ///< of the region
  std::uint64_t count = 0;           ///< entries, summed over ranks
  int n_ranks = 0;                   ///< ranks that entered it
  double min_seconds = 0.0;          ///< total of the fastest rank; 0 if a rank did not enter it
  double mean_seconds = 0.0;         ///< average of the totals of all ranks, 0 for those that did not enter it
  double max_seconds = 0.0;          ///< total of the slowest rank
  std::vector<double> of_rank = {};  ///< seconds of each rank, up to max_ranks_shown ranks; empty above
};

/// Maximum number of ranks for which a summary also has the time of each.
inline constexpr int max_ranks_shown = 64;

/// Reduce the context's trace over ranks. Collective. @return on rank 0, in the order regions were first entered there;
/// empty elsewhere. Cost: a binomial tree of texts as long as the list of regions.
std::vector<RegionSummary> summarise(Context& context);

/// Format the summary as a text table.
std::string format_summary(const std::vector<RegionSummary>& summary);
/// Write the summary as a JSON array of one object per region. Local.
Json to_json(const std::vector<RegionSummary>& summary);

/// Write the trace as Chrome/Perfetto JSON, one track per rank. Collective. Each rank writes its own part of the file;
/// nothing is gathered. Needs a context with `Trace::Mode::events`.
/// @throws AgreedError{failed} if the file cannot be written; an old file stays unchanged then
void write_trace(Context& context, const std::string& path);

}  // namespace barrio::mpi
