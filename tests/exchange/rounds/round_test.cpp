#include "barrio/exchange/neighborhood.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "barrio/exchange/rounds/packet_size.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

/// Messages of every rank in one round. Sender and receiver both compute them, so every received message is checked.
struct Talk {
  int round = 0;
  std::uint64_t max_messages = 0;
  std::uint64_t max_bytes = 0;  ///< of byte messages

  [[nodiscard]] std::uint64_t n_messages(Rank from, Rank to) const {
    const std::uint64_t n = number({1, word(round), word(from), word(to)});
    return n % 8 == 0 ? 0 : (n >> 3U) % (max_messages + 1);
  }
  [[nodiscard]] std::uint64_t content(Rank from, Rank to, std::uint64_t k) const {
    return number({2, word(round), word(from), word(to), k});
  }
  [[nodiscard]] std::size_t n_bytes(Rank from, Rank to, std::uint64_t k) const {
    const std::uint64_t n = number({3, word(round), word(from), word(to), k});
    switch (n % 8) {
      case 0: return 0;
      case 1: return (n >> 3U) % (max_bytes + 1);
      default: return (n >> 3U) % 41;
    }
  }
};

void delay_one_rank(int round, std::uint64_t moment) {
  const std::uint64_t n = number({4, word(round), moment});
  if (n % static_cast<std::uint64_t>(world().size()) == static_cast<std::uint64_t>(world().rank()))
    std::this_thread::sleep_for(std::chrono::microseconds((n >> 8U) % 1500));
}

/// Send all messages, to the neighbours in turn, so that all send buffers are open at once.
template <class Say>
void speak(const Neighborhood& hood, const Talk& talk, Say&& say) {
  const auto neighbours = hood.neighbours();
  std::uint64_t most = 0;
  for (const Rank to : neighbours) most = std::max(most, talk.n_messages(world().rank(), to));
  for (std::uint64_t k = 0; k < most; ++k)
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      if (k < talk.n_messages(world().rank(), neighbours[i])) say(i, neighbours[i], k);
}

/// Checker: all messages of a sender arrive, in its order, and none from others.
class Listener {
 public:
  Listener(const Neighborhood& hood, Talk talk) : talk_(talk) {
    for (const Rank from : hood.neighbours()) heard_[from] = 0;
  }
  void hear(Rank from, std::span<const std::byte> message) {
    ASSERT_EQ(heard_.count(from), 1U) << from << " is no neighbour";
    std::vector<std::byte> expected(message.size());
    fill(expected, talk_.content(from, world().rank(), heard_[from]++));
    ASSERT_TRUE(std::equal(message.begin(), message.end(), expected.begin()))
        << "message " << heard_[from] - 1 << " from rank " << from << " in round " << talk_.round;
  }
  [[nodiscard]] std::uint64_t n_heard(Rank from) { return heard_[from]; }
  void expect_all_heard() {
    for (const auto& [from, n] : heard_)
      EXPECT_EQ(n, talk_.n_messages(from, world().rank())) << "from rank " << from << " in round " << talk_.round;
  }

 private:
  Talk talk_;
  std::map<Rank, std::uint64_t> heard_;
};

template <class T>
void fixed_round(Neighborhood& hood, const Talk& talk) {
  const std::uint64_t epoch = hood.epoch();
  delay_one_rank(talk.round, 0);
  auto round = hood.begin_round<T>();
  speak(hood, talk, [&](std::size_t i, Rank to, std::uint64_t k) {
    const T message = filled<T>(talk.content(world().rank(), to, k));
    if (k % 2 == 0) {
      round.allocate(to) = message;
    } else {
      round.channel(i).allocate() = message;
    }
  });
  round.close();
  delay_one_rank(talk.round, 1);
  Listener listener(hood, talk);
  for (const auto& [from, message] : round.received()) listener.hear(from, std::as_bytes(std::span(&message, 1)));
  listener.expect_all_heard();
  EXPECT_EQ(hood.epoch(), epoch + 1);
}

