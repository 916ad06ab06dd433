// Mobile objects on real ranks: messages that breed messages, a limit of memory, supersteps, failures.
#include "barrio/mobile/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "barrio/base/growing_array.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mobile/common.hpp"
#include "tests/support/faulty_io.h"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile {
namespace {

/// Message that is packed as its bytes are, without rounding them up.
struct Odd {
  std::string text;
};

}  // namespace

template <>
struct Packing<Odd> {
  static std::uint64_t layout() { return 1; }
  static std::size_t bytes(const Odd& odd) { return odd.text.size(); }
  static void pack(const Odd& odd, std::byte* to) { std::memcpy(to, odd.text.data(), odd.text.size()); }
  static Odd unpack(std::span<const std::byte> from) {
    return {std::string(reinterpret_cast<const char*>(from.data()), from.size())};
  }
  static std::uint64_t memory_bytes(const Odd& odd) { return odd.text.size(); }
};

namespace {

using test::seed;
using test::world;
using test_support::disk;
using test_support::error_of_all;
using test_support::has_disk;

/// Object of the random walks: it remembers what each sender has sent last.
struct Walker {
  std::int64_t number = 0;
  std::vector<MobilePtr<Walker>> others;
  std::vector<std::int64_t> next_of;  // by the number of the sender
  std::vector<std::int64_t> n_sent;   // to each of the others
  std::string name;
  std::uint64_t random = 0;
  std::int64_t n_handled = 0;
  std::vector<double> ballast;

  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("others", others);
    visit("next_of", next_of);
    visit("n_sent", n_sent);
    visit("name", name);
    visit("random", random);
    visit("n_handled", n_handled);
    visit("ballast", ballast);
  }
};

struct Step {
  std::int64_t from;
  std::int64_t number;
  std::int64_t n_left;
};

/// Message with bytes of any length.
struct Letter {
  std::int64_t from = 0;
  std::int64_t number = 0;
  std::int64_t n_left = 0;
  std::vector<std::uint8_t> text;

  template <class Visit>
  void fields(Visit& visit) {
    visit("from", from);
    visit("number", number);
    visit("n_left", n_left);
    visit("text", text);
  }
};

std::uint8_t letter_of(std::int64_t from, std::int64_t number) {
  return static_cast<std::uint8_t>(mix64(static_cast<std::uint64_t>(from * 1000 + number)));
}

/// Objects on all ranks that know each other; those of all ranks are numbered through.
struct Walkers {
  Walkers(Runtime& runtime, std::int64_t n_objects, std::size_t n_ballast) {
    const int n_ranks = world().size();
    runtime.add_type<Walker>("walker", 1);
    std::vector<std::uint64_t> words(static_cast<std::size_t>(n_objects), 0);
    for (std::int64_t i = 0; i < n_objects; ++i) {
      if (i % n_ranks != world().rank()) continue;
      Walker walker;
      walker.number = i;
      walker.name = "walker " + std::to_string(i);
      walker.random = mix64(seed() + static_cast<std::uint64_t>(i));
      walker.ballast.assign(n_ballast, static_cast<double>(i));
      walker.next_of.assign(n_objects, 0);
      walker.n_sent.assign(n_objects, 0);
      const MobilePtr<Walker> made = runtime.make(std::move(walker));
      words[static_cast<std::size_t>(i)] = made.id().word();
      mine.push_back(made);
    }
    mpi::all_reduce(world(), std::span<std::uint64_t>(words), MPI_SUM);
    for (const std::uint64_t word : words) all.emplace_back(ObjectId::of_word(word));
    for (const MobilePtr<Walker>& one : mine) runtime.change(one, [&](Walker& walker) { walker.others = all; });
  }
  std::vector<MobilePtr<Walker>> all;
  std::vector<MobilePtr<Walker>> mine;
};

/// Handle one message: check its order, and send two shorter walks on.
template <class Send>
void walk_on(Walker& walker, std::int64_t from, std::int64_t number, std::int64_t n_left, Send&& send) {
  ASSERT_EQ(number, walker.next_of[static_cast<std::size_t>(from)]++) << "from " << from << " to " << walker.number;
  ASSERT_EQ(walker.name, "walker " + std::to_string(walker.number));
  for (const double one : walker.ballast) ASSERT_EQ(one, static_cast<double>(walker.number));
  walker.n_handled += 1;
  for (int copy = 0; copy < 2 && n_left > 0; ++copy) {
    walker.random = mix64(walker.random);
    const std::size_t to = walker.random % walker.others.size();
    send(walker.others[to], walker.n_sent[to]++, n_left - 1);
  }
}

