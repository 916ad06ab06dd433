#pragma once

/// @file Nodes of a job: the node of this rank, and the ranks on it.

#include <optional>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Position of this rank: its node and its place there. Nodes are numbered by their lowest rank.
struct NodePlace {
  int node = 0;           ///< number of this rank's node, 0-based
  int n_nodes = 1;        ///< nodes in the job
  int rank_on_node = 0;   ///< 0-based
  int ranks_on_node = 1;  ///< ranks of this context that share its memory
};

/// Find the node of this rank, by shared memory. Collective. Cost: one communicator split and two scans; memory O(1).
NodePlace find_node(Context& context);

/// Node and its ranks.
struct NodeRanks {
  int node = 0;             ///< nodes are numbered by their lowest rank
  std::vector<Rank> ranks;  ///< ascending
};

/// Find the ranks on this rank's node. Collective. Cost: one communicator split and a scan; memory O(ranks on the
/// node).
/// @param group  a number common to the ranks of one node; if empty, ranks that share memory are on one node
NodeRanks find_node_ranks(Context& context, std::optional<int> group = {});

/// Count the cores this process may run on, by its affinity mask. Local.
int usable_cores();

}  // namespace barrio::mpi