void byte_round(Neighborhood& hood, const Talk& talk) {
  delay_one_rank(talk.round, 0);
  auto round = hood.begin_byte_round();
  speak(hood, talk, [&](std::size_t, Rank to, std::uint64_t k) {
    const auto message = round.allocate(to, talk.n_bytes(world().rank(), to, k));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(message.data()) % 8, 0U);
    fill(message, talk.content(world().rank(), to, k));
  });
  round.close();
  delay_one_rank(talk.round, 1);
  Listener listener(hood, talk);
  for (const auto& [from, message] : round.received()) {
    ASSERT_EQ(message.size(), talk.n_bytes(from, world().rank(), listener.n_heard(from)));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(message.data()) % 8, 0U);
    listener.hear(from, message);
  }
  listener.expect_all_heard();
}

struct Shape {
  Graph graph;
  std::uint32_t packet_bytes;
  std::uint32_t ring_depth;
};

std::string name_of_shape(const testing::TestParamInfo<Shape>& info) {
  constexpr std::array names{"none", "ring", "all", "random"};
  return std::string(names[static_cast<std::size_t>(info.param.graph)]) + "_packet" +
         std::to_string(info.param.packet_bytes) + "_depth" + std::to_string(info.param.ring_depth);
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const Graph graph : all_graphs) {
    if (graph == Graph::none) {
      shapes.push_back({graph, 64, 1});
      continue;
    }
    for (const auto& [packet_bytes, ring_depth] :
         {std::pair{24U, 1U}, {24U, 4U}, {56U, 2U}, {1000U, 1U}, {1024U, 3U}, {65536U, 4U}})
      shapes.push_back({graph, packet_bytes, ring_depth});
  }
  return shapes;
}

class Rounds : public testing::TestWithParam<Shape> {
 protected:
  Neighborhood hood{world(),
                    neighbours_of(GetParam().graph, world().rank(), world().size()),
                    {.packet_bytes = GetParam().packet_bytes, .ring_depth = GetParam().ring_depth}};
};

TEST_P(Rounds, DeliverEveryMessageOfFixedSize) {
  const CallsSince calls;
  for (int round = 0; round < 4; ++round) {
    fixed_round<Blob<1>>(hood, {.round = 10 * round, .max_messages = 100});
    fixed_round<std::int64_t>(hood, {.round = 10 * round + 1, .max_messages = 50});
    fixed_round<Blob<12>>(hood, {.round = 10 * round + 2, .max_messages = 50});
    fixed_round<Blob<40>>(hood, {.round = 10 * round + 3, .max_messages = 40});
    fixed_round<Blob<3000>>(hood, {.round = 10 * round + 4, .max_messages = 5});  // larger than most packets
    fixed_round<std::int64_t>(hood, {.round = 10 * round + 5, .max_messages = 0});
  }
  EXPECT_EQ(calls.collectives(), 0U) << "a round must talk to neighbours only";
}

TEST_P(Rounds, DeliverEveryMessageOfAnyLength) {
  const CallsSince calls;
  for (int round = 0; round < 4; ++round) {
    byte_round(hood, {.round = 100 + round, .max_messages = 60, .max_bytes = 200});
    byte_round(hood, {.round = 110 + round, .max_messages = 10, .max_bytes = 3 * GetParam().packet_bytes});
    byte_round(hood, {.round = 120 + round, .max_messages = 0});
    fixed_round<Blob<40>>(hood, {.round = 130 + round, .max_messages = 40});  // kinds may alternate
  }
  EXPECT_EQ(calls.collectives(), 0U) << "a round must talk to neighbours only";
}

INSTANTIATE_TEST_SUITE_P(, Rounds, testing::ValuesIn(all_shapes()), name_of_shape);

TEST(Round, ManyInARowWithRanksDelayed) {
  for (const Graph graph : {Graph::ring, Graph::random}) {
    Neighborhood hood(world(), neighbours_of(graph, world().rank(), world().size()),
                      {.packet_bytes = 256, .ring_depth = 2});
    for (int round = 1000; round < 1100; ++round) fixed_round<Blob<12>>(hood, {.round = round, .max_messages = 60});
    EXPECT_EQ(hood.epoch(), 100U);
  }
}

