#pragma once

/// @file Load balancing: choose the rank to which `Mesh::migrate` moves each cell.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Options of `balanced_ranks`, the same on all ranks except for the weights.
struct BalanceOptions {
  /// Weights of the owned cells, >= 0, such as measured time. Empty on all ranks: 1 each.
  std::span<const std::int64_t> weights = {};
  /// "rcb" or "hilbert", by cell centres: the parts do not depend on where cells are now. "metis" or "ptscotch", by the
  /// dual graph (cells with a common side): fewer sides between ranks, for more time; the parts depend on where cells
  /// are. See `partition_cells`.
  std::string method = "rcb";
  /// Give each rank the part of which it already has most, so that few cells move. Otherwise part p goes to rank p,
  /// wherever cells are now.
  bool keep = true;
};

/// Choose a rank for each owned cell, for `Mesh::migrate`. All ranks get the same weight, and nearby cells stay
/// together. Collective.
/// @return shape (mesh.n_owned(mesh.cell_dim()))
/// @throws AgreedError as partition::rcb; {usage} for a wrong number of weights, and for a method that is unknown or
/// missing from this build
/// Cost: that of the method, see partition::rcb, hilbert, cut_by_metis and cut_by_ptscotch (the last two after
/// `dual_graph`), and that of partition::remap
std::vector<Rank> balanced_ranks(const Mesh& mesh, const BalanceOptions& options = {});

}  // namespace barrio::mesh
