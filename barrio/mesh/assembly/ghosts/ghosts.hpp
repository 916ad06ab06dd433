#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/assembly/ghosts/known_cells.hpp"

namespace barrio::mesh::detail {

/// Places for each of several ranks, ascending.
struct PlacesByRank {
  std::vector<Rank> ranks;
  std::vector<std::vector<std::int32_t>> places;
  std::vector<std::int32_t>& of(Rank rank);
};

/// Collective. @throws AgreedError{usage} for ghosts that cannot be, or options that differ between ranks
void check_options(mpi::Context& context, const BuildOptions& options, Dim cell_dim);

/// Which own cells may be ghosts elsewhere, and where.
struct GhostChoice {
  std::vector<bool> may_leave;  ///< by place of own cells; empty: all may
  std::vector<Rank> ranks;      ///< ascending; empty: all ranks

  /// Local. @pre own cells and their sets are known
  /// @throws AgreedError{usage} for a set that does not exist
  GhostChoice(Rank me, const BuildOptions& options, std::span<const SetInfo> infos, const KnownCells& known);
};

/// How ghosts came.
struct Ghosts {
  std::vector<Rank> neighbours;                    ///< ranks that share vertices, ascending
  exchange::Neighborhood hood;                     ///< of ranks that share vertices, and those met since
  std::vector<Rank> owners = {};                   ///< of ghost cells, by place behind the own ones
  PlacesByRank sent = {};                          ///< own cells that are ghosts elsewhere
  std::vector<std::int32_t> interface_cells = {};  ///< own cells with vertices that others share, ascending
};

/// Add the layers of ghosts to what is known. Collective: a round of neighbours each layer, and for each further layer,
/// or over a bridge of sides, another one.
Ghosts add_ghosts(mpi::Context& context, const BuildOptions& options, const GhostChoice& choice, KnownCells& known);

}  // namespace barrio::mesh::detail
