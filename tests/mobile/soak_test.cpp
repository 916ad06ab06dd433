// Everything at once, at random: messages of all lengths, migrations, births, deaths, the disk, work that spreads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile {
namespace {

using test::seed;
using test::world;

/// Object that counts what it gets from each sender and sends to each receiver, whichever were born meanwhile.
struct Soaked {
  std::uint64_t random = 0;
  std::vector<MobilePtr<Soaked>> known = {};
  std::vector<std::uint64_t> senders = {};
  std::vector<std::int64_t> n_received = {};  // of each sender
  std::vector<std::int64_t> n_sent = {};      // to each that it knows
  std::vector<std::uint8_t> ballast = {};

  template <class Visit>
  void fields(Visit& visit) {
    visit("random", random);
    visit("known", known);
    visit("senders", senders);
    visit("n_received", n_received);
    visit("n_sent", n_sent);
    visit("ballast", ballast);
  }
};
struct Drop {
  std::int64_t number = 0;
  MobilePtr<Soaked> from;
  std::int64_t n_left = 0;
  std::vector<std::uint8_t> bytes;

  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("from", from);
    visit("n_left", n_left);
    visit("bytes", bytes);
  }
};

std::uint8_t byte_of(std::int64_t number) {
  return static_cast<std::uint8_t>(mix64(static_cast<std::uint64_t>(number)));
}

