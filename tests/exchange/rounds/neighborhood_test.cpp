#include "barrio/exchange/neighborhood.hpp"

#include <gtest/gtest.h>

#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

void expect_refused(const std::vector<Rank>& neighbours, const std::string& text) {
  try {
    const Neighborhood hood(world(), neighbours);
    FAIL() << "should refuse: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(Neighborhood, SortsItsNeighbours) {
  const auto neighbours = neighbours_of(Graph::all, world().rank(), world().size());
  const Neighborhood hood(world(), neighbours);
  EXPECT_TRUE(std::is_sorted(hood.neighbours().begin(), hood.neighbours().end()));
  EXPECT_EQ(hood.neighbours().size(), static_cast<std::size_t>(world().size() - 1));
  EXPECT_EQ(&hood.context(), &world());
}

TEST(Neighborhood, RefusesBadListsByName) {
  const Rank me = world().rank();
  const int size = world().size();
  expect_refused({me}, "neighbour " + std::to_string(me) + ": is this rank itself");
  expect_refused({size}, "neighbour " + std::to_string(size) + ": is not a rank of this job");
  expect_refused({-1}, "neighbour -1: is not a rank of this job");
  if (size > 1) {
    const Rank other = (me + 1) % size;
    expect_refused({other, other}, "neighbour " + std::to_string(other) +
                                       ": is listed twice (name each neighbour once; in a ring of two ranks left and "
                                       "right are the same)");
  }
}

TEST(Neighborhood, RefusesMessagesToOthersByName) {
  if (world().size() == 1) GTEST_SKIP() << "one rank has no others";
  Neighborhood hood(world(), neighbours_of(Graph::none, world().rank(), world().size()));
  const Rank other = (world().rank() + 1) % world().size();
  const std::string text = "rank " + std::to_string(other) + ": is not a neighbour of rank " +
                           std::to_string(world().rank()) +
                           " (name it when the Neighborhood is made, on both ranks, or let it meet new ones "
                           "(Termination::introductions, allreduce or consensus))";
  auto round = hood.begin_round<int>();
  try {
    round.allocate(other) = 1;
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), text);
  }
  round.close();
  EXPECT_TRUE(round.collect().empty());
  auto bytes = hood.begin_byte_round();
  EXPECT_THROW(bytes.allocate(other, 3), Error);
  bytes.close();
  for (const auto& [from, message] : bytes.received()) ADD_FAILURE() << from << " sent " << message.size();
}

TEST(Neighborhood, ValidatesMutualLists) {
  for (const Graph graph : all_graphs)
    EXPECT_NO_THROW(Neighborhood(world(), neighbours_of(graph, world().rank(), world().size())).validate());
}

TEST(Neighborhood, NamesThePairThatIsNotMutualOnAllRanks) {
  const int size = world().size();
  if (size == 1) GTEST_SKIP() << "one rank has no neighbours";
  for (std::uint64_t repeat = 0; repeat < 4; ++repeat) {
    // All ranks are neighbours, but one list lacks one neighbour.
    const auto forgets = static_cast<Rank>(number({20, repeat}) % word(size));
    const auto forgotten = static_cast<Rank>((word(forgets) + 1 + number({21, repeat}) % word(size - 1)) % word(size));
    std::vector<Rank> neighbours = neighbours_of(Graph::all, world().rank(), size);
    if (world().rank() == forgets) std::erase(neighbours, forgotten);
    const Neighborhood hood(world(), neighbours);
    try {
      hood.validate();
      ADD_FAILURE() << "rank " << forgets << " has forgotten " << forgotten;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(
          std::string(error.what()),
          "neighbourhood: rank " + std::to_string(forgotten) + " lists rank " + std::to_string(forgets) +
              ", which does not list it (make the neighbour lists mutual on both ranks; mutual_neighbours() does it)");
      EXPECT_EQ(error.first_rank(), std::min(forgets, forgotten));
    }
  }
}

TEST(Neighborhood, CountsItsMemory) {
  const auto neighbours = neighbours_of(Graph::all, world().rank(), world().size());
  Neighborhood hood(world(), neighbours, {.packet_bytes = 1024, .ring_depth = 5});
  const std::uint64_t before = hood.memory_bytes();
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round = hood.begin_round<double>();
    for (int k = 0; k < 1000; ++k)
      for (const Rank to : neighbours) round.allocate(to) = k;
    round.close();
    EXPECT_EQ(round.collect().size(), 1000 * neighbours.size());
  }
  // The rings are permanent; as many packets may be kept for the next receives.
  EXPECT_GE(hood.memory_bytes(), before + neighbours.size() * 5 * 1024);
  EXPECT_LE(hood.memory_bytes(), before + neighbours.size() * (2 * 5 + 1) * 1024);
}

TEST(Neighborhood, MovesBetweenRounds) {
  const auto neighbours = neighbours_of(Graph::ring, world().rank(), world().size());
  Neighborhood first(world(), neighbours);
  Neighborhood hood(std::move(first));
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto round = hood.begin_round<int>();
    for (const Rank to : hood.neighbours()) round.allocate(to) = repeat;
    round.close();
    for (const auto& [from, message] : round.collect()) EXPECT_EQ(message, repeat) << from;
    first = std::move(hood);
    hood = std::move(first);
  }
  EXPECT_EQ(hood.epoch(), 2U);
}

TEST(Neighborhood, DoesNotWaitForOthersWhenItDiesOfAnException) {
  // Even ranks read a round to its end, then fail. Odd ranks fail without reading, so most packets of the even ranks
  // have not been received.
  constexpr std::uint32_t packet_bytes = 1U << 17U;
  constexpr int n_packets = 6;
  mpi::Context context(MPI_COMM_WORLD);
  const bool is_even = context.rank() % 2 == 0;
  const auto neighbours = neighbours_of(Graph::all, context.rank(), context.size());
  const auto fail = [&] {
    Neighborhood hood(context, neighbours, {.packet_bytes = packet_bytes, .ring_depth = n_packets});
    auto round = hood.begin_round<Blob<1000>>();
    for (const Rank to : neighbours)
      for (int k = 0; k < (is_even && to % 2 == 1 ? 700 : 1); ++k) round.allocate(to) = {};
    round.close();
    if (is_even) {
      EXPECT_EQ(round.collect().size(), neighbours.size());
    }
    throw Error(ErrorCode::failed, {.subject = "this test", .cause = "means it"});
  };
  EXPECT_THROW(fail(), Error);
  mpi::barrier(context);
  // Receive the remaining packets, so that MPI can end; the round's receive took the first packet.
  std::vector<std::byte> packet(packet_bytes);
  for (const Rank from : neighbours)
    for (int k = 1; k < n_packets && !is_even && from % 2 == 0; ++k)
      MPI_Recv(packet.data(), packet_bytes, MPI_BYTE, from, MPI_ANY_TAG, context.comm(), MPI_STATUS_IGNORE);
  mpi::barrier(context);
}

}  // namespace
}  // namespace barrio::exchange
