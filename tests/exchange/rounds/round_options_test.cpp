// One Neighborhood with rounds of different terminations and packet sizes, and messages of a run-time size.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

constexpr std::array reaching_all{Termination::allreduce, Termination::consensus, Termination::automatic};

/// Return the neighbours in a line of ranks: 0 - 1 - 2 - 3. In a long line, most pairs are more than two hops apart.
std::vector<Rank> line() {
  std::vector<Rank> neighbours;
  if (world().rank() > 0) neighbours.push_back(world().rank() - 1);
  if (world().rank() < world().size() - 1) neighbours.push_back(world().rank() + 1);
  return neighbours;
}

/// Return how many numbers a rank writes to another in a round.
std::uint64_t n_numbers(std::uint64_t round, Rank from, Rank to) {
  const std::uint64_t n = number({80, round, word(from), word(to)});
  return n % 3 == 0 ? (n >> 8U) % 40 : 0;
}

/// Do a round in which ranks write to those for which `may_write(from, to)`. Checks contents.
template <class MayWrite>
void do_round(Neighborhood& hood, std::uint64_t which, const RoundOptions& options, MayWrite&& may_write) {
  const Rank me = world().rank();
  auto round = hood.begin_round<std::uint64_t>(options);
  std::map<Rank, std::uint64_t> wanted;
  for (Rank other = 0; other < world().size(); ++other) {
    const std::uint64_t n_out = may_write(me, other) ? n_numbers(which, me, other) : 0;
    for (std::uint64_t i = 0; i < n_out; ++i) round.allocate(other) = number({81, which, word(me), word(other), i});
    const std::uint64_t n_in = may_write(other, me) ? n_numbers(which, other, me) : 0;
    if (n_in > 0) wanted[other] = n_in;
  }
  round.close();
  std::map<Rank, std::uint64_t> heard;
  for (const auto& [from, message] : round.received())
    EXPECT_EQ(message, number({81, which, word(from), word(me), heard[from]++}));
  EXPECT_EQ(heard, wanted) << "round " << which;
}

TEST(RoundOptions, OneNeighborhoodEndsItsRoundsInAllWaysAndWithAllSizesOfPackets) {
  Neighborhood hood(world(), line(), {.keeps_discovered = false});
  const auto are_near = [](Rank a, Rank b) { return std::abs(a - b) <= 1; };
  const auto have_common = [](Rank a, Rank b) { return std::abs(a - b) <= 2; };
  const auto all = [](Rank, Rank) { return true; };
  std::uint64_t which = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const std::uint32_t packet_bytes : {0U, 32U, 200U, 4096U}) {
      do_round(hood, ++which, {.packet_bytes = packet_bytes}, are_near);
      do_round(hood, ++which, {.termination = Termination::introductions, .packet_bytes = packet_bytes}, have_common);
      for (const Termination termination : reaching_all)
        do_round(hood, ++which, {.termination = termination, .packet_bytes = packet_bytes}, all);
    }
  }
  EXPECT_EQ(hood.termination(), Termination::neighbourhood);
  EXPECT_EQ(hood.epoch(), which);
  hood.validate();
}

TEST(RoundOptions, PacketsOfARoundHaveTheSizeThatItSays) {
  if (world().size() == 1) GTEST_SKIP() << "one rank has no neighbours";
  Neighborhood hood(world(), line());
  const auto packets_of = [&](const RoundOptions& options) {
    const std::uint64_t before = hood.statistics().packets_sent;
    auto round = hood.begin_round<std::uint64_t>(options);
    for (const Rank to : hood.neighbours())
      for (std::uint64_t i = 0; i < 8; ++i) round.allocate(to) = i;
    round.close();
    EXPECT_EQ(round.collect().size(), 8 * hood.neighbours().size());
    return (hood.statistics().packets_sent - before) / hood.neighbours().size();
  };
  EXPECT_EQ(packets_of({}), 1U);
  EXPECT_EQ(packets_of({.packet_bytes = 24 + 8}), 8U);
  EXPECT_EQ(packets_of({.packet_bytes = 24 + 16}), 4U);
  EXPECT_EQ(packets_of({}), 1U) << "as the Neighborhood says again";
}

