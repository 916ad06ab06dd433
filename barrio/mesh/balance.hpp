#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

struct BalanceOptions {
  /// Of the owned cells, >= 0, such as measured time. None on any rank: 1 each.
  std::span<const std::int64_t> weights = {};
  /// "rcb" or "hilbert", by the cells' centres: the parts do not depend on where cells are now. "metis" or "ptscotch",
  /// by the cells with a common side: fewer sides between ranks, for more time; parts depend on where cells are. See
  /// `partition_cells`.
  std::string method = "rcb";
  /// Give each rank the part of which it has most already, so that few cells move. Without it part p goes to rank p,
  /// wherever cells are now.
  bool keep = true;
};

/// Choose a rank for each owned cell so that all ranks get the same weight and cells that lie together stay together:
/// what `Mesh::migrate` takes. Collective.
/// @return shape (mesh.n_owned(mesh.cell_dim()))
/// @throws AgreedError as partition::rcb; {usage} for a wrong number of weights, and for a method that is not known or
/// that this build lacks
/// Cost: of the method, see partition::rcb, hilbert, cut_by_metis and cut_by_ptscotch, the last two after `dual_graph`;
/// and of partition::remap
std::vector<Rank> balanced_ranks(const Mesh& mesh, const BalanceOptions& options = {});

}  // namespace barrio::mesh
