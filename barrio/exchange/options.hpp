#pragma once

/// @file Choices of how messages travel and how rounds end.

#include <cstdint>

namespace barrio::exchange {

/// Ranks that a round may write to, and the way it finds out that it is over.
enum class Termination : std::uint8_t {
  /// Neighbours only. Their last packets carry counts. At least one message per neighbour and direction.
  neighbourhood,
  /// Neighbours, and their neighbours, who become neighbours too. Last packets name them, and a second wave among
  /// neighbours passes that on. At least two messages per neighbour and direction.
  introductions,
  /// Any rank; strangers become neighbours. Non-blocking reductions count the parcels sent to strangers and those
  /// received, until both are equal. Hence it is collective: every rank of the context takes part in every round. At
  /// least one reduction. Source: Ovcharenko et al. 2012, section 4.2.
  allreduce,
  /// As allreduce, but strangers get synchronous messages, and a non-blocking barrier tells that all of them have
  /// arrived. Source: Hoefler, Siebert, Lumsdaine 2010, "Scalable communication protocols for dynamic sparse data
  /// exchange".
  consensus,
  /// Any rank, by the method that one reduction found cheaper when the Neighborhood was made. It is consensus if every
  /// rank has at least half of the others as neighbours: a second wave would then cost more than a barrier. Else it is
  /// introductions, followed by one non-blocking reduction, which tells that no parcel went farther than two hops. If
  /// one did, reductions count parcels as in `allreduce`. All ranks take part in every round.
  automatic,
};

/// Path of messages to ranks of other nodes.
///
/// By node a round is collective: every rank of the context takes part in every one, with neighbours or without.
/// `close()` waits for the others, since ranks forward messages for others. If several such rounds are open at once,
/// all ranks close and read them in the same order. Messages to other nodes are kept until `close()`, and copied three
/// times. Neighbours stay unchanged, and only they can be written to.
enum class Routing {
  /// Straight to the receiver: one message per neighbour and direction.
  direct,
  /// One message carries everything that the ranks of one node send to those of another. An agent, the rank of the node
  /// that is responsible for this pair of nodes, gathers it, and its counterpart hands it out. Three times the latency;
  /// as many messages between nodes as pairs of bordering nodes. For nodes of many ranks with many neighbours
  /// elsewhere.
  by_node,
  /// The path that costs the busiest rank less, found once from counts of all ranks when the Neighborhood is made.
  /// Direct: one message to each neighbour. By node: one to each neighbour on its node, two to each rank that it
  /// forwards for or through, one to each counterpart, and 4 for the two extra steps. Messages within a node count
  /// `Profile::near_cost`. With a `Termination` other than `neighbourhood`: direct.
  automatic,
};

/// Path of the rows of a tuple list.
enum class Route {
  /// `counted` for a tuple list on up to 256 ranks. Else the cheaper of the other two, by the maximum bytes and the
  /// maximum destinations of any rank, found in one reduction: log2(P) * (M + bytes) by the router, (8 * log2(P) +
  /// destinations) * M + bytes directly, where a message costs as much as M = 16 KiB. Hence up to about 200 KB per rank
  /// go by the router.
  automatic,
  /// All rows together, in log2(P) exchanges with one partner each; a row is copied up to log2(P) times.
  crystal,
  /// One message to each destination. The receivers do not expect them, so a consensus tells that all have arrived: one
  /// round of a Neighborhood without neighbours, with `Termination::consensus`.
  direct,
  /// One message to each destination, after all ranks have told each other how many bytes to expect, 16 bytes to every
  /// rank of the job, in MPI_Alltoall. No copies on the way. For some hundreds of ranks; memory O(P).
  counted,
};

/// Options of a transfer, the same on all ranks.
struct TransferOptions {
  Route route = Route::automatic;  ///< all give the same rows in the same order
};

/// Method that combines the values of an id. All methods give the same result, bit by bit.
enum class GatherMethod {
  automatic,  ///< the fastest of those below, timed when the plan is made
  pairwise,   ///< each sharer sends to each other sharer: one message per neighbour and direction
  owner,      ///< one sharer of each id, chosen by a hash, combines and sends back: two messages, less volume
  crystal,    ///< as owner, but the messages travel together, in log2(P) exchanges each way
};

}  // namespace barrio::exchange
