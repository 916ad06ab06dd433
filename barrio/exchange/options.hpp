#pragma once

#include <cstdint>

namespace barrio::exchange {

/// Which ranks a round may write to, and how it finds out that it is over.
enum class Termination : std::uint8_t {
  /// Neighbours only. Their last packets carry counts. One message per neighbour and direction at least.
  neighbourhood,
  /// Neighbours, and their neighbours, who become neighbours too. Last packets name them, and a second wave among
  /// neighbours passes that on. Two messages per neighbour and direction at least.
  introductions,
  /// Any rank; strangers become neighbours. Non-blocking reductions count the parcels sent to strangers and those
  /// received, until both are equal. So it is collective: every rank of the context takes part in every round. One
  /// reduction at least. Source: Ovcharenko et al. 2012, section 4.2.
  allreduce,
  /// As allreduce, but strangers get synchronous messages, and a non-blocking barrier says that all of them have
  /// arrived. Source: Hoefler, Siebert, Lumsdaine 2010, "Scalable communication protocols for dynamic sparse data
  /// exchange".
  consensus,
  /// Any rank, by the way that one reduction found cheaper when the Neighborhood was made. Consensus if every rank has
  /// at least half of the others as neighbours, so that a second wave would cost more than a barrier. Else
  /// introductions, and behind their second wave one non-blocking reduction, which says that no parcel went farther
  /// than two hops. If one did, reductions count them as in `allreduce`. All ranks take part in every round.
  automatic,
};

/// How messages to ranks of other nodes travel.
///
/// By node a round is collective: every rank of the context takes part in every one, with neighbours or without, and
/// `close()` waits for the others, since ranks pass on what is not for them. If several such rounds are open at once,
/// all ranks close and read them in the same order. What goes to other nodes is kept until `close()`, and copied three
/// times. Neighbours stay as they are, and only they can be written to.
enum class Routing {
  /// Each to its receiver: one message per neighbour and direction.
  direct,
  /// All that the ranks of one node send to those of another travels in one message: an agent, the rank of the node
  /// that looks after this pair of nodes, gathers it, and its counterpart hands it out. Three times the latency, and as
  /// many messages between nodes as pairs of bordering nodes. For nodes of many ranks with many neighbours elsewhere.
  by_node,
  /// What costs the busiest rank less, found once from counts of all ranks when the Neighborhood is made. Direct: one
  /// message to each neighbour. By node: one to each neighbour on its node, two to each rank that it passes on for or
  /// through, one to each counterpart, and 4 for the two extra steps. Messages within a node count
  /// `Profile::near_cost`. With a `Termination` other than `neighbourhood`: direct.
  automatic,
};

/// How rows of a tuple list travel.
enum class Route {
  /// `counted` for a tuple list on up to 256 ranks. Else the cheaper of the other two, by the most bytes and the most
  /// destinations of any rank, found in one reduction: log2(P) * (M + bytes) by the router, (8 * log2(P) +
  /// destinations) * M + bytes directly, where a message costs as much as M = 16 KiB. So less than some 200 KB a rank
  /// go by the router.
  automatic,
  /// Together, in log2(P) exchanges with one partner each; a row is copied up to log2(P) times.
  crystal,
  /// One message to each destination. The receivers do not expect them, so a consensus says that all have arrived:
  /// one round of a Neighborhood without neighbours, with `Termination::consensus`.
  direct,
  /// The same, but all ranks first tell each other how many bytes come, 16 bytes to every rank of the job, in
  /// MPI_Alltoall. Nothing is copied on the way. For some hundreds of ranks; memory O(P).
  counted,
};

/// The same on all ranks.
struct TransferOptions {
  Route route = Route::automatic;
};

/// How the values of an id are combined. All methods give the same result, bit by bit.
enum class GatherMethod {
  automatic,  ///< the fastest of those below, timed when the plan is made
  pairwise,   ///< each sharer sends to each other one: one message per neighbour and direction
  owner,      ///< one sharer of each id, chosen by a hash, combines and sends back: two messages, less volume
  crystal,    ///< as owner, but the messages travel together, in log2(P) exchanges each way
};

}  // namespace barrio::exchange
