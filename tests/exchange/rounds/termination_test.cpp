#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

/// Neighbours of all ranks, known to every rank. It grows as the Neighborhoods must.
class Map {
 public:
  explicit Map(Graph graph) : lists_(world().size()) {
    for (Rank r = 0; r < world().size(); ++r)
      for (const Rank other : neighbours_of(graph, r, world().size())) of(r).insert(other);
  }
  std::set<Rank>& of(Rank rank) { return lists_[rank]; }
  std::vector<Rank> list(Rank rank) { return {of(rank).begin(), of(rank).end()}; }
  bool has_common_neighbour(Rank a, Rank b) {
    return std::ranges::any_of(of(a), [&](Rank middle) { return of(b).count(middle) != 0; });
  }
  void connect(Rank a, Rank b) {
    of(a).insert(b);
    of(b).insert(a);
  }

 private:
  std::vector<std::set<Rank>> lists_;
};

/// Return how many numbers a rank sends to another in a round.
std::uint64_t n_numbers(int round, Rank from, Rank to, bool are_strangers) {
  const std::uint64_t n = number({50, word(round), word(from), word(to)});
  if (from == to) return n % 4;
  if (are_strangers && n % 4 != 0) return 0;
  return n % 7 == 0 ? 2000 : (n >> 8U) % 9;
}

struct Way {
  Termination termination;
  std::uint32_t packet_bytes;
};

class NewNeighbours : public testing::TestWithParam<Way> {};

TEST_P(NewNeighbours, GetAllAndBecomeNeighbours) {
#ifdef BARRIO_MPI_SMPI
  const bool polls =
      GetParam().termination == Termination::allreduce || GetParam().termination == Termination::consensus;
  if (polls && GetParam().packet_bytes == 24U) GTEST_SKIP() << "many polls for agreements are slow in the simulator";
#endif
  const Rank me = world().rank();
  for (const Graph graph : {Graph::none, Graph::ring, Graph::random}) {
    Map map(graph);
    Neighborhood hood(world(), map.list(me),
                      {.packet_bytes = GetParam().packet_bytes, .termination = GetParam().termination});
    const bool reaches_all = hood.termination() != Termination::introductions;
    const CallsSince calls;
    for (int round_number = 0; round_number < 6; ++round_number) {
      Map next = map;
      std::map<Rank, std::uint64_t> wanted;
      auto round = hood.begin_round<std::uint64_t>();
      for (Rank a = 0; a < world().size(); ++a) {
        for (Rank b = 0; b < world().size(); ++b) {
          const bool are_strangers = a != b && map.of(a).count(b) == 0;
          if (are_strangers && !reaches_all && !map.has_common_neighbour(a, b)) continue;
          const std::uint64_t n = n_numbers(round_number, a, b, are_strangers);
          if (are_strangers && n > 0) next.connect(a, b);
          if (b == me && n > 0) wanted[a] = n;
          for (std::uint64_t k = 0; a == me && k < n; ++k) round.allocate(b) = number({51, word(a), word(b), k});
        }
      }
      round.close();
      std::map<Rank, std::uint64_t> heard;
      for (const auto& [from, message] : round.received()) {
        EXPECT_EQ(message, number({51, word(from), word(me), heard[from]}));
        heard[from] += 1;
      }
      EXPECT_EQ(heard, wanted) << "round " << round_number;
      map = next;
      const auto now = hood.neighbours();
      EXPECT_EQ(std::vector<Rank>(now.begin(), now.end()), map.list(me)) << "none missing, none redundant";
    }
    if (!reaches_all) {
      EXPECT_EQ(calls.collectives(), 0U);
    }
    hood.validate();
  }
}

// Packets of one message, of a few, and of all; in the first case introductions need their own packets.
INSTANTIATE_TEST_SUITE_P(Introductions, NewNeighbours,
                         testing::Values(Way{Termination::introductions, 24U}, Way{Termination::introductions, 128U},
                                         Way{Termination::introductions, 65536U}));
INSTANTIATE_TEST_SUITE_P(Allreduce, NewNeighbours,
                         testing::Values(Way{Termination::allreduce, 24U}, Way{Termination::allreduce, 65536U}));
INSTANTIATE_TEST_SUITE_P(Consensus, NewNeighbours,
                         testing::Values(Way{Termination::consensus, 24U}, Way{Termination::consensus, 65536U}));
INSTANTIATE_TEST_SUITE_P(Automatic, NewNeighbours, testing::Values(Way{Termination::automatic, 0U}));

