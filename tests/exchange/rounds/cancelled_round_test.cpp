// Cancelled rounds, calls out of order, and faults found by `validate()`: the Neighborhood's later rounds work. Ends of
// jobs: tests/negative/rounds.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/rounds/guard.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/sound.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

struct Mode {
  Termination termination;
  Routing routing = Routing::direct;
};
class CancelledRounds : public testing::TestWithParam<Mode> {
 protected:
  static Neighborhood make_hood() {
    return {world(),
            neighbours_of(Graph::ring, world().rank(), world().size()),
            {.packet_bytes = 256, .termination = GetParam().termination, .routing = GetParam().routing}};
  }
};

enum class Place { before_writing, after_writing, before_reading, in_reading };

TEST_P(CancelledRounds, LeaveTheNextOneSound) {
  Neighborhood hood = make_hood();
  for (const Place place : {Place::before_writing, Place::after_writing, Place::before_reading, Place::in_reading}) {
    for (const std::uint64_t n : {1U, 5U, 2000U}) {
      const auto fail = [&](Place here) {
        if (here == place) throw AgreedError(ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated"});
      };
      std::uint64_t n_read = 0;
      try {
        auto round = hood.begin_round<std::uint64_t>();
        fail(Place::before_writing);
        for (std::uint64_t i = 0; i < n; ++i)
          for (const Rank to : hood.neighbours()) round.allocate(to) = i;
        round.allocate(world().rank()) = 0;
        fail(Place::after_writing);
        round.close();
        fail(Place::before_reading);
        for (const auto& [from, message] : round.received()) {
          EXPECT_LT(message, n) << from;
          n_read += 1;
          fail(Place::in_reading);
        }
        ADD_FAILURE() << "nothing was read by rank " << world().rank();
      } catch (const AgreedError&) {
        hood.cancel_round();
      }
      EXPECT_LE(n_read, 1U);
      expect_sound(hood);
    }
  }
  hood.cancel_round();  // without a round
  expect_sound(hood);
}

TEST_P(CancelledRounds, AreToldToWhoReadsOn) {
  Neighborhood hood = make_hood();
  const Rank quits = world().size() - 1;
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round = hood.begin_round<int>();
    for (const Rank to : hood.neighbours()) round.allocate(to) = 1;
    std::string text = "cancelled";
    if (world().rank() == quits) {
      hood.cancel_round();
    } else {
      round.close();
      text = error_of([&] { (void)round.collect(); });
    }
    const bool hears = std::ranges::find(hood.neighbours(), quits) != hood.neighbours().end();
    EXPECT_EQ(text,
              world().rank() == quits ? "cancelled"
              : hears ? fmt::format("message from rank {}: comes from a round that its sender has cancelled (cancel a "
                                    "round on all ranks or on none)",
                                    quits)
                      : "no error");
    expect_sound(hood);
  }
}

TEST_P(CancelledRounds, MayBeCancelledWhileTheRoundObjectLives) {
  Neighborhood hood = make_hood();
  auto round = hood.begin_round<int>();
  for (const Rank to : hood.neighbours()) round.allocate(to) = 1;
  hood.cancel_round();
  if (!hood.neighbours().empty()) {
    EXPECT_NE(error_of([&] { round.allocate(hood.neighbours()[0]) = 1; }).find("when it is not open"),
              std::string::npos);
  }
  EXPECT_TRUE(round.collect().empty());
  expect_sound(hood);
}

