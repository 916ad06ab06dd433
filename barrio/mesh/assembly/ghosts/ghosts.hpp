#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/assembly/fetch/known_cells.hpp"

namespace barrio::mesh::detail {

/// Places for each of several ranks, by ascending rank.
struct PlacesByRank {
  std::vector<Rank> ranks;
  std::vector<std::vector<std::int32_t>> places;
  std::vector<std::int32_t>& of(Rank rank);
};

/// Check the options of ghosts. Collective.
/// @throws AgreedError{usage} for ghosts that are not possible, or options that differ between ranks
void check_options(mpi::Context& context, const BuildOptions& options, Dim cell_dim);

/// Own cells that may be ghosts elsewhere, and the ranks that may have them.
struct GhostChoice {
  std::vector<bool> may_leave;  ///< by place of own cells; empty: all may
  std::vector<Rank> ranks;      ///< ascending; empty: all ranks

  /// Choose by the options. Local.
  /// @pre own cells and their sets are known
  /// @throws AgreedError{usage} for a set that does not exist
  GhostChoice(Rank me, const BuildOptions& options, std::span<const SetInfo> infos, const KnownCells& known);
};

/// Result of the exchange of ghosts.
struct Ghosts {
  std::vector<Rank> neighbours;                    ///< ranks that share vertices, ascending
  exchange::Neighborhood hood;                     ///< of these, and of ranks met since
  std::vector<Rank> owners = {};                   ///< of ghost cells, by place behind the own ones
  PlacesByRank sent = {};                          ///< own cells that are ghosts elsewhere
  std::vector<std::int32_t> interface_cells = {};  ///< own cells with vertices that others share, ascending
};

/// Add the layers of ghosts to the known cells. Collective: one round of neighbours for each layer, and another one for
/// each further layer, or over a bridge of sides for every layer.
Ghosts add_ghosts(mpi::Context& context, const BuildOptions& options, const GhostChoice& choice, KnownCells& known);

}  // namespace barrio::mesh::detail