TEST(RoundOptions, ARoundThatAsksNobodyElseStaysWithoutCollectives) {
  Neighborhood hood(world(), line());
  do_round(hood, 1, {.termination = Termination::consensus}, [](Rank, Rank) { return false; });
  const CallsSince calls;
  do_round(hood, 2, {.termination = Termination::introductions}, [](Rank a, Rank b) { return std::abs(a - b) <= 1; });
  do_round(hood, 3, {}, [](Rank a, Rank b) { return std::abs(a - b) <= 1; });
  EXPECT_EQ(calls.collectives(), 0U);
}

TEST(RoundOptions, AutomaticReachesRanksThatNoNeighbourKnows) {
  const int size = world().size();
  const Rank me = world().rank();
  Neighborhood hood(world(), line(), {.termination = Termination::automatic});
  EXPECT_EQ(hood.termination(), size <= 3 ? Termination::consensus : Termination::automatic);
  // From one end to the other, alone in a round and together with messages to all near ranks.
  for (std::uint64_t which = 0; which < 4; ++which) {
    auto round = hood.begin_round<std::uint64_t>();
    const bool is_busy = which % 2 == 1;
    for (const Rank to : {me - 2, me - 1, me + 1, me + 2})
      if (is_busy && to >= 0 && to < size) round.allocate(to) = number({82, which, word(me), word(to)});
    const Rank far = size - 1 - me;
    const bool writes_far = std::abs(far - me) > 2;
    if (writes_far) round.allocate(far) = number({82, which, word(me), word(far)});
    round.close();
    std::set<Rank> heard;
    for (const auto& [from, message] : round.received()) {
      EXPECT_EQ(message, number({82, which, word(from), word(me)}));
      EXPECT_TRUE(heard.insert(from).second);
    }
    std::set<Rank> wanted;
    for (const Rank from : {me - 2, me - 1, me + 1, me + 2})
      if (is_busy && from >= 0 && from < size) wanted.insert(from);
    if (writes_far) wanted.insert(far);
    EXPECT_EQ(heard, wanted);
    for (const Rank from : wanted) EXPECT_NO_THROW((void)hood.channel_of(from)) << "who was met stays";
  }
  hood.validate();
}

class SizedRounds : public testing::TestWithParam<std::size_t> {};

TEST_P(SizedRounds, CarryMessagesOfTheSizeThatIsGiven) {
  const std::size_t n_bytes = GetParam();
  const Rank me = world().rank();
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, world().size()));
  const auto content = [&](Rank from, Rank to, std::uint64_t i) {
    std::vector<std::byte> bytes(n_bytes);
    fill(bytes, number({83, word(from), word(to), i, n_bytes}));
    return bytes;
  };
  const auto n_messages = [&](Rank from, Rank to) { return number({84, word(from), word(to), n_bytes}) % 200; };
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::uint64_t bytes_before = hood.statistics().bytes_sent;
    auto round = hood.begin_sized_round(n_bytes, {.packet_bytes = 1024});
    std::uint64_t n_sent = 0;
    for (std::size_t channel = 0; channel < hood.neighbours().size(); ++channel) {
      const Rank to = hood.neighbours()[channel];
      for (std::uint64_t i = 0; i < n_messages(me, to); ++i, ++n_sent) {
        const std::vector<std::byte> bytes = content(me, to, i);
        if (i % 3 == 0) {
          round.send(to, bytes);
        } else {
          const auto place = i % 3 == 1 ? round.allocate(to) : round.channel(channel).allocate();
          ASSERT_EQ(place.size(), n_bytes);
          std::ranges::copy(bytes, place.begin());
        }
      }
    }
    round.close();
    std::map<Rank, std::uint64_t> heard;
    for (const auto& [from, bytes] : round.received()) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, 0U);
      EXPECT_TRUE(std::ranges::equal(bytes, content(from, me, heard[from]++)));
    }
    for (const Rank from : hood.neighbours()) EXPECT_EQ(heard[from], n_messages(from, me));
    const std::uint64_t payload = n_sent * ((n_bytes + 7) / 8 * 8);
    if (n_bytes % 8 == 0) {
      EXPECT_EQ((hood.statistics().bytes_sent - bytes_before - payload) % 24, 0U) << "no header but those of packets";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, SizedRounds, testing::Values(1U, 8U, 12U, 64U, 1000U, 5000U));

