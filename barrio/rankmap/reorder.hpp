#pragma once

/// @file Reorder the ranks of a running job so that those that talk most share a node.

#include <cstdint>
#include <optional>
#include <span>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::rankmap {

/// Options of `reorder()`; the same on all ranks, except `node`.
struct ReorderOptions {
  double inside = 1.0;    ///< distance of two ranks on one node
  double outside = 10.0;  ///< distance of two ranks on different nodes
  /// A number that all ranks of one node share; empty: ranks that share memory are on one node. A number that also
  /// distinguishes sockets or GPUs makes these the nodes.
  std::optional<int> node = {};
  double seconds = 0.05;   ///< search time of rank 0, about, counted in work; the others wait
  double min_gain = 0.02;  ///< part of the cost; all ranks stay if less can be gained
  std::uint64_t seed = 1;  ///< of the random parts of the search
};

/// A communicator of the same processes, reordered to suit their traffic.
struct Reordered {
  mpi::Comm comm;             ///< with the new order of ranks; the caller's
  double cost_before = 0.0;   ///< Z, the sum over pairs of weight x distance
  double cost_after = 0.0;    ///< <= cost_before
  double share_before = 0.0;  ///< part of the weight between nodes, 0..1
  double share_after = 0.0;   ///< the same, in the new order
  int n_moved = 0;            ///< ranks that belong to another process now
};

/// Return a communicator whose ranks are placed so that those that talk most share a node: the intent of
/// MPI_Dist_graph_create(reorder = 1). Rank i of the new communicator talks to the neighbours that rank i of the old
/// one names here, by their ranks in the new one; only the process behind it may differ. Call it before data are
/// distributed, or move the data of a rank from its old process to its new one. It may be called again on the result
/// when the traffic has changed. It starts from the current order, and keeps it unless enough is gained. Collective.
/// The communicator is the caller's; the context keeps its own.
/// @param[in] neighbours  ranks that this one sends to; those that it receives from name it themselves
/// @param[in] weights  traffic to each neighbour, in any unit; finite and >= 0
/// @throws AgreedError{bad_input} if a neighbour is not a rank or a weight is negative or NaN; AgreedError{usage} if
/// there are not as many weights as neighbours, or for options out of range
/// Cost: the rows of the sparse graph travel to rank 0 in log2(P) steps. Rank 0 then has O(neighbours of all ranks)
/// memory, the last rank on the way half of it, the one before a quarter. Rank 0 searches for `seconds`, and at least
/// for one bisection, O(neighbours of all ranks x log nodes). One communicator split.
/// Source: Brandfass et al. 2012, section 5; in the program instead of a machine file.
[[nodiscard]] Reordered reorder(mpi::Context& context, std::span<const Rank> neighbours,
                                std::span<const double> weights, const ReorderOptions& options = {});

}  // namespace barrio::rankmap
