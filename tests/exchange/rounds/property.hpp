#pragma once

#include <cstdint>

namespace barrio::test {

/// How much one case of `expect_rounds_right` does at most.
struct Amount {
  int n_rounds;
  int n_messages;         ///< in a round of one Neighborhood, over all ranks
  std::uint64_t n_bytes;  ///< in a round of one Neighborhood, over all ranks
  std::uint64_t largest;  ///< message, bytes
};

/// Do some rounds of two Neighborhoods and expect that what comes is what was sent. Graph, messages, delays, packet
/// size, ring depth, termination and the order of things are drawn from the seed of the run and the number of the case.
/// Collective. @return whether all ranks are content, so that all stop at the same case
bool expect_rounds_right(int which, const Amount& amount);

}  // namespace barrio::test
