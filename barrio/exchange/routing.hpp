#pragma once

namespace barrio::exchange {

/// How messages to ranks of other nodes travel.
///
/// By node a round is collective: every rank of the context takes part in every one, with neighbours or without, and
/// `close()` waits for the others, since ranks pass on what is not for them. If several such rounds are open at once,
/// all ranks close and read them in the same order. What goes to other nodes is kept until `close()`, and copied three
/// times. Neighbours stay as they are, and only they can be written to.
enum class Routing {
  /// Each to its receiver: one message per neighbour and direction.
  direct,
  /// What the ranks of one node send to the ranks of another one travels together, in one message: it is gathered by
  /// the rank of the node that looks after this pair of nodes, and handed out by its counterpart. Three times the
  /// latency, and as many messages between nodes as there are pairs of nodes that border on each other. For nodes of
  /// many ranks that have many neighbours elsewhere.
  by_node,
  /// What costs the busiest rank less, found once from counts of all ranks when the Neighborhood is made: one message
  /// to
  /// each neighbour, or one to each on its node, two to each rank that it passes on for or through, one to each
  /// counterpart, and 4 for the two steps more. Messages within a node count `Profile::near_cost`. With a `Termination`
  /// other than `neighbourhood` direct.
  automatic,
};

}  // namespace barrio::exchange