/// Agree on the outcome of filling an open round: a rank that waits there takes packets in, or the others, whose sends
/// wait for room, would never come.
TEST_P(CancelledRounds, AgreeWhileTheyAreOpen) {
  Neighborhood hood = make_hood();
  for (const std::size_t n : {0U, 1'000U, 100'000U, 1'000'000U}) {
    for (Rank failing = -1; failing < world().size(); ++failing) {
      if (n > 100'000 && failing > 0) continue;
      bool has_failed = false;
      try {
        auto round = hood.begin_round<double>();
        agree_after(world(), [&] {
          for (const Rank to : hood.neighbours()) std::ranges::fill(round.allocate(to, n), 47.11);
          if (world().rank() == failing)
            throw Error(ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated"});
        });
        round.close();
        std::size_t n_read = 0;
        for (const auto& [from, message] : round.received()) n_read += message == 47.11 ? 1 : 0;
        EXPECT_EQ(n_read, n * hood.neighbours().size());
      } catch (const AgreedError& error) {
        has_failed = true;
        EXPECT_EQ(error.first_rank(), failing);
        hood.cancel_round();
      }
      EXPECT_EQ(has_failed, failing >= 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Terminations, CancelledRounds,
                         testing::Values(Mode{Termination::neighbourhood}, Mode{Termination::introductions},
                                         Mode{Termination::allreduce}, Mode{Termination::consensus},
                                         Mode{Termination::automatic},
                                         Mode{Termination::neighbourhood, Routing::by_node}));

class OutOfOrder : public testing::TestWithParam<Routing> {
 protected:
  static Neighborhood make_hood() {
    return {world(), neighbours_of(Graph::all, world().rank(), world().size()), {.routing = GetParam()}};
  }
};

TEST_P(OutOfOrder, CallsAreTheCallersFaultAndTheRoundGoesOn) {
  Neighborhood hood = make_hood();
  const Rank me = world().rank();
  auto round = hood.begin_round<int>();
  EXPECT_EQ(
      error_of([&] { (void)hood.begin_round<int>(); }),
      "a round: was begun before the previous one was read to its end (run one round at a time on a Neighborhood)");
  EXPECT_NE(error_of([&] { (void)round.collect(); }).find("a round: is read before it was closed"), std::string::npos);
  const std::size_t n = hood.neighbours().size();
  EXPECT_EQ(error_of([&] { (void)round.channel(n); }),
            fmt::format(
                "channel {}: must be less than {}, the number of neighbours (Neighborhood::channel_of(rank) finds the "
                "one to a rank)",
                n, n));
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(hood.channel_of(hood.neighbours()[i]), i);
    round.channel(i).allocate() = me;
  }
  EXPECT_EQ(error_of([&] { (void)hood.channel_of(me); }), fmt::format("rank {0}: is not a neighbour of rank {0}", me));
  if (GetParam() == Routing::direct && n > 0) {
    EXPECT_NE(error_of([&] { hood.set_neighbours(std::vector<Rank>{}); }).find("neighbours change between rounds"),
              std::string::npos);
  }
  round.close();
  EXPECT_EQ(error_of([&] { round.close(); }), "a round: is closed twice (close a round only once)");
  EXPECT_EQ(
      error_of([&] { round.allocate(me) = 1; }),
      fmt::format("a round: cannot take a message to rank {} when it is not open (call allocate() between begin and "
                  "close())",
                  me));
  EXPECT_EQ(round.collect().size(), n);
  expect_sound(hood);
}

TEST_P(OutOfOrder, AMovedRoundKeepsItsChannelsAndTheOneBeforeSaysSo) {
  Neighborhood hood = make_hood();
  auto first = hood.begin_round<int>();
  std::vector<decltype(first)::Channel> channels;
  for (std::size_t i = 0; i < hood.neighbours().size(); ++i) channels.push_back(first.channel(i));
  auto second = std::move(first);
  for (auto& channel : channels) channel.allocate() = world().rank();
  const std::string text = "a round: is used after it was moved from (use the round that it was moved into)";
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(error_of([&] { first.allocate(0) = 1; }), text);
  EXPECT_EQ(error_of([&] { (void)first.channel(0); }), text);
  EXPECT_EQ(error_of([&] { first.close(); }), text);
  EXPECT_EQ(error_of([&] { (void)first.poll(); }), text);
  EXPECT_EQ(error_of([&] { (void)first.collect(); }), text);
  // NOLINTEND(bugprone-use-after-move)
  second.close();
  EXPECT_EQ(second.collect().size(), hood.neighbours().size());
}

TEST(AfterTheRound, WhatOutlivesARoundThatBroughtNeighboursIsRefused) {
  const int size = world().size();
  const Rank me = world().rank();
  for (const bool is_cancelled : {false, true}) {
    Neighborhood hood(world(), {}, {.termination = Termination::consensus});
    auto first = hood.begin_round<int>();
    for (Rank to = 0; to < size; ++to) first.allocate(to) = 1;
    first.close();
    EXPECT_EQ(first.collect().size(), word(size));
    auto round = hood.begin_round<int>();
    std::vector<decltype(round)::Channel> channels;
    for (std::size_t i = 0; i < hood.neighbours().size(); ++i) channels.push_back(round.channel(i));
    round.close();
    if (is_cancelled) {
      hood.cancel_round();
    } else {
      EXPECT_TRUE(round.collect().empty());
    }
    hood.set_neighbours(std::vector<Rank>{});
    for (auto& channel : channels)
      EXPECT_NE(error_of([&] { channel.allocate() = 1; }).find("when it is not open"), std::string::npos);
    EXPECT_NE(error_of([&] { round.allocate(me) = 1; }).find("when it is not open"), std::string::npos);
    hood.add_neighbours(neighbours_of(Graph::ring, me, size));
    expect_sound(hood);
  }
}

INSTANTIATE_TEST_SUITE_P(Routings, OutOfOrder, testing::Values(Routing::direct, Routing::by_node));

#ifndef BARRIO_MPI_SMPI  // it has no threads within a rank
TEST(Threads, OtherThanTheContextsAreRefused) {
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  EXPECT_EQ(world().thread(), std::this_thread::get_id());
  std::string text;
  std::thread([&] { text = error_of([&] { (void)hood.begin_round<int>(); }); }).join();
  EXPECT_NE(text.find("begins a round of a Context that belongs to another thread"), std::string::npos) << text;
  auto round = hood.begin_round<int>();
  std::thread([&] { text = error_of([&] { round.close(); }); }).join();
  EXPECT_NE(text.find("closes a round of a Context"), std::string::npos) << text;
  round.close();
  std::thread([&] { text = error_of([&] { (void)round.collect(); }); }).join();
  EXPECT_NE(text.find("reads a round of a Context"), std::string::npos) << text;
  EXPECT_TRUE(round.collect().empty());
  // It may move to another thread, which ends, and back.
  const std::thread::id mine = std::this_thread::get_id();
  std::thread([&] {
    world().move_to_thread();
    text = error_of([] {});
    world().move_to_thread(mine);
  }).join();
  expect_sound(hood);
}
#endif

/// Return the message of `validate()`, the same on all ranks.
std::string fault_of(const Neighborhood& hood) {
  try {
    hood.validate();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Validate, TellsWhatNeighbourhoodsDoNotHaveInCommon) {
  const int size = world().size();
  if (size == 1) GTEST_SKIP() << "one rank has no neighbours";
  const Rank last = size - 1;
  const bool is_last = world().rank() == last;
  const auto neighbours = neighbours_of(Graph::all, world().rank(), size);
  const auto expect_fault = [&](const Neighborhood& hood, const std::string& what, const std::string& remedy) {
    const std::string text = fault_of(hood);
    EXPECT_NE(text.find(fmt::format("neighbourhood: {} on rank {} is ", what, last)), std::string::npos) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
  };
  const std::string options = "(give the same options and do the same rounds on all ranks)";
  expect_fault({world(), neighbours, {.packet_bytes = is_last ? 1024U : 2048U}}, "the size of its packets", options);
  expect_fault(
      {world(), neighbours, {.termination = is_last ? Termination::introductions : Termination::neighbourhood}},
      "its termination", options);
  const std::uint32_t full = world().profile().packet_bytes;
  expect_fault({world(), neighbours, {.packet_bytes = is_last ? full : 0U}}, "the size of its first packets", options);
  {
    mpi::Context context(world().comm());
    if (is_last) (void)context.take_tags(3);
    expect_fault({context, neighbours}, "its tag",
                 "(make Neighborhoods, plans and meshes in the same order on all ranks)");
  }
  EXPECT_EQ(fault_of({world(), neighbours}), "no error");
}

TEST(ByteRounds, SendCopies) {
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  auto round = hood.begin_byte_round();
  const std::vector<std::byte> bytes(77, std::byte{7});
  for (std::size_t i = 0; i < hood.neighbours().size(); ++i) {
    round.send(hood.neighbours()[i], bytes);
    round.channel(i).send(bytes);
    round.channel(i).send({});
  }
  round.close();
  std::size_t n = 0;
  for (const auto& [from, message] : round.received()) {
    EXPECT_TRUE(message.empty() || std::ranges::equal(message, bytes)) << from;
    n += message.size();
  }
  EXPECT_EQ(n, 2 * 77 * hood.neighbours().size());
  auto numbers = hood.begin_round<int>();
  for (const Rank to : hood.neighbours()) {
    numbers.send(to, 1);
    numbers.send(to, std::vector<int>{2, 3});
  }
  numbers.close();
  EXPECT_EQ(numbers.collect().size(), 3 * hood.neighbours().size());
}

/// Often repeated lengths, also zero, by rank and by channel in turn, in packets of every size: all messages arrive, in
/// order, whichever of them share a header.
TEST(ByteRounds, RunsOfOneLengthComeWhole) {
  const Rank me = world().rank();
  constexpr std::array<std::size_t, 8> lengths{8, 8, 8, 0, 0, 13, 13, 64};
  const auto length_of = [&](std::uint64_t round, Rank from, Rank to, std::uint64_t i) {
    return lengths[number({140, round, word(from), word(to), i / (1 + i % 5)}) % lengths.size()];
  };
  const auto byte_of = [](Rank from, std::uint64_t i) { return static_cast<std::byte>(number({141, word(from), i})); };
  for (const Routing routing : {Routing::direct, Routing::by_node}) {
    Neighborhood hood(world(), neighbours_of(Graph::ring, me, world().size()), {.routing = routing, .node = me / 2});
    std::uint64_t round_number = 0;
    for (const std::uint32_t packet_bytes : {0U, 48U, 136U, 4096U, 0U, 0U}) {
      round_number += 1;
      constexpr std::uint64_t n = 3000;
      auto round = hood.begin_byte_round({.packet_bytes = packet_bytes});
      std::vector<Rank> to(hood.neighbours().begin(), hood.neighbours().end());
      to.push_back(me);
      for (std::uint64_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < to.size(); ++k) {
          const std::size_t length = length_of(round_number, me, to[k], i);
          const std::span<std::byte> place =
              i % 2 == 0 || to[k] == me ? round.allocate(to[k], length) : round.channel(k).allocate(length);
          ASSERT_EQ(place.size(), length);
          std::ranges::fill(place, byte_of(me, i));
        }
      }
      round.close();
      std::map<Rank, std::uint64_t> heard;
      std::uint64_t n_wrong = 0;
      for (const auto& [from, message] : round.received()) {
        const std::uint64_t i = heard[from]++;
        const bool is_right = message.size() == length_of(round_number, from, me, i) &&
                              std::ranges::all_of(message, [&](std::byte b) { return b == byte_of(from, i); });
        n_wrong += is_right ? 0 : 1;
      }
      EXPECT_EQ(n_wrong, 0U);
      EXPECT_EQ(heard.size(), to.size());
      for (const auto& [from, n_heard] : heard) EXPECT_EQ(n_heard, n) << from;
    }
  }
}

TEST(ByteRounds, MessagesOfOneLengthShareTheirHead) {
  if constexpr (detail::has_guards) GTEST_SKIP() << "behind each message stands a guard";
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  const std::uint64_t n_neighbours = hood.neighbours().size();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const RoundStatistics before = hood.statistics();
    auto round = hood.begin_byte_round();
    for (const Rank to : hood.neighbours()) {
      for (int i = 0; i < 500; ++i) round.allocate(to, 8);
      for (int i = 0; i < 100; ++i) round.allocate(to, 12);
    }
    round.close();
    std::uint64_t n_heard = 0;
    for ([[maybe_unused]] const auto& message : round.received()) n_heard += 1;
    EXPECT_EQ(n_heard, 600 * n_neighbours);
    const std::uint64_t n_packets = hood.statistics().packets_sent - before.packets_sent;
    const std::uint64_t n_bytes = hood.statistics().bytes_sent - before.bytes_sent;
    EXPECT_LE(n_bytes, (500 * 8 + 100 * 16 + 8) * n_neighbours + n_packets * (sizeof(PacketHeader) + 8));
    if (repeat == 2) {
      EXPECT_EQ(n_packets, n_neighbours) << "first packets grow to what went before";
    }
  }
}

}  // namespace
}  // namespace barrio::exchange