TEST(Round, OneRankMayRunARoundAhead) {
  // Odd ranks pause between close() and reading, while even ones are in the next round. Packets are above the eager
  // limit, so ranks also wait for each other.
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()),
                    {.packet_bytes = 1U << 17U, .ring_depth = 1});
  for (int round = 2000; round < 2006; ++round) {
    const Talk talk{.round = round, .max_messages = 100};
    auto messages = hood.begin_round<Blob<5000>>();
    speak(hood, talk, [&](std::size_t, Rank to, std::uint64_t k) {
      messages.allocate(to) = filled<Blob<5000>>(talk.content(world().rank(), to, k));
    });
    messages.close();
    if (world().rank() % 2 == round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Listener listener(hood, talk);
    for (const auto& [from, message] : messages.received()) listener.hear(from, std::as_bytes(std::span(&message, 1)));
    listener.expect_all_heard();
  }
}

TEST(Round, MayBlockInsideMpi) {
  mpi::Context context(MPI_COMM_WORLD, {.wait = {.kind = mpi::WaitPolicy::Kind::block}});
  Neighborhood hood(context, neighbours_of(Graph::all, world().rank(), world().size()),
                    {.packet_bytes = 1U << 17U, .ring_depth = 1});
  for (int round = 3000; round < 3004; ++round) {
    fixed_round<Blob<5000>>(hood, {.round = round, .max_messages = 100});
    byte_round(hood, {.round = round + 100, .max_messages = 20, .max_bytes = 1'000'000});
  }
}

TEST(Round, AHundredThousandMessages) {
  constexpr std::uint64_t n_messages = 100'000;
  const auto neighbours = neighbours_of(Graph::all, world().rank(), world().size());
  Neighborhood hood(world(), neighbours, {.packet_bytes = 4096, .ring_depth = 3});
  auto round = hood.begin_round<std::uint64_t>();
  for (std::uint64_t k = 0; k < n_messages && !neighbours.empty(); ++k)
    round.allocate(neighbours[k % neighbours.size()]) = number({5, k, word(world().rank())});
  round.close();
  std::map<Rank, std::uint64_t> next;
  std::uint64_t n_heard = 0;
  for (const auto& [from, message] : round.received()) {
    // Find the sender's first message for this rank, then step by its number of neighbours.
    const auto theirs = neighbours_of(Graph::all, from, world().size());
    if (next.count(from) == 0) next[from] = std::find(theirs.begin(), theirs.end(), world().rank()) - theirs.begin();
    ASSERT_EQ(message, number({5, next[from], word(from)}));
    next[from] += theirs.size();
    ++n_heard;
  }
  for (const auto& [from, k] : next) EXPECT_GE(k, n_messages);
  EXPECT_EQ(mpi::sum(world(), n_heard),
            world().size() > 1 ? n_messages * static_cast<std::uint64_t>(world().size()) : 0U);
}

TEST(Round, AHugeByteMessageBetweenSmallOnes) {
  const auto neighbours = neighbours_of(Graph::ring, world().rank(), world().size());
  Neighborhood hood(world(), neighbours, {.packet_bytes = 512, .ring_depth = 1});
  const std::vector<std::size_t> sizes{0, 7, 3'000'003, 0, 3'000'000, 1};
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto round = hood.begin_byte_round();
    for (std::size_t k = 0; k < sizes.size(); ++k)
      for (const Rank to : neighbours) fill(round.allocate(to, sizes[k]), number({6, k, word(world().rank())}));
    round.close();
    std::map<Rank, std::size_t> n_heard;
    for (const auto& [from, message] : round.received()) {
      const std::size_t k = n_heard[from]++;
      ASSERT_LT(k, sizes.size());
      ASSERT_EQ(message.size(), sizes[k]);
      std::vector<std::byte> expected(sizes[k]);
      fill(expected, number({6, k, word(from)}));
      ASSERT_TRUE(std::equal(message.begin(), message.end(), expected.begin()));
    }
    EXPECT_EQ(n_heard.size(), neighbours.size());
    for (const auto& [from, n] : n_heard) EXPECT_EQ(n, sizes.size());
  }
}

