#include <fmt/format.h>

#include <array>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/assembly/ghosts/ghosts.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// Check that options are the same on every rank. Collective.
/// @throws AgreedError{usage}
void agree_on_options(mpi::Context& context, const BuildOptions& options) {
  Hash64 hash;
  hash.add(std::int64_t{options.ghost_layers}).add(std::int64_t{value(options.bridge)});
  hash.add(std::uint64_t{options.ghost_sides});
  for (const std::string& set : options.ghost_sets) hash.add_text(set);
  hash.add(std::uint64_t{options.ghost_sets.size()});
  for (const Rank rank : options.ghost_ranks) hash.add(std::int64_t{rank});
  const std::int64_t mine = hash.value() >> 1U;
  std::array<std::int64_t, 2> ends{mine, -mine};
  mpi::all_reduce(context, std::span<std::int64_t>(ends), MPI_MAX);
  if (ends[0] == -ends[1]) return;
  refuse_together(ErrorCode::usage, "options of ghosts", "must be the same on every rank",
                  "give the same layers, bridge, sides, sets and ranks everywhere");
}

/// Check that ranks exist.
/// @throws AgreedError{usage}
void check_ghost_ranks(const mpi::Context& context, std::span<const Rank> ranks) {
  for (const Rank rank : ranks) {
    if (rank >= 0 && rank < context.size()) continue;
    refuse_together(ErrorCode::usage, fmt::format("ghosts of rank {}", rank),
                    fmt::format("are not possible: there are {} ranks", context.size()),
                    fmt::format("give ranks from 0 to {}", context.size() - 1));
  }
}

}  // namespace

void check_options(mpi::Context& context, const BuildOptions& options, Dim cell_dim) {
  agree_on_options(context, options);
  if (options.ghost_layers < 0)
    refuse_together(ErrorCode::usage, fmt::format("{} ghost layers", options.ghost_layers), "must be at least 0");
  if (options.bridge >= cell_dim && cell_dim > Dim::vertex)
    refuse_together(ErrorCode::usage, fmt::format("ghosts over a bridge of dimension {}", value(options.bridge)),
                    fmt::format("are not possible: the cells are of dimension {}", value(cell_dim)),
                    "choose a bridge of a lower dimension than the cells");
  check_ghost_ranks(context, options.ghost_ranks);
}

}  // namespace barrio::mesh::detail
