#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::rankmap {

struct ReorderOptions {
  double inside = 1.0;    ///< distance of two ranks on one node
  double outside = 10.0;  ///< distance of two ranks on different nodes
  /// A number that the ranks of one node have in common; empty: ranks that share memory are on one node. A socket's or
  /// a GPU's number beside the node's makes these the nodes.
  std::optional<int> node = {};
  double seconds = 0.05;   ///< about how long rank 0 searches, counted in work; the others wait
  double min_gain = 0.02;  ///< part of the cost; where less is to be gained all ranks stay
  std::uint64_t seed = 1;
};

/// A communicator of the same processes in an order that suits their traffic.
struct Reordered {
  mpi::Comm comm;
  double cost_before = 0.0;   ///< Z, the sum over pairs of weight x distance
  double cost_after = 0.0;    ///< <= cost_before
  double share_before = 0.0;  ///< part of the weight between nodes, 0..1
  double share_after = 0.0;
  int n_moved = 0;  ///< ranks that are another process' now
};

/// Return a communicator whose ranks are placed so that those who talk most share a node: what
/// MPI_Dist_graph_create(reorder = 1) is meant to do. Rank i of the new communicator talks to the same neighbours, by
/// their ranks there, as rank i of the old one says here; only the process behind it may be another one. So do this
/// before data is dealt out, or move what belongs to a rank from its old process to its new one. It may be called again
/// on the result when the traffic has changed: it starts from where ranks are, and leaves them there unless enough is
/// gained. Collective. The communicator is the caller's; the context goes on with its own.
/// @param[in] neighbours  ranks that this one sends to; those it receives from say so themselves
/// @param[in] weights  what it sends, in any unit, one for each neighbour; finite and >= 0
/// @throws AgreedError{bad_input} if a neighbour is no rank or a weight is negative or NaN; AgreedError{usage} if there
///         are not as many weights as neighbours, or for options out of range
/// Cost: the rows of the sparse graph travel to rank 0 in log2(P) steps, which has O(neighbours of all ranks) memory
/// meanwhile; the last rank on the way has half of it, the one before a quarter. Rank 0 searches as long as `seconds`
/// says, and at least for one bisection, O(neighbours of all ranks x log nodes). One communicator split. Source:
/// Brandfass et al. 2012, section 5; in the program instead of a machine file.
[[nodiscard]] Reordered reorder(mpi::Context& context, std::span<const Rank> neighbours,
                                std::span<const double> weights, const ReorderOptions& options = {});

}  // namespace barrio::rankmap
