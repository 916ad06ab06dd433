#pragma once

#include <cstdint>

namespace barrio::exchange {

/// Which ranks may be written to in a round, and how the round finds out that it is over.
enum class Termination : std::uint8_t {
  /// Neighbours only. Their last packets carry counts. One message per neighbour and direction at least.
  neighbourhood,
  /// Neighbours, and ranks that have a neighbour in common with this one: they become neighbours. Last packets name
  /// them, and a second wave among neighbours passes that on. Two messages per neighbour and direction at least.
  introductions,
  /// Neighbours, and any other rank: they become neighbours. Non-blocking reductions count what strangers were sent and
  /// what they have received, until both are equal; so it is collective, and every rank of the context takes part in
  /// every round. One reduction at least. Source: Ovcharenko et al. 2012, section 4.2.
  allreduce,
  /// As allreduce, but strangers get synchronous messages, and a non-blocking barrier says that all of them have
  /// arrived. Source: Hoefler, Siebert, Lumsdaine 2010, "Scalable communication protocols for dynamic sparse data
  /// exchange".
  consensus,
  /// Neighbours, and any other rank, by what was found the cheaper when the Neighborhood was made, in one reduction:
  /// consensus if every rank has at least half of the others as neighbours, so that a second wave would cost more than
  /// a barrier; else introductions, and behind their second wave one non-blocking reduction, which says that no parcel
  /// went farther than two hops. If one did, reductions count them as in `allreduce`. All ranks take part in every
  /// round.
  automatic,
};

}  // namespace barrio::exchange
