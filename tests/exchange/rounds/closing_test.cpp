// A rank that closes a round may have to wait for room in a send ring. Meanwhile it receives messages.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "barrio/exchange/neighborhood.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

TEST(Closing, ASecondWaveMayComeBeforeTheLastPacketHasLeft) {
  const int size = world().size();
  const Rank me = world().rank();
  if (size < 4) GTEST_SKIP() << "a ring of fewer than four ranks has no strangers";
  constexpr std::size_t n_bytes = 1U << 20U;  // above any eager limit
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size),
                    {.packet_bytes = 1024, .ring_depth = 1, .termination = Termination::introductions});
  // The last rank is late. So rank 0, after its last packet to rank 1, waits in close() for room to the last rank.
  if (me == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  auto round = hood.begin_byte_round();
  if (me == 0) fill(round.allocate(size - 1, n_bytes), 5);
  if (me == 0) fill(round.allocate(2, 100), 6);
  if (me == 2) fill(round.allocate(0, 200), 7);
  round.close();
  std::vector<std::size_t> sizes;
  for (const auto& [from, message] : round.received()) {
    std::vector<std::byte> wanted(message.size());
    fill(wanted, from == 2 ? 7 : me == 2 ? 6 : 5);
    EXPECT_TRUE(std::ranges::equal(message, wanted)) << from;
    sizes.push_back(message.size());
  }
  std::vector<std::size_t> wanted;
  if (me == 0) wanted = {200};
  if (me == 2) wanted = {100};
  if (me == size - 1) wanted = {n_bytes};
  EXPECT_EQ(sizes, wanted);
}

}  // namespace
}  // namespace barrio::exchange
