#pragma once

#include <optional>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Agents between the nodes of a neighbourhood. For each pair of bordering nodes one rank of each, its agent for the
/// other node, gathers and distributes the messages between them.
struct NodePlan {
  /// Neighbour on another node, and the agents in between.
  struct Far {
    Rank rank;
    Rank agent;        // on this rank's node; may be this rank
    Rank their_agent;  // on the neighbour's node
  };
  std::vector<Rank> near;    // neighbours on this node, ascending
  std::vector<Far> far;      // the others, ascending
  std::vector<Rank> locals;  // agents of this rank, and ranks it is an agent for, ascending
  std::vector<Rank> peers;   // agents of other nodes that this one exchanges with, ascending
};

/// Find the agents. Collective. Cost: two rounds among the neighbours, two crystal routers, a communicator split.
/// @throws AgreedError if neighbours are not mutual, or nodes are given on some ranks only
/// @param neighbours  mutual, ascending  @param node  number of this rank's node; found by shared memory if empty
NodePlan make_node_plan(mpi::Context& context, std::span<const Rank> neighbours, std::optional<int> node);

/// Tell whether routing by node is cheaper, by the rule of `Routing::automatic`. The same on all ranks. Collective.
bool is_cheaper_by_node(mpi::Context& context, const NodePlan& plan);

}  // namespace barrio::exchange::detail
