#pragma once

namespace barrio::exchange {

/// How the values of an id come together. The result is the same, bit by bit.
enum class GatherMethod {
  automatic,  ///< the fastest of those below, timed when the plan is made
  pairwise,   ///< each sharer sends to each other one: one message per neighbour and direction
  owner,      ///< one sharer of each id, chosen by a hash, combines and sends back: two messages, less volume
  crystal,    ///< as owner, but the messages travel together, in log2(P) exchanges each way
};

}  // namespace barrio::exchange