TEST(Round, CollectSortsBySenderAndKeepsTheOrderOfSending) {
  Neighborhood hood(world(), neighbours_of(Graph::all, world().rank(), world().size()),
                    {.packet_bytes = 64, .ring_depth = 2});
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto round = hood.begin_round<std::uint64_t>();
    for (std::uint64_t k = 0; k < 50; ++k)
      for (const Rank to : hood.neighbours()) round.allocate(to) = 1000 * word(world().rank()) + k;
    round.close();
    delay_one_rank(repeat, 2);
    const std::vector<Received<std::uint64_t>> all = round.collect();
    ASSERT_EQ(all.size(), 50 * hood.neighbours().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].from, hood.neighbours()[i / 50]);
      EXPECT_EQ(all[i].message, 1000 * word(all[i].from) + i % 50);
    }
  }
}

TEST(Round, ByRankHandsOutByAscendingSender) {
  for (const Graph graph : all_graphs) {
    Neighborhood hood(world(), neighbours_of(graph, world().rank(), world().size()),
                      {.packet_bytes = 64, .delivery = Delivery::by_rank});
    for (int repeat = 0; repeat < 3; ++repeat) {
      auto round = hood.begin_round<std::uint64_t>();
      for (std::uint64_t k = 0; k < 50; ++k)
        for (const Rank to : hood.neighbours()) round.allocate(to) = 1000 * word(world().rank()) + k;
      round.allocate(world().rank()) = 7;
      round.close();
      delay_one_rank(repeat, 3);
      std::vector<Rank> senders(hood.neighbours().begin(), hood.neighbours().end());
      senders.push_back(world().rank());
      std::ranges::sort(senders);
      auto sender = senders.begin();
      std::uint64_t k = 0;
      for (const auto& [from, message] : round.received()) {
        ASSERT_NE(sender, senders.end());
        EXPECT_EQ(from, *sender);
        EXPECT_EQ(message, from == world().rank() ? 7 : 1000 * word(from) + k);
        k += 1;
        if (from == world().rank() || k == 50) {
          ++sender;
          k = 0;
        }
      }
      EXPECT_EQ(sender, senders.end());
    }
  }
}

TEST(Round, RunsHoldTheSameMessages) {
  Neighborhood hood(world(), neighbours_of(Graph::random, world().rank(), world().size()), {.packet_bytes = 256});
  Talk talk{.round = 77, .max_messages = 100};
  auto round = hood.begin_round<std::uint64_t>();
  speak(hood, talk, [&](std::size_t i, Rank to, std::uint64_t k) {
    round.channel(i).allocate() = talk.content(world().rank(), to, k);
  });
  round.close();
  std::map<Rank, std::uint64_t> heard;
  for (const auto& [from, messages] : round.received_runs()) {
    EXPECT_FALSE(messages.empty());
    for (const std::uint64_t message : messages)
      EXPECT_EQ(message, talk.content(from, world().rank(), heard[from]++)) << "from rank " << from;
  }
  for (const Rank from : hood.neighbours()) EXPECT_EQ(heard[from], talk.n_messages(from, world().rank())) << from;
}