TEST(SizedRounds, SayWhatDoesNotFit) {
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  EXPECT_NE(error_of([&] { (void)hood.begin_sized_round(0); }).find("cannot have messages of 0 bytes"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)hood.begin_sized_round(std::size_t{1} << 40U); }).find("give 1 to 4294967295"),
            std::string::npos);
  auto round = hood.begin_sized_round(12);
  EXPECT_EQ(
      error_of([&] { round.send(world().rank(), std::vector<std::byte>(13)); }),
      "message: has 13 bytes, but messages of this round have 12 (begin_byte_round() takes messages of any length)");
  round.close();
  for ([[maybe_unused]] const auto& [from, bytes] : round.received()) ADD_FAILURE() << from;
  // A different size on one rank is a different kind of round.
  auto mixed = hood.begin_sized_round(world().rank() == 0 ? 8 : 16);
  for (const Rank to : hood.neighbours()) (void)mixed.allocate(to);
  mixed.close();
  const bool hears_another =
      std::ranges::any_of(hood.neighbours(), [&](Rank from) { return (from == 0) != (world().rank() == 0); });
  const std::string text = error_of([&] {
    for ([[maybe_unused]] const auto& [from, bytes] : mixed.received()) continue;
  });
  if (hears_another) {
    EXPECT_NE(text.find("a sized round of messages of "), std::string::npos) << text;
  } else {
    EXPECT_EQ(text, "no error");
  }
}

TEST(Poll, ReadsWhatIsHereBeforeTheRoundIsClosed) {
  // Before it closes, each rank waits for a message from the rank before it, which has closed by then.
  const Rank me = world().rank();
  Neighborhood hood(world(), line());
  for (const Delivery delivery : {Delivery::arrival, Delivery::by_rank}) {
    Neighborhood other(world(), line(), {.delivery = delivery});
    auto round = other.begin_round<Rank>();
    std::vector<Received<Rank>> heard;
    for (const Rank to : other.neighbours()) round.allocate(to) = me;
    while (delivery == Delivery::arrival && me > 0 && heard.empty())
      if (const auto run = round.poll())
        for (const Rank message : run->messages) heard.push_back({run->from, message});
    if (delivery == Delivery::by_rank) {
      EXPECT_FALSE(round.poll().has_value()) << "that is known at the end only";
    }
    round.close();
    for (const auto& [from, message] : round.received()) heard.push_back({from, message});
    EXPECT_FALSE(round.poll().has_value()) << "it is over";
    ASSERT_EQ(heard.size(), other.neighbours().size());
    for (const auto& [from, message] : heard) EXPECT_EQ(from, message);
    if (delivery == Delivery::arrival && me > 0) {
      EXPECT_EQ(heard.front().from, me - 1);
    }
  }
}

