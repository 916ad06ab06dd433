// Streams on real ranks: any rank to any rank, handlers that send, long messages, rounds beside them, failures.
#include "barrio/exchange/stream.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

struct Note {
  std::int32_t origin;
  std::int32_t n_hops;
  std::uint64_t number;
  std::uint64_t salt;
};

TEST(Stream, MessagesBreedMessages) {
  const Rank me = world().rank();
  const int n = world().size();
  for (const StreamOptions& options :
       {StreamOptions{}, {.packet_bytes = 64, .n_receives = 1, .window = 1}, {.packet_bytes = 128, .window = 2}}) {
    Stream<Note> stream(world(), options);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::uint64_t n_read = 0;
      std::uint64_t sum = 0;
      const int n_first = repeat == 1 ? 0 : 50;
      for (int i = 0; i < n_first; ++i) stream.send((me + i) % n, {me, i % 7, static_cast<std::uint64_t>(i), 17});
      stream.drain([&](Rank /*from*/, const Note& note) {
        n_read += 1;
        sum += note.salt * static_cast<std::uint64_t>(note.origin + 1);
        ASSERT_EQ(note.salt, 17U);
        if (note.n_hops > 0) stream.send((me + note.n_hops) % n, {note.origin, note.n_hops - 1, note.number, 17});
      });
      std::uint64_t expected = 0;
      for (int i = 0; i < n_first; ++i) expected += i % 7 + 1;
      EXPECT_EQ(mpi::sum(world(), n_read), expected * static_cast<std::uint64_t>(n));
      const auto ranks = static_cast<std::uint64_t>(n);
      EXPECT_EQ(mpi::sum(world(), sum), 17 * expected * ranks * (ranks + 1) / 2);
    }
    EXPECT_EQ(stream.packets().waiting_bytes(), 0U);
  }
}

/// Message of any length: its number of the pair, then bytes that follow from it.
std::vector<std::byte> text_of(Rank from, Rank to, std::uint64_t i, std::size_t n_bytes) {
  std::vector<std::byte> bytes(16 + n_bytes);
  const std::array<std::uint64_t, 2> head{i, n_bytes};
  std::memcpy(bytes.data(), head.data(), sizeof head);
  fill(std::span(bytes).subspan(16), number({61, word(from), word(to), i}));
  return bytes;
}

