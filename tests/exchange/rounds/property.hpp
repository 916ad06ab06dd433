#pragma once

#include <cstdint>

namespace barrio::test {

/// Upper limits of one case of `expect_rounds_right`.
struct Amount {
  int n_rounds;
  int n_messages;         ///< in a round of one Neighborhood, over all ranks
  std::uint64_t n_bytes;  ///< in a round of one Neighborhood, over all ranks
  std::uint64_t largest;  ///< message, bytes
};

/// Do some rounds of two Neighborhoods, and expect the received messages to equal the sent ones. Graph, messages,
/// delays, packet size, ring depth, termination and order of calls follow from the seed of the run and the number of
/// the case. Collective. @return whether all ranks succeeded, so that all stop at the same case
bool expect_rounds_right(int which, const Amount& amount);

}  // namespace barrio::test