TEST(Poll, LosesAndDoublesNothing) {
  const Rank me = world().rank();
  for (const Termination termination :
       {Termination::neighbourhood, Termination::introductions, Termination::consensus}) {
    Neighborhood hood(world(), neighbours_of(Graph::random, me, world().size()),
                      {.packet_bytes = 128, .termination = termination});
    const auto n_messages = [&](Rank from, Rank to) { return number({85, word(from), word(to)}) % 60; };
    auto round = hood.begin_byte_round();
    std::map<Rank, std::uint64_t> heard;
    const auto take = [&](Rank from, std::span<const std::byte> bytes) {
      std::vector<std::byte> wanted(number({86, word(from), word(me), heard[from]}) % 50);
      fill(wanted, number({87, word(from), word(me), heard[from]++}));
      EXPECT_TRUE(std::ranges::equal(bytes, wanted));
    };
    for (const Rank to : hood.neighbours())
      for (std::uint64_t i = 0; i < n_messages(me, to); ++i) {
        fill(round.allocate(to, number({86, word(me), word(to), i}) % 50), number({87, word(me), word(to), i}));
        if (auto packet = round.poll())
          for (const auto& [from, bytes] : *packet) take(from, bytes);
      }
    round.close();
    if (auto packet = round.poll())
      for (const auto& [from, bytes] : *packet) take(from, bytes);
    for (const auto& [from, bytes] : round.received()) take(from, bytes);
    for (const Rank from : hood.neighbours()) EXPECT_EQ(heard[from], n_messages(from, me));
  }
}

TEST(MutualNeighbours, AreThoseThatNameOrAreNamed) {
  const int size = world().size();
  const Rank me = world().rank();
  for (std::uint64_t which = 0; which < 5; ++which) {
    const auto names = [&](Rank a, Rank b) { return number({88, which, word(a), word(b)}) % 4 < which; };
    std::vector<Rank> mine{me, me};
    std::vector<Rank> wanted;
    for (Rank other = size - 1; other >= 0; --other) {
      if (names(me, other)) mine.insert(mine.end(), 2, other);
      if (other != me && (names(me, other) || names(other, me))) wanted.insert(wanted.begin(), other);
    }
    EXPECT_EQ(mutual_neighbours(world(), mine), wanted);
    Neighborhood(world(), mutual_neighbours(world(), mine)).validate();
  }
  const std::string text = [&] {
    try {
      (void)mutual_neighbours(world(), std::vector<Rank>{me == size - 1 ? size : 0});
    } catch (const AgreedError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  }();
  EXPECT_EQ(text, "neighbour " + std::to_string(size) + ": is not a rank of this job");
}

TEST(IdleNeighbours, AreLeftOutOnBothSidesAtOnce) {
  const Rank me = world().rank();
  const int size = world().size();
  const auto everybody = neighbours_of(Graph::all, me, size);
  for (const Termination termination : {Termination::neighbourhood, Termination::consensus}) {
    Neighborhood hood(world(), everybody, {.termination = termination});
    // In each pair at most one rank writes, in one of the last three rounds.
    const auto writes = [&](std::uint64_t round, Rank from, Rank to) {
      const std::uint64_t n = number({89, word(std::min(from, to)), word(std::max(from, to))});
      return n % 2 == 0 && (n >> 4U) % 3 == round && ((n >> 8U) % 2 == 0) == (from < to);
    };
    for (std::uint64_t round_number = 0; round_number < 3; ++round_number) {
      auto round = hood.begin_round<int>();
      for (const Rank to : everybody)
        if (writes(round_number, me, to)) round.allocate(to) = 1;
      round.close();
      (void)round.collect();
    }
    std::vector<Rank> idle;
    std::vector<Rank> kept;
    for (const Rank other : hood.neighbours()) {
      bool is_used = false;
      for (std::uint64_t round = 0; round < 3; ++round)
        is_used = is_used || writes(round, me, other) || writes(round, other, me);
      (is_used ? kept : idle).push_back(other);
    }
    EXPECT_TRUE(hood.drop_idle_neighbours(4).empty()) << "there were three rounds";
    EXPECT_EQ(hood.drop_idle_neighbours(3), idle);
    EXPECT_EQ(std::vector<Rank>(hood.neighbours().begin(), hood.neighbours().end()), kept);
    hood.validate();
    auto round = hood.begin_round<int>();
    for (const Rank to : hood.neighbours()) round.allocate(to) = me;
    round.close();
    EXPECT_EQ(round.collect().size(), kept.size());
    EXPECT_NE(error_of([&] { (void)hood.drop_idle_neighbours(0); }).find("at least 1 round"), std::string::npos);
  }
}

}  // namespace
}  // namespace barrio::exchange