TEST(Automatic, TakesABarrierOnlyWhereEveryRankHasHalfOfTheOthers) {
  const int size = world().size();
  const auto chosen = [&](Graph graph) {
    const auto neighbours = neighbours_of(graph, world().rank(), size);
    return Neighborhood(world(), neighbours, {.termination = Termination::automatic}).termination();
  };
  EXPECT_EQ(chosen(Graph::all), Termination::consensus);
  EXPECT_EQ(chosen(Graph::ring), size <= 5 ? Termination::consensus : Termination::automatic);
  EXPECT_EQ(chosen(Graph::none), size == 1 ? Termination::consensus : Termination::automatic);
}

TEST(Introductions, CostOneMessageMorePerNeighbourAndOneParcelPerStranger) {
  const int size = world().size();
  const Rank me = world().rank();
  if (size < 4) GTEST_SKIP() << "a ring of fewer than four ranks has no strangers";
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size), {.termination = Termination::introductions});
  const Rank stranger = (me + 2) % size;
  std::uint64_t before = world().counters().messages_sent;
  auto quiet = hood.begin_round<int>();
  quiet.close();
  EXPECT_TRUE(quiet.collect().empty());
  EXPECT_EQ(world().counters().messages_sent - before, 4U);
  before = world().counters().messages_sent;
  auto round = hood.begin_round<int>();
  round.allocate(stranger) = me;
  round.close();
  const auto all = round.collect();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().message, (me + size - 2) % size);
  EXPECT_EQ(world().counters().messages_sent - before, 5U);
  EXPECT_EQ(hood.neighbours().size(), size == 4 ? 3U : 4U);
}

TEST(Introductions, ForgetStrangersIfAsked) {
  const int size = world().size();
  const Rank me = world().rank();
  if (size < 4) GTEST_SKIP() << "a ring of fewer than four ranks has no strangers";
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size),
                    {.termination = Termination::introductions, .keeps_discovered = false});
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto round = hood.begin_round<int>();
    round.allocate((me + 2) % size) = repeat;
    round.close();
    for (const auto& [from, message] : round.received()) EXPECT_EQ(message, repeat);
    EXPECT_EQ(hood.neighbours().size(), 2U);
  }
}

TEST(Introductions, MegabytesToAStranger) {
  const int size = world().size();
  const Rank me = world().rank();
  if (size < 4) GTEST_SKIP() << "a ring of fewer than four ranks has no strangers";
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size), {.termination = Termination::introductions});
  constexpr std::size_t n_bytes = 3'000'001;
  auto round = hood.begin_byte_round();
  fill(round.allocate((me + 2) % size, n_bytes), word(me));
  round.close();
  std::vector<std::byte> wanted(n_bytes);
  fill(wanted, word((me + size - 2) % size));
  std::size_t n = 0;
  for (const auto& [from, message] : round.received()) {
    EXPECT_TRUE(std::ranges::equal(message, wanted)) << from;
    n += 1;
  }
  EXPECT_EQ(n, 1U);
}

class AnyDistance : public testing::TestWithParam<Termination> {};

TEST_P(AnyDistance, RanksMeetAgainAndAgain) {
  const int size = world().size();
  const Rank me = world().rank();
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size),
                    {.termination = GetParam(), .keeps_discovered = false});
  const auto neighbours = neighbours_of(Graph::ring, me, size);
  for (int repeat = 0; repeat < 50; ++repeat) {
    // In each round all ranks write to one rank, which is often not a neighbour, and may be the writer itself.
    const Rank to = static_cast<Rank>(number({60, word(repeat)}) % word(size));
    auto round = hood.begin_round<int>();
    round.allocate(to) = 1000 * repeat + me;
    round.close();
    std::set<int> heard;
    for (const auto& [from, message] : round.received()) {
      EXPECT_EQ(message, 1000 * repeat + from);
      heard.insert(from);
    }
    EXPECT_EQ(heard.size(), to == me ? static_cast<std::size_t>(size) : 0U);
    EXPECT_EQ(hood.neighbours().size(), neighbours.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AnyDistance, testing::Values(Termination::allreduce, Termination::consensus));

TEST(Introductions, FartherRanksAreNamed) {
  const int size = world().size();
  const Rank me = world().rank();
  if (size < 7) GTEST_SKIP() << "a ring of fewer than seven ranks has no rank at three hops";
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size), {.termination = Termination::introductions});
  auto round = hood.begin_round<int>();
  if (me == 0) round.allocate(3) = 1;
  round.close();
  try {
    EXPECT_TRUE(round.collect().empty());
    EXPECT_NE(me, 0);
  } catch (const Error& error) {
    EXPECT_EQ(me, 0);
    EXPECT_EQ(
        std::string(error.what()),
        "rank 3: is not a neighbour of a neighbour of rank 0 (introductions reach two hops; name farther ranks as "
        "neighbours, or let the round end by automatic, consensus or allreduce)");
  }
}