TEST(Stream, OrderIsKeptAndNothingIsLostInRandomTraffic) {
  const Rank me = world().rank();
  const int n = world().size();
  std::mt19937_64 random(number({62, word(me)}));
  for (int repeat = 0; repeat < 4; ++repeat) {
    PacketStream stream(world(), detail::kind_of_bytes(detail::RoundCall::stream),
                        {.packet_bytes = repeat % 2 == 0 ? 256U : 0U, .n_receives = 2, .window = 2});
    std::map<Rank, std::uint64_t> n_sent;
    std::map<Rank, std::uint64_t> n_read;
    std::uint64_t n_left = 300;  // messages that handlers of this rank may still send
    const auto send = [&](Rank to) {
      constexpr std::array<std::size_t, 6> sizes{0, 8, 40, 200, 4000, 200'000};
      const std::size_t n_bytes = sizes.at(random() % (random() % 20 == 0 ? 6 : 4));
      const std::vector<std::byte> bytes = text_of(me, to, n_sent[to]++, n_bytes);
      std::memcpy(stream.allocate(to, bytes.size()), bytes.data(), bytes.size());
    };
    for (int i = 0; i < 200; ++i) send(static_cast<Rank>(random() % static_cast<std::uint64_t>(n)));
    std::uint64_t n_all = 0;
    stream.drain([&](const PacketStream::Packet& packet) {
      for (std::size_t at = 0; at < packet.payload.size();) {
        std::array<std::uint64_t, 2> head{};
        std::memcpy(head.data(), &packet.payload[at], sizeof head);
        ASSERT_EQ(head[0], n_read[packet.from]++) << "from rank " << packet.from;
        const std::vector<std::byte> expected = text_of(packet.from, me, head[0], head[1]);
        ASSERT_LE(at + expected.size(), packet.payload.size());
        ASSERT_EQ(std::memcmp(expected.data(), &packet.payload[at], expected.size()), 0);
        at += expected.size();
        n_all += 1;
        if (n_left > 0 && random() % 2 == 0) {
          n_left -= 1;
          send(static_cast<Rank>(random() % static_cast<std::uint64_t>(n)));
        }
      }
    });
    std::uint64_t n_mine = 0;
    for (const auto& [to, count] : n_sent) n_mine += count;
    EXPECT_EQ(mpi::sum(world(), n_mine), mpi::sum(world(), n_all));
    EXPECT_GE(n_mine, 200U);
  }
}

TEST(Stream, AReaderThatStaysAwayHoldsUpNobody) {
  // Rank 0 computes and does not read. Others write more to it than the window holds, and talk with each other.
  const Rank me = world().rank();
  Stream<Note> stream(world(), {.packet_bytes = 128, .window = 2});
  constexpr std::uint64_t n = 1000;
  if (me != 0)
    for (std::uint64_t i = 0; i < n; ++i) stream.send(0, {me, 0, i, 0});
  stream.flush();
  if (me != 0) {
    EXPECT_GT(stream.packets().waiting_bytes(), n * sizeof(Note) / 2);
  }
  if (world().size() > 2 && me != 0) {
    const Rank other = me == world().size() - 1 ? 1 : me + 1;
    stream.send(other, {me, 0, 5, 0});
    bool is_here = false;
    while (!is_here) stream.poll([&](Rank, const Note& note) { is_here = note.number == 5; });
  }
  EXPECT_EQ(mpi::sum(world(), 0), 0);  // rank 0 comes here, too
  std::vector<std::uint64_t> next(static_cast<std::size_t>(world().size()), 0);
  stream.drain([&](Rank from, const Note& note) { EXPECT_EQ(note.number, next[static_cast<std::size_t>(from)]++); });
  for (Rank from = 1; from < world().size() && me == 0; ++from) EXPECT_EQ(next[static_cast<std::size_t>(from)], n);
  EXPECT_EQ(stream.packets().waiting_bytes(), 0U);
}

TEST(Stream, RoundsThatWaitTakeItsPacketsIn) {
  const Rank me = world().rank();
  const int n = world().size();
  Neighborhood hood(world(), neighbours_of(Graph::all, me, n), {.packet_bytes = 1U << 17U, .ring_depth = 1});
  Stream<Note> stream(world());
  std::uint64_t n_read = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int to = 0; to < n; ++to)
      for (std::uint64_t i = 0; i < 500; ++i) stream.send(to, {me, 1, i, 0});
    auto round = hood.begin_round<Blob<1000>>();
    for (const Rank to : hood.neighbours())
      for (int k = 0; k < 300; ++k) round.allocate(to) = filled<Blob<1000>>(number({63, word(me), word(to), word(k)}));
    const auto read = [&](Rank, const Note& note) {
      n_read += 1;
      if (note.n_hops > 0) stream.send((me + 1) % n, {note.origin, 0, note.number, 0});
    };
    stream.poll(read);
    round.close();
    const auto all = round.collect();
    EXPECT_EQ(all.size(), 300 * hood.neighbours().size());
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i].message,
                filled<Blob<1000>>(number({63, word(all[i].from), word(me), word(static_cast<int>(i % 300))})));
    stream.drain(read);
  }
  EXPECT_EQ(mpi::sum(world(), n_read), 3U * 2U * 500U * static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n));
}