/// @param serves  some handlers look at the network, as those that compute for long do
void expect_walks(const RuntimeOptions& options, std::int64_t n_objects, std::size_t n_ballast, bool supersteps,
                  bool serves = false) {
  Runtime runtime(world(), options);
  const Walkers walkers(runtime, n_objects, n_ballast);
  runtime.on<Walker, Step>([serves](Turn& turn, Walker& walker, const Step& step) {
    if (serves && step.number % 5 == 0) turn.serve();
    walk_on(walker, step.from, step.number, step.n_left,
            [&](MobilePtr<Walker> to, std::int64_t number, std::int64_t n_left) {
              if (number % 3 == 0) {
                Letter letter{walker.number, number, n_left, {}};
                letter.text.assign(static_cast<std::size_t>(number) * 37 % 3000, letter_of(walker.number, number));
                turn.send(to, letter);
              } else {
                turn.send(to, Step{walker.number, number, n_left});
              }
            });
  });
  runtime.on<Walker, Letter>([](Turn& turn, Walker& walker, const Letter& letter) {
    ASSERT_EQ(letter.text.size(), static_cast<std::size_t>(letter.number) * 37 % 3000);
    for (const std::uint8_t one : letter.text) ASSERT_EQ(one, letter_of(letter.from, letter.number));
    walk_on(walker, letter.from, letter.number, letter.n_left,
            [&](MobilePtr<Walker> to, std::int64_t number, std::int64_t n_left) {
              turn.send(to, Step{walker.number, number, n_left});
            });
  });
  constexpr std::int64_t n_hops = 6;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const MobilePtr<Walker>& one : walkers.mine)
      runtime.change(one, [&](Walker& walker) {
        const auto to = static_cast<std::size_t>((walker.number + 1) % n_objects);
        runtime.send(walker.others[to], Step{walker.number, walker.n_sent[to]++, n_hops});
      });
    runtime.run({.supersteps = supersteps});
    std::int64_t n_handled = 0;
    for (const MobilePtr<Walker>& one : walkers.mine)
      runtime.visit(one, [&](const Walker& walker) { n_handled += walker.n_handled; });
    EXPECT_EQ(mpi::sum(world(), n_handled), (repeat + 1) * n_objects * ((1 << (n_hops + 1)) - 1));
  }
  if (options.max_memory_bytes == 0 || walkers.mine.empty()) return;
  EXPECT_GT(runtime.statistics().evictions, 0U);
  EXPECT_GT(runtime.statistics().loads, 0U);
  EXPECT_LE(runtime.memory_bytes(), options.max_memory_bytes);
}

TEST(Runtime, EachMessageIsHandledOnceAndInOrder) {
  expect_walks({}, 20, 3, false);
  expect_walks({.stream = {.packet_bytes = 256, .n_receives = 2, .window = 1}}, 33, 3, false);
  expect_walks({}, 17, 0, true);
  expect_walks({}, 20, 3, false, true);
  expect_walks({.stream = {.packet_bytes = 256, .n_receives = 1, .window = 1}}, 33, 3, false, true);
}

TEST(Runtime, ObjectsAndMessagesThatDoNotFitLieOnTheDisk) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  // 16 KB an object, with room for about four on each rank; queues are longer than that
  const RuntimeOptions options{.max_memory_bytes = 70'000, .scratch = disk()};
  expect_walks(options, 24 * world().size(), 2000, false);
  expect_walks(options, 24 * world().size(), 2000, true);
}

/// Object that grows while it is in use.
struct Heap {
  GrowingArray<std::int64_t> items;
  template <class Visit>
  void fields(Visit& visit) {
    visit("items", items);
  }
};
struct Grow {
  std::uint64_t n;
};
struct Ask {
  std::uint64_t n_bytes;
};