TEST(Neighborhood, NeighboursChangeBetweenRounds) {
  const Rank me = world().rank();
  const int size = world().size();
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size));
  for (int repeat = 0; repeat < 12; ++repeat) {
    const Graph graph = all_graphs[static_cast<std::size_t>(repeat) % all_graphs.size()];
    hood.set_neighbours(neighbours_of(graph, me, size));
    if (repeat % 3 == 0) hood.add_neighbours(neighbours_of(Graph::ring, me, size));
    auto round = hood.begin_round<int>();
    for (const Rank to : hood.neighbours()) round.allocate(to) = 100 * repeat + to;
    round.close();
    const auto all = round.collect();
    ASSERT_EQ(all.size(), hood.neighbours().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].from, hood.neighbours()[i]);
      EXPECT_EQ(all[i].message, 100 * repeat + me);
    }
  }
}

#ifndef BARRIO_MPI_SMPI  // here a rank sleeps inside MPI
/// Redirects stderr of this process to a file that other ranks read.
class StderrTo {
 public:
  explicit StderrTo(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600)), kept_(::dup(STDERR_FILENO)) {
    ::dup2(file_, STDERR_FILENO);
  }
  StderrTo(const StderrTo&) = delete;
  StderrTo& operator=(const StderrTo&) = delete;
  ~StderrTo() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
    ::close(file_);
  }

 private:
  int file_;
  int kept_;
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Neighborhood, ARankThatWaitsLongSaysForWhom) {
  const Rank me = world().rank();
  const Rank late = world().size() - 1;
  if (late == 0) GTEST_SKIP() << "one rank waits for nobody";
  const auto neighbours = neighbours_of(Graph::ring, me, world().size());
  const auto said_by = [](Rank rank) { return text_of(scratch() / ("said-" + std::to_string(rank))); };
  const auto has_said = [&](Rank rank) {
    const std::string said = said_by(rank);
    const auto at = said.find("warning: rank " + std::to_string(rank) + " waits for");
    return at != said.npos &&
           said.find(" rank " + std::to_string(late) + " (0 packets so far, not the last)", at) != said.npos;
  };
  Neighborhood hood(world(), neighbours, {.stall_warning_seconds = 0.1});
  auto round = hood.begin_round<int>();
  for (const Rank to : neighbours) round.allocate(to) = me;
  if (me == late) {
    // The time depends on other work on the machine.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!std::ranges::all_of(neighbours, has_said) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  {
    const StderrTo file(scratch() / ("said-" + std::to_string(me)));
    round.close();
    EXPECT_EQ(round.collect().size(), neighbours.size());
  }
  if (std::ranges::find(neighbours, late) != neighbours.end()) {
    EXPECT_TRUE(has_said(me)) << said_by(me);
    EXPECT_NE(said_by(me).find(": round 0 of its neighbourhood, last heard "), std::string::npos) << said_by(me);
  }
}
#endif

#ifndef BARRIO_MPI_SMPI  // here all ranks have one stderr
TEST(Neighborhood, ListsThatAreNotMutualAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no lists that differ";
  // Rank 0 lists rank 1 as a neighbour, but not vice versa. Nobody would read messages of rank 0.
  const Rank me = world().rank();
  const mpi::TagBlock next = world().take_tags(1);
  testing::internal::CaptureStderr();
  MPI_Request request = MPI_REQUEST_NULL;
  const std::array<std::uint64_t, 2> packet{};
  {
    Neighborhood hood(world(), {});
    // The first packet, as a Neighborhood of rank 0 would send it: its tags follow those taken above.
    if (me == 0) MPI_Isend(packet.data(), 2, MPI_UINT64_T, 1, next.first + 1, world().comm(), &request);
    mpi::barrier(world());
    auto round = hood.begin_round<int>();
    round.close();
    EXPECT_TRUE(round.collect().empty());
  }
  const std::string said = testing::internal::GetCapturedStderr();
  const bool is_named = said.find("warning: rank 0 lists rank 1, which does not list it") != said.npos;
  EXPECT_EQ(is_named, me == 1) << said;
  if (me == 1) {
    std::array<std::uint64_t, 2> taken{};
    MPI_Recv(taken.data(), 2, MPI_UINT64_T, 0, next.first + 1, world().comm(), MPI_STATUS_IGNORE);
  }
  mpi::wait(request, world().wait_policy());
}
#endif

TEST(Neighborhood, ARankMayWriteToItself) {
  Neighborhood hood(world(), {});
  auto round = hood.begin_round<int>();
  for (int k = 0; k < 10; ++k) round.allocate(world().rank()) = k;
  round.close();
  int n = 0;
  for (const auto& [from, message] : round.received()) {
    EXPECT_EQ(from, world().rank());
    EXPECT_EQ(message, n++);
  }
  EXPECT_EQ(n, 10);
}

}  // namespace
}  // namespace barrio::exchange