TEST(Stream, AHandlerThatThrowsEndsTheDrainOnAllRanks) {
  const Rank me = world().rank();
  const int n = world().size();
  Stream<Note> stream(world(), {.packet_bytes = 256});
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 0; i < 100; ++i) stream.send((me + i) % n, {me, 20, static_cast<std::uint64_t>(i), 0});
    const Rank guilty = repeat % n;
    const auto read = [&](Rank, const Note& note) {
      if (me == guilty && note.number == 7)
        throw Error(ErrorCode::failed, {.subject = "note 7", .cause = "is unlucky"});
      if (note.n_hops > 0) stream.send((me + 1) % n, {note.origin, note.n_hops - 1, note.number, 0});
    };
    try {
      stream.drain(read);
      FAIL() << "the drain ended well";
    } catch (const AgreedError& error) {
      EXPECT_NE(std::string(error.what()).find("note 7: is unlucky"), std::string::npos) << error.what();
    }
    // The stream is whole: nothing of the past is left in it.
    std::uint64_t n_read = 0;
    stream.send((me + 1) % n, {me, 0, 1, 0});
    stream.drain([&](Rank, const Note& note) {
      EXPECT_EQ(note.number, 1U);
      n_read += 1;
    });
    EXPECT_EQ(n_read, 1U);
  }
}

TEST(Stream, OtherTypesAndRanksAreRefused) {
  Stream<Note> stream(world());
  EXPECT_NE(error_of([&] { stream.send(world().size(), {}); }).find("is not a rank"), std::string::npos);
  EXPECT_NE(error_of([&] { stream.send(-1, {}); }).find("is not a rank"), std::string::npos);
  if (world().size() == 1) return;
  // Half of the ranks send doubles, in a stream that is their second one too.
  const auto other = detail::kind_of<double>(detail::RoundCall::stream);
  const auto mine = detail::kind_of<std::int64_t>(detail::RoundCall::stream);
  PacketStream mixed(world(), world().rank() == 0 ? other : mine, {});
  *mixed.allocate((world().rank() + 1) % world().size(), 8) = std::byte{1};
  try {
    mixed.drain([](const PacketStream::Packet&) {});
    FAIL() << "the drain ended well";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("a stream of"), std::string::npos) << error.what();
  }
}

TEST(Stream, OtherPacketsOnOneRankAreNamed) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  try {
    const Stream<Note> stream(world(), {.packet_bytes = world().rank() == 1 ? 4096U : 256U});
    FAIL() << "the stream was made";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("has packets of 256 bytes on one rank, of 4096 on another"),
              std::string::npos)
        << error.what();
  }
}

TEST(Stream, MessagesThatNobodyReadsHoldUpNobody) {
  Stream<Note> stream(world(), {.packet_bytes = 128});
  if (world().rank() == 0)
    for (int i = 0; i < 500; ++i) stream.send(world().size() - 1, {0, 0, static_cast<std::uint64_t>(i), 0});
  // and it ends here
}

TEST(Stream, FewWavesFollowTheLastMessage) {
  const Rank me = world().rank();
  Stream<Note> stream(world());
  std::int64_t n_at_last = 0;
  for (int i = 0; i < 20; ++i) stream.send((me + i) % world().size(), {me, 30, static_cast<std::uint64_t>(i), 0});
  stream.drain([&](Rank, const Note& note) {
    n_at_last = stream.packets().n_waves();
    if (note.n_hops > 0)
      stream.send((me + note.n_hops) % world().size(), {note.origin, note.n_hops - 1, note.number, 0});
  });
  const std::int64_t n_before = mpi::max(world(), n_at_last);
  const auto n = static_cast<std::int64_t>(stream.packets().n_waves());
  EXPECT_LE(n - n_before, 3);
  EXPECT_GE(n - n_before, 1);
  if (world().is_root())
    fmt::print("{} ranks: {} waves, {} of them after the last message\n", world().size(), n, n - n_before);
}

TEST(Stream, AnEmptyDrainCostsOneReduction) {
  Stream<Note> stream(world());
  stream.drain([](Rank, const Note&) {});
  EXPECT_EQ(stream.packets().n_waves(), 1U);
  stream.send((world().rank() + 1) % world().size(), {});
  stream.drain([](Rank, const Note&) {});
  const std::uint64_t before = stream.packets().n_waves();
  stream.drain([](Rank, const Note&) {});
  EXPECT_EQ(stream.packets().n_waves(), before + 1);
}

}  // namespace
}  // namespace barrio::exchange