TEST(Runtime, AnObjectThatGrowsMakesRoomBefore) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  constexpr std::uint64_t limit = 200'000;
  Runtime runtime(world(), {.max_memory_bytes = limit, .scratch = disk()});
  runtime.add_type<Heap>("heap");
  std::uint64_t max_bytes = 0;
  runtime.on<Heap, Grow>([&](Turn& turn, Heap& heap, const Grow& grow) {
    for (std::uint64_t i = 0; i < grow.n; ++i) {
      heap.items.push_back(i);
      max_bytes = std::max(max_bytes, turn.runtime().memory_bytes());
    }
  });
  std::vector<MobilePtr<Heap>> mine;
  for (int i = 0; i < 20; ++i) mine.push_back(runtime.make(Heap{}));
  for (int round = 0; round < 3; ++round) {
    for (const MobilePtr<Heap> one : mine) runtime.send(one, Grow{2'500});  // 20 kB each: 400 kB a round
    runtime.run();
  }
  bool has_asked = false;
  runtime.on<Heap, Ask>([&](Turn& turn, Heap&, const Ask& ask) {
    turn.reserve(ask.n_bytes);  // for a container that does not ask by itself
    EXPECT_LE(turn.runtime().memory_bytes() + ask.n_bytes, limit);
    turn.set_unchanged();
    has_asked = true;
  });
  runtime.send(mine.front(), Ask{limit / 2});
  runtime.run();
  EXPECT_TRUE(has_asked);
  EXPECT_GT(max_bytes, limit / 2);
  EXPECT_LE(max_bytes, limit) << "an object in use was counted when it had grown, not before";
  EXPECT_LE(runtime.memory().max_bytes(), limit);
  const Json account = runtime.memory().to_json();
  EXPECT_GE(account["owners"]["growth of objects in use"], 20'000);
  EXPECT_GE(account["owners"]["blocks of the disk"], 20'000);
  for (const MobilePtr<Heap> one : mine)
    runtime.visit(one, [&](const Heap& heap) {
      ASSERT_EQ(heap.items.size(), 7'500U);
      for (std::size_t i = 0; i < heap.items.size(); ++i)
        ASSERT_EQ(heap.items[i], static_cast<std::int64_t>(i % 2'500));
    });
}

TEST(Runtime, FinishedObjectsLeaveMemoryFirst) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  Runtime runtime(world(), {.max_memory_bytes = 100'000, .scratch = disk()});
  runtime.add_type<Heap>("heap");
  constexpr std::uint64_t n_more = 2'000;  // 16 kB
  runtime.on<Heap, Grow>([&](Turn& turn, Heap& heap, const Grow& grow) {
    for (std::uint64_t i = 0; i < n_more; ++i) heap.items.push_back(i);
    if (grow.n == 0) turn.set_finished();
  });
  // the first object is the oldest; all others are finished
  std::vector<MobilePtr<Heap>> mine;
  for (int i = 0; i < 20; ++i) mine.push_back(runtime.make(Heap{}));
  for (const MobilePtr<Heap> one : mine) runtime.send(one, Grow{one == mine.front() ? 1U : 0U});
  runtime.run();
  EXPECT_TRUE(runtime.is_in_memory(mine.front()));
  const RuntimeStatistics first = runtime.statistics();
  EXPECT_GT(first.evictions, 10U);
  EXPECT_EQ(first.loads, 0U);
  EXPECT_GE(first.finished_bytes, first.store.bytes_written);  // some may still be under way
  // one that gets a message returns
  const auto away = std::ranges::find_if(mine, [&](MobilePtr<Heap> one) { return !runtime.is_in_memory(one); });
  ASSERT_NE(away, mine.end());
  runtime.send(*away, Grow{1});
  runtime.run();
  EXPECT_TRUE(runtime.is_in_memory(*away));
  for (const MobilePtr<Heap> one : mine)
    runtime.visit(one, [&](const Heap& heap) { EXPECT_EQ(heap.items.size(), one == *away ? 2 * n_more : n_more); });
}

/// Make objects of 16 kB, of which about six fit, use them in an order, and return those in memory at the end.
std::vector<int> left_in_memory(
    Eviction eviction, const std::vector<int>& order,
    const std::function<void(Runtime&, const std::vector<MobilePtr<Heap>>&)>& prepare = {}) {
  Runtime runtime(world(), {.max_memory_bytes = 110'000, .scratch = disk(), .eviction = eviction});
  runtime.add_type<Heap>("heap");
  runtime.on<Heap, Grow>([](Turn&, Heap& heap, const Grow& grow) {
    for (std::uint64_t i = 0; i < grow.n; ++i) heap.items.push_back(i);
  });
  std::vector<MobilePtr<Heap>> all;
  for (int i = 0; i < 12; ++i) all.push_back(runtime.make(Heap{}));
  for (const MobilePtr<Heap> one : all) {
    runtime.send(one, Grow{2'000});
    runtime.run();
  }
  if (prepare) prepare(runtime, all);
  for (const int i : order) {
    runtime.send(all[static_cast<std::size_t>(i)], Grow{0});
    runtime.run();
  }
  std::vector<int> left;
  for (int i = 0; i < 12; ++i)
    if (runtime.is_in_memory(all[static_cast<std::size_t>(i)])) left.push_back(i);
  EXPECT_LE(runtime.memory_bytes(), 110'000U);
  return left;
}
bool has(const std::vector<int>& list, int item) { return std::ranges::find(list, item) != list.end(); }

TEST(Runtime, WhatLeavesMemoryIsChosen) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  // 0 is used most, 1 and 2 often, all others in turn
  std::vector<int> order;
  for (int round = 0; round < 6; ++round)
    for (int i = 3; i < 12; ++i) order.insert(order.end(), {0, 1 + i % 2, i});
  const std::vector<int> by_age = left_in_memory(Eviction::lru, order);
  EXPECT_TRUE(has(by_age, 0) && has(by_age, 11) && has(by_age, 10)) << "the last ones are there";
  for (const Eviction eviction : {Eviction::lfu, Eviction::lu, Eviction::adaptive}) {
    const std::vector<int> left = left_in_memory(eviction, order);
    EXPECT_TRUE(has(left, 0) && has(left, 1) && has(left, 2)) << static_cast<int>(eviction);
  }
  const std::vector<int> by_most = left_in_memory(Eviction::mu, {0, 0, 0, 1, 1, 3, 4, 5, 6, 7, 8});
  EXPECT_FALSE(has(by_most, 0));
  const std::vector<int> by_newest = left_in_memory(Eviction::mru, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_TRUE(has(by_newest, 9) && !has(by_newest, 8));
}

TEST(Runtime, LockedObjectsAndThoseOfHigherPriorityStay) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  const std::vector<int> order{3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 4, 5, 6, 7, 8};
  const std::vector<int> locked = left_in_memory(Eviction::lru, order, [](Runtime& runtime, const auto& all) {
    runtime.lock(all[0]);  // it is on the disk, and is read
    EXPECT_TRUE(runtime.is_in_memory(all[0]));
    runtime.lock(all[0]);
    runtime.unlock(all[0]);
    runtime.set_priority(all[1], 1);
    runtime.visit(all[1], [](const Heap&) {});
  });
  EXPECT_TRUE(has(locked, 0) && has(locked, 1));
  EXPECT_FALSE(has(left_in_memory(Eviction::lru, order), 0));
  (void)left_in_memory(Eviction::lru, order, [](Runtime& runtime, const auto& all) {
    EXPECT_THROW(runtime.unlock(all[0]), Error);
    std::size_t n = 0;
    const auto lock_all = [&] {
      for (; n < all.size(); ++n) runtime.lock(all[n]);
    };
    EXPECT_THROW(lock_all(), Error);
    EXPECT_GE(n, 5U);
    EXPECT_LE(n, 6U);
    while (n-- > 0) runtime.unlock(all[n]);
  });
}

/// Object whose state depends on the order of messages.
struct Mixer {
  std::int64_t number = 0;
  std::uint64_t state = 0;
  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("state", state);
  }
};
struct Mix {
  std::uint64_t value;
  std::int64_t n_left;
};

/// Compute a checksum that depends on the order of messages to each object. Objects are made on one rank for all, so
/// that their names do not depend on the number of ranks.
std::uint64_t mixed(mpi::Context& context, std::uint64_t limit) {
  constexpr std::int64_t n_objects = 40;
  Runtime runtime(context, {.max_memory_bytes = limit, .scratch = disk()});
  runtime.add_type<Mixer>("mixer");
  std::vector<std::uint64_t> words(n_objects, 0);
  // objects with ascending numbers over ranks have ascending names on any number of ranks
  for (std::int64_t i = 0; i < n_objects; ++i)
    if (i * context.size() / n_objects == context.rank())
      words[static_cast<std::size_t>(i)] = runtime.make(Mixer{i, 0}).id().word();
  mpi::all_reduce(context, std::span<std::uint64_t>(words), MPI_SUM);
  const auto name = [&](std::uint64_t i) { return MobilePtr<Mixer>(ObjectId::of_word(words[i % n_objects])); };
  runtime.on<Mixer, Mix>([&](Turn& turn, Mixer& mixer, const Mix& mix) {
    mixer.state = mix64(mixer.state ^ mix.value) + 1;
    for (std::uint64_t copy = 0; copy < 2 && mix.n_left > 0; ++copy)
      turn.send(name(mix64(mixer.state + copy)), Mix{mixer.state + copy, mix.n_left - 1});
  });
  for (std::uint64_t i = 0; i < n_objects; ++i)
    if (name(i).rank() == context.rank()) runtime.send(name(i), Mix{i, 8});
  runtime.run({.supersteps = true});
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n_objects; ++i)
    if (name(i).rank() == context.rank())
      runtime.visit(name(i), [&](const Mixer& mixer) { sum += mix64(mixer.state + i); });
  return mpi::sum(context, sum);
}

TEST(Runtime, SuperstepsGiveOneResultOnAnyRanks) {
  const std::vector<std::uint64_t> alone =
      test::of_one_rank([](mpi::Context& context) { return std::vector{mixed(context, 0)}; });
  EXPECT_EQ(mixed(world(), 0), alone[0]);
  if (has_disk()) {
    EXPECT_EQ(mixed(world(), 400), alone[0]);
  }
}

TEST(Runtime, ObjectsAreMadeOnOtherRanks) {
  Runtime runtime(world());
  runtime.add_type<Mixer>("mixer");
  runtime.on<Mixer, MobilePtr<Mixer>>([](Turn& turn, Mixer& mixer, const MobilePtr<Mixer>& other) {
    mixer.state += 1;
    if (other) turn.send(other, MobilePtr<Mixer>());
  });
  // Each rank makes an object on each rank, and lets a third rank's object send to it: the message may overtake it.
  const int n = world().size();
  const MobilePtr<Mixer> mine = runtime.make(Mixer{});
  std::vector<std::uint64_t> words(static_cast<std::size_t>(n), 0);
  words[static_cast<std::size_t>(world().rank())] = mine.id().word();
  mpi::all_reduce(world(), std::span<std::uint64_t>(words), MPI_SUM);
  std::vector<MobilePtr<Mixer>> made;
  for (Rank rank = 0; rank < n; ++rank) {
    made.push_back(runtime.make_on(rank, Mixer{rank, 0}));
    EXPECT_EQ(made.back().rank(), rank);
    runtime.send(MobilePtr<Mixer>(ObjectId::of_word(words[static_cast<std::size_t>((rank + 1) % n)])), made.back());
    runtime.send(made.back(), MobilePtr<Mixer>());
  }
  runtime.run();
  runtime.visit(mine, [&](const Mixer& mixer) { EXPECT_EQ(mixer.state, static_cast<std::uint64_t>(n)); });
  const auto here = made[static_cast<std::size_t>(world().rank())];
  runtime.visit(here, [&](const Mixer& mixer) { EXPECT_EQ(mixer.state, 2U); });
  EXPECT_EQ(mpi::sum(world(), runtime.statistics().handled_messages), static_cast<std::uint64_t>(3 * n * n));
  std::vector<MobilePtr<Mixer>> all = runtime.objects<Mixer>();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(n + 1));
  EXPECT_TRUE(std::ranges::is_sorted(all));
  runtime.destroy(here);
  EXPECT_EQ(runtime.objects<Mixer>().size(), all.size() - 1);
  EXPECT_THROW(runtime.visit(here, [](const Mixer&) {}), Error);
}

TEST(Runtime, AHandlerThatThrowsIsAnErrorOfAllRanks) {
  Runtime runtime(world(), {.max_memory_bytes = has_disk() ? 2000U : 0U, .scratch = disk()});
  runtime.add_type<Mixer>("mixer");
  std::vector<MobilePtr<Mixer>> objects;
  for (int i = 0; i < 50; ++i) objects.push_back(runtime.make(Mixer{i, 0}));
  const Rank guilty = world().size() - 1;
  bool is_bad = true;
  runtime.on<Mixer, Mix>([&](Turn& turn, Mixer& mixer, const Mix& mix) {
    if (is_bad && mixer.number == 30 && world().rank() == guilty)
      throw Error(ErrorCode::failed, {.subject = "mixer 30", .cause = "is broken"});
    mixer.state += 1;
    if (mix.n_left > 0)
      turn.send(objects[static_cast<std::size_t>(mix.value + 1) % 50], Mix{mix.value + 1, mix.n_left - 1});
  });
  for (const bool supersteps : {false, true}) {
    is_bad = true;
    for (const auto& one : objects) runtime.send(one, Mix{7, 40});
    EXPECT_NE(error_of_all([&] { runtime.run({.supersteps = supersteps}); }).find("mixer 30: is broken"),
              std::string::npos);
    is_bad = false;
    const std::uint64_t before = runtime.statistics().handled_messages;
    runtime.send(objects[0], Mix{0, 3});
    runtime.run({.supersteps = supersteps});
    EXPECT_EQ(runtime.statistics().handled_messages, before + 4);  // nothing is left of the run that failed
  }
}

TEST(Runtime, AFaultOfTheDiskIsAnErrorOfAllRanks) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  const Rank guilty = world().size() - 1;
  for (const auto& [calls, error, text] :
       {std::tuple{FAULTY_IO_WRITE, ENOSPC, "No space left"}, std::tuple{FAULTY_IO_WRITE, EIO, "Input/output error"},
        std::tuple{FAULTY_IO_READ, EIO, "cannot be read"}}) {
    SCOPED_TRACE(text);
    Runtime runtime(world(), {.max_memory_bytes = 100'000, .scratch = disk()});
    const Walkers walkers(runtime, 24 * world().size(), 2000);
    runtime.on<Walker, Step>([](Turn& turn, Walker& walker, const Step& step) {
      walker.n_handled += 1;
      if (step.n_left > 0)
        turn.send(walker.others[static_cast<std::size_t>(walker.number + step.n_left) % walker.others.size()],
                  Step{walker.number, 0, step.n_left - 1});
    });
    for (const MobilePtr<Walker>& one : walkers.mine) runtime.send(one, Step{0, 0, 20});
    FaultyIo plan{
        .calls = calls, .file = {}, .at = 3, .end = LONG_MAX, .error = error, .act = nullptr, .argument = nullptr};
    std::snprintf(plan.file, sizeof plan.file, "%s", disk().c_str());
    if (world().rank() == guilty) faulty_io_begin(&plan);
    const std::string said = error_of_all([&] { runtime.run(); });
    if (world().rank() == guilty) faulty_io_end();
    EXPECT_NE(said.find(text), std::string::npos) << said;
  }
}

TEST(Runtime, MisuseIsRefused) {
  Runtime runtime(world());
  EXPECT_THROW(runtime.make(Mixer{}), Error);
  runtime.add_type<Mixer>("mixer");
  EXPECT_THROW(runtime.add_type<Mixer>("again"), Error);
  const MobilePtr<Mixer> mixer = runtime.make(Mixer{});
  EXPECT_THROW(runtime.send(mixer, Mix{}), Error);
  EXPECT_THROW(runtime.make_on(world().size(), Mixer{}), Error);
  runtime.on<Mixer, Mix>([](Turn&, Mixer&, const Mix&) {});
  EXPECT_THROW((runtime.on<Mixer, Mix>([](Turn&, Mixer&, const Mix&) {})), Error);
  EXPECT_THROW(runtime.send(MobilePtr<Mixer>(), Mix{}), Error);
  EXPECT_THROW(runtime.send(mixer, std::int64_t{1}), Error) << "another message, without a handler";
  runtime.on<Mixer, Odd>([](Turn&, Mixer&, const Odd&) {});
  EXPECT_THROW(runtime.send(mixer, Odd{"five!"}), Error) << "bytes that are not whole words";
  runtime.send(mixer, Mix{});
  EXPECT_THROW(runtime.destroy(mixer), Error);
  runtime.run();
  runtime.destroy(mixer);
  // a message to an object that is gone
  runtime.send(mixer, Mix{});
  EXPECT_NE(error_of_all([&] { runtime.run(); }).find("has no object"), std::string::npos);
  runtime.run();
}

TEST(Runtime, OtherTypesOnOneRankAreNamed) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  Runtime runtime(world());
  if (world().rank() == 1) {
    runtime.add_type<Walker>("walker");
    runtime.add_type<Mixer>("mixer");
  } else {
    runtime.add_type<Mixer>("mixer");
    runtime.add_type<Walker>("walker");
  }
  const std::string error = error_of_all([&] { runtime.run(); });
  EXPECT_NE(error.find("rank 1: has the type walker"), std::string::npos) << error;
  EXPECT_NE(error.find("where rank 0 has the type mixer"), std::string::npos) << error;
}

TEST(Runtime, AScratchFolderThatIsNotThereIsAnErrorOfAllRanks) {
  const RuntimeOptions options{.max_memory_bytes = 1000, .scratch = disk() + "/nowhere"};
  EXPECT_NE(error_of_all([&] { const Runtime runtime(world(), options); }).find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace barrio::mobile