/// @return messages handled by all ranks
std::uint64_t soak(const RuntimeOptions& options, std::int64_t n_messages, std::uint64_t variant) {
  const auto n_ranks = static_cast<std::uint64_t>(world().size());
  Runtime runtime(world(), options);
  runtime.add_type<Soaked>("soaked");
  const auto send = [](Turn& turn, Soaked& one, std::int64_t n_left) {
    one.random = mix64(one.random);
    const std::size_t to = one.random % one.known.size();
    Drop drop{one.n_sent[to]++, turn.self<Soaked>(), n_left, {}};
    const std::uint64_t kind = mix64(one.random) % 64;
    // most are short; one in 64 is longer than a packet
    drop.bytes.assign(kind == 0 ? 100'000 : kind < 8 ? 500 : kind % 8, byte_of(drop.number));
    turn.send(one.known[to], drop);
  };
  runtime.on<Soaked, Drop>([&](Turn& turn, Soaked& one, const Drop& drop) {
    const auto found = std::ranges::find(one.senders, drop.from.id().word());
    const auto place = static_cast<std::size_t>(found - one.senders.begin());
    if (found == one.senders.end()) {
      one.senders.push_back(drop.from.id().word());
      one.n_received.push_back(0);
    }
    ASSERT_EQ(drop.number, one.n_received[place]++);
    for (const std::uint8_t byte : drop.bytes) ASSERT_EQ(byte, byte_of(drop.number));
    if (drop.n_left <= 0) return;
    one.random = mix64(one.random);
    const std::uint64_t chance = one.random % 1000;
    if (chance < 100) turn.migrate(static_cast<Rank>(mix64(one.random) % n_ranks));
    if (chance >= 995 && one.known.size() < 40) {
      // a child that knows its parent and its relatives; it is made on any rank
      Soaked child{.random = mix64(one.random + 1), .known = {turn.self<Soaked>()}};
      for (const MobilePtr<Soaked> relative : one.known)
        if (relative != turn.self<Soaked>() && mix64(relative.id().word() + one.random) % 4 == 0)
          child.known.push_back(relative);
      child.n_sent.assign(child.known.size(), 0);
      child.ballast.assign(one.ballast.size(), 1);
      one.known.push_back(turn.runtime().make_on(static_cast<Rank>(mix64(one.random + 2) % n_ranks), std::move(child)));
      one.n_sent.push_back(0);
    }
    if (chance == 500) turn.serve();
    send(turn, one, drop.n_left - 1);
  });
  // mayflies are born with a message each, and end
  struct Fly {
    std::int64_t n_left;
  };
  runtime.add_type<Fly>("fly");
  runtime.on<Fly, std::int64_t>([&](Turn& turn, Fly& fly, const std::int64_t& n) {
    if (n % 3 == 0) {
      turn.migrate(static_cast<Rank>(static_cast<std::uint64_t>(n) % n_ranks));
      turn.send(turn.self<Fly>(), n + 1);
      return;
    }
    if (fly.n_left > 0)
      turn.send(turn.runtime().make_on(static_cast<Rank>(static_cast<std::uint64_t>(n) % n_ranks), Fly{fly.n_left - 1}),
                n + 1);
    turn.destroy();
  });

  constexpr std::size_t n_mine = 12;
  std::vector<std::uint64_t> words(n_mine * n_ranks, 0);
  std::vector<MobilePtr<Soaked>> mine;
  for (std::size_t i = 0; i < n_mine; ++i) {
    mine.push_back(runtime.make(
        Soaked{.random = mix64(seed() + variant * 1000 + i + 100 * static_cast<std::uint64_t>(world().rank())),
               .ballast = std::vector<std::uint8_t>(20'000, 1)}));
    words[i + n_mine * static_cast<std::size_t>(world().rank())] = mine.back().id().word();
  }
  mpi::all_reduce(world(), std::span<std::uint64_t>(words), MPI_SUM);
  for (const auto one : mine)
    runtime.change(one, [&](Soaked& soaked) {
      for (const std::uint64_t word : words)
        if (mix64(word + soaked.random) % 3 != 0 || soaked.known.empty())
          soaked.known.emplace_back(ObjectId::of_word(word));
      soaked.n_sent.assign(soaked.known.size(), 0);
    });
  const auto n_chains = static_cast<std::int64_t>(8 * words.size());
  // what the program sends comes from an object that does not exist
  const MobilePtr<Soaked> program(ObjectId(0, world().rank(), ObjectId::max_objects - 1));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const auto one : mine)
      for (std::int64_t chain = 0; chain < 8; ++chain)
        runtime.send(one, Drop{repeat * 8 + chain, program, n_messages / n_chains / 2, {}});
    for (int i = 0; i < 5; ++i) runtime.send(runtime.make(Fly{60}), std::int64_t{i});
    runtime.run();
    EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(runtime.objects<Fly>().size())), 0);
  }
  // each message that was sent has come
  std::int64_t n_sent = 0;
  std::int64_t n_received = 0;
  for (const auto one : runtime.objects<Soaked>())
    runtime.visit(one, [&](const Soaked& soaked) {
      for (const std::int64_t n : soaked.n_sent) n_sent += n;
      for (const std::int64_t n : soaked.n_received) n_received += n;
    });
  EXPECT_EQ(mpi::sum(world(), n_received), mpi::sum(world(), n_sent) + 2 * n_chains);
  EXPECT_EQ(mpi::sum(world(), n_received), 2 * n_chains * (1 + n_messages / n_chains / 2));
  if (options.max_memory_bytes > 0) {
    EXPECT_GT(mpi::sum(world(), runtime.statistics().evictions), 0U);
  }
  return mpi::sum(world(), runtime.statistics().handled_messages);
}

TEST(Soak, EverythingAtOnce) {
  const char* const wanted = std::getenv("BARRIO_SOAK");
  const std::int64_t n_messages = wanted != nullptr ? std::atoll(wanted) : 20'000;
  const std::string folder = test::scratch().string();
  const bool has_disk = folder_kind(folder) != FolderKind::memory;
  std::uint64_t n = 0;
  for (std::uint64_t variant = 0; variant < 4; ++variant) {
    RuntimeOptions options{.migration = true};
    options.updates = static_cast<PlaceUpdates>(variant % 3);
    options.balancing = variant % 2 == 1;
    if (variant >= 2 && has_disk) {
      options.max_memory_bytes = 150'000;
      options.scratch = folder;
    }
    if (variant == 3) options.stream = {.packet_bytes = 512, .n_receives = 2, .window = 1};
    n += soak(options, n_messages / 4, variant);
  }
  RecordProperty("messages", static_cast<int>(n));
}

}  // namespace
}  // namespace barrio::mobile