TEST(Round, MessagesSideBySideArriveOneByOne) {
  const Rank me = world().rank();
  const auto ring = neighbours_of(Graph::ring, me, world().size());
  Neighborhood hood(world(), ring, {.packet_bytes = 1024});
  const std::vector<std::size_t> lengths{3, 0, 1, 5000, 1, 100};
  const auto number_of = [](Rank from, Rank to, std::size_t i) { return static_cast<int>(i * 64) + from * 8 + to; };
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round = hood.begin_round<int>();
    const auto write = [&](Rank to, auto&& allocate) {
      std::size_t i = 0;
      for (const std::size_t n : lengths)
        for (int& message : allocate(n)) message = number_of(me, to, i++);
      round.allocate(to) = number_of(me, to, i);
    };
    for (std::size_t k = 0; k < hood.neighbours().size(); ++k)
      write(hood.neighbours()[k], [&](std::size_t n) { return round.channel(k).allocate(n); });
    write(me, [&](std::size_t n) { return round.allocate(me, n); });
    round.close();
    std::map<Rank, std::size_t> n_received;
    for (const auto& [from, message] : round.received()) EXPECT_EQ(message, number_of(from, me, n_received[from]++));
    EXPECT_EQ(n_received.size(), ring.size() + 1);
    for (const auto& [from, n] : n_received) EXPECT_EQ(n, 5106U) << from;
  }
}

// After the first round, rounds of the same length take one packet, whatever the length, up to the max size. Both ends
// of an edge agree on its packet size, although ranks send different amounts, and neighbours leave and return.
TEST(Round, FirstPacketsGrowWithWhatARoundBrings) {
  const auto neighbours = neighbours_of(Graph::ring, world().rank(), world().size());
  Neighborhood hood(world(), neighbours);
  const std::uint64_t degree = neighbours.size();
  for (const std::uint64_t n_words : {1U, 100U, 1000U, 10'000U, 60'000U, 300'000U, 50U, 50U, 60'000U}) {
    std::uint64_t n_packets = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      hood.set_neighbours({});
      hood.set_neighbours(neighbours);
      n_packets = hood.statistics().packets_sent;
      auto round = hood.begin_round<std::uint64_t>();
      for (std::uint64_t k = 0; k < n_words * (1 + word(world().rank()) % 2); ++k)
        for (const Rank to : neighbours) round.allocate(to) = k;
      round.close();
      std::uint64_t n = 0;
      for (const auto& [from, words] : round.received_runs()) n += words.size();
      std::uint64_t wanted = 0;
      for (const Rank from : neighbours) wanted += n_words * (1 + word(from) % 2);
      EXPECT_EQ(n, wanted);
      n_packets = hood.statistics().packets_sent - n_packets;
    }
    if (n_words <= 10'000) {
      EXPECT_EQ(n_packets, degree) << n_words;
    } else if (n_words == 300'000) {
      EXPECT_GE(n_packets, 5 * degree);
    }
  }
  EXPECT_EQ(hood.statistics().rounds, 18U);
  EXPECT_EQ(hood.statistics().collectives, 0U);
}

TEST(PacketSize, FollowsWhatIsSentAndShrinksByHalves) {
  const detail::PacketSize size{1024, 65536};
  EXPECT_EQ(size.after(1024, 16), 1024U);
  EXPECT_EQ(size.after(1024, 1025), 2048U);
  EXPECT_EQ(size.after(1024, std::uint64_t{1} << 40U), 65536U);
  EXPECT_EQ(size.after(65536, 16), 32768U);
  const detail::PacketSize fixed{88, 88};
  EXPECT_EQ(fixed.after(88, 16), 88U);
  EXPECT_EQ(fixed.after(88, 1'000'000), 88U);
}

// While nobody reads, the data in flight is bounded, however small the packets and however much is written.
TEST(Round, ASenderDoesNotRunAheadOfItsCredit) {
  if (world().size() < 2) GTEST_SKIP() << "one rank sends nothing";
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()),
                    {.packet_bytes = 512, .ring_depth = 2});
  const bool is_late = world().rank() == world().size() - 1;
  if (is_late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto round = hood.begin_round<std::uint64_t>();
  for (std::uint64_t k = 0; k < 20'000; ++k)
    for (const Rank to : hood.neighbours()) round.allocate(to) = k;
  round.close();
  EXPECT_EQ(round.collect().size(), 20'000 * hood.neighbours().size());
  const bool waits_for_late = std::ranges::find(hood.neighbours(), world().size() - 1) != hood.neighbours().end();
  if (waits_for_late) {
    EXPECT_GT(hood.statistics().waits_for_room, 0U);
  }
}

/// Send `n` messages of one size to every neighbour and count the packets, by barrio's counters and below it.
template <class T>
void expect_packets(std::uint32_t packet_bytes, std::uint64_t n, std::uint64_t n_packets) {
  Neighborhood hood(world(), neighbours_of(Graph::all, world().rank(), world().size()),
                    {.packet_bytes = packet_bytes, .ring_depth = 2});
  const std::uint64_t degree = hood.neighbours().size();
  const mpi::Counters before = world().counters();
  const CallsSince calls;
  auto round = hood.begin_round<T>();
  for (std::uint64_t k = 0; k < n; ++k)
    for (const Rank to : hood.neighbours()) round.allocate(to) = T{};
  round.close();
  EXPECT_EQ(round.collect().size(), n * degree);
  const mpi::Counters& after = world().counters();
  EXPECT_EQ(after.messages_sent - before.messages_sent, n_packets * degree) << n << " messages of " << sizeof(T);
  EXPECT_EQ(after.messages_received - before.messages_received, n_packets * degree);
  const std::uint64_t n_bytes = (n_packets * sizeof(PacketHeader) + n * sizeof(T)) * degree;
  EXPECT_EQ(after.bytes_sent - before.bytes_sent, n_bytes);
  EXPECT_EQ(after.bytes_received - before.bytes_received, n_bytes);
  EXPECT_EQ(after.collectives, before.collectives);
#ifndef BARRIO_MPI_SMPI
  EXPECT_EQ(calls.sends(), n_packets * degree);
#endif
}

TEST(Round, SendsNoMoreMessagesThanTheDataNeeds) {
  // 24 bytes of header; the other 104 bytes hold 13 words or 2 blobs of 40.
  for (const std::uint64_t n : {0U, 1U, 12U, 13U}) expect_packets<std::uint64_t>(128, n, 1);
  expect_packets<std::uint64_t>(128, 14, 2);
  expect_packets<std::uint64_t>(128, 26, 2);
  expect_packets<std::uint64_t>(128, 27, 3);
  expect_packets<std::uint64_t>(32, 10, 10);
  expect_packets<Blob<40>>(128, 2, 1);
  expect_packets<Blob<40>>(128, 3, 2);
  expect_packets<Blob<40>>(128, 1001, 501);
  expect_packets<Blob<104>>(128, 5, 5);
  // Messages larger than a packet: each has its own packet, and an empty packet announces the first.
  expect_packets<Blob<105>>(128, 5, 6);
  expect_packets<Blob<100'000>>(128, 1, 2);
  expect_packets<std::uint64_t>(65536, 8189, 1);
  expect_packets<std::uint64_t>(65536, 8190, 2);
}

TEST(Round, SmallByteMessagesShareAPacket) {
  Neighborhood hood(world(), neighbours_of(Graph::all, world().rank(), world().size()), {.packet_bytes = 128});
  const std::uint64_t degree = hood.neighbours().size();
  // 104 bytes: 8 + 16, 8 + 0, 8 + 64 fill it exactly; the fourth needs another.
  for (const auto& [n, n_packets] : {std::pair<std::size_t, std::uint64_t>{3, 1}, {4, 2}}) {
    const std::uint64_t before = world().counters().messages_sent;
    auto round = hood.begin_byte_round();
    for (std::size_t k = 0; k < n; ++k)
      for (const Rank to : hood.neighbours()) fill(round.allocate(to, std::array{9U, 0U, 64U, 0U}[k]), k);
    round.close();
    std::size_t n_heard = 0;
    for (const auto& [from, message] : round.received()) n_heard += from == world().rank() ? 0 : 1;
    EXPECT_EQ(n_heard, n * degree);
    EXPECT_EQ(world().counters().messages_sent - before, n_packets * degree);
  }
}

}  // namespace
}  // namespace barrio::exchange
