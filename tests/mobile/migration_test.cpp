// Objects that migrate at any time: random walks on real ranks, in memory, on the disk and in supersteps.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/moving/balancer.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mobile/common.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile {
namespace {

using test::seed;
using test::world;
using test_support::disk;
using test_support::error_of_all;
using test_support::has_disk;

/// Object that remembers what each sender has sent last, and where it has been.
struct Nomad {
  std::int64_t number = 0;
  std::vector<MobilePtr<Nomad>> others = {};
  std::vector<std::int64_t> next_of = {};  // by the number of the sender
  std::vector<std::int64_t> n_sent = {};   // to each of the others
  std::uint64_t random = 0;
  std::int64_t n_handled = 0;
  std::int64_t n_begun = 0;
  std::vector<double> ballast = {};

  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("others", others);
    visit("next_of", next_of);
    visit("n_sent", n_sent);
    visit("random", random);
    visit("n_handled", n_handled);
    visit("n_begun", n_begun);
    visit("ballast", ballast);
  }
};

struct Stride {
  std::int64_t from;
  std::int64_t number;
  std::int64_t n_left;
};
struct Parcel {
  Stride step{};
  std::vector<std::uint8_t> bytes;
  template <class Visit>
  void fields(Visit& visit) {
    visit("step", step);
    visit("bytes", bytes);
  }
};
/// Message of the program.
struct Begin {
  std::int64_t number;
};

/// Options of random walks of objects.
struct Walk {
  std::int64_t n_objects = 0;
  std::int64_t n_hops = 6;
  std::uint64_t one_in = 8;  // turns after which an object migrates
  std::size_t n_ballast = 0;
  bool supersteps = false;
};

RuntimeStatistics expect_walks(const Walk& walk, const RuntimeOptions& options) {
  const int n_ranks = world().size();
  const auto n_objects = static_cast<std::size_t>(walk.n_objects);
  Runtime runtime(world(), options);
  runtime.add_type<Nomad>("nomad");
  std::vector<std::uint64_t> words(n_objects, 0);
  std::vector<MobilePtr<Nomad>> mine;
  for (std::int64_t i = 0; i < walk.n_objects; ++i) {
    // the maker is not always the rank that the object is for
    if (i % n_ranks != world().rank()) continue;
    Nomad nomad;
    nomad.number = i;
    nomad.random = mix64(seed() + static_cast<std::uint64_t>(i));
    nomad.next_of.assign(n_objects, 0);
    nomad.n_sent.assign(n_objects, 0);
    nomad.ballast.assign(walk.n_ballast, static_cast<double>(i));
    mine.push_back(runtime.make_on(static_cast<Rank>((i / n_ranks) % n_ranks), std::move(nomad)));
    words[static_cast<std::size_t>(i)] = mine.back().id().word();
  }
  mpi::all_reduce(world(), std::span<std::uint64_t>(words), MPI_SUM);
  std::vector<MobilePtr<Nomad>> all;
  for (const std::uint64_t word : words) all.emplace_back(ObjectId::of_word(word));

  const auto step = [&](Turn& turn, Nomad& nomad, const Stride& one) {
    ASSERT_EQ(one.number, nomad.next_of[static_cast<std::size_t>(one.from)]++)
        << "from " << one.from << " to " << nomad.number;
    for (const double item : nomad.ballast) ASSERT_EQ(item, static_cast<double>(nomad.number));
    nomad.n_handled += 1;
    for (int copy = 0; copy < 2 && one.n_left > 0; ++copy) {
      nomad.random = mix64(nomad.random);
      const std::size_t to = nomad.random % n_objects;
      const Stride next{nomad.number, nomad.n_sent[to]++, one.n_left - 1};
      if (nomad.random % 5 == 0) {
        Parcel parcel{next, {}};
        parcel.bytes.assign(nomad.random % 3000, static_cast<std::uint8_t>(next.number));
        turn.send(all[to], parcel);
      } else {
        turn.send(all[to], next);
      }
    }
    nomad.random = mix64(nomad.random);
    if (nomad.random % walk.one_in == 0)
      turn.migrate(static_cast<Rank>(mix64(nomad.random) % static_cast<std::uint64_t>(n_ranks)));
  };
  runtime.on<Nomad, Stride>(step);
  runtime.on<Nomad, Parcel>([&](Turn& turn, Nomad& nomad, const Parcel& parcel) {
    for (const std::uint8_t byte : parcel.bytes) ASSERT_EQ(byte, static_cast<std::uint8_t>(parcel.step.number));
    step(turn, nomad, parcel.step);
  });
  runtime.on<Nomad, Begin>([&](Turn& turn, Nomad& nomad, const Begin& begin) {
    ASSERT_EQ(begin.number, nomad.n_begun++);
    const auto to = static_cast<std::size_t>((nomad.number + 1) % walk.n_objects);
    turn.send(all[to], Stride{nomad.number, nomad.n_sent[to]++, walk.n_hops});
  });
  for (std::int64_t repeat = 0; repeat < 3; ++repeat) {
    for (const MobilePtr<Nomad>& one : mine) runtime.send(one, Begin{repeat});
    // between runs too
    for (const MobilePtr<Nomad> one : runtime.objects<Nomad>())
      if (one.id().word() % 3 == 0) runtime.migrate(one, static_cast<Rank>((world().rank() + 1) % n_ranks));
    runtime.run({.supersteps = walk.supersteps});
    std::int64_t n_handled = 0;
    std::int64_t n_here = 0;
    for (const MobilePtr<Nomad> one : runtime.objects<Nomad>()) {
      runtime.visit(one, [&](const Nomad& nomad) { n_handled += nomad.n_handled; });
      n_here += 1;
      EXPECT_EQ(runtime.last_known_rank(one), world().rank());
    }
    EXPECT_EQ(mpi::sum(world(), n_here), walk.n_objects);
    EXPECT_EQ(mpi::sum(world(), n_handled), (repeat + 1) * walk.n_objects * ((1 << (walk.n_hops + 1)) - 1));
  }
  const RuntimeStatistics statistics = runtime.statistics();
  if (n_ranks > 1) {
    EXPECT_GT(mpi::sum(world(), statistics.migrations), 0U);
  }
  return statistics;
}

struct Count {
  std::int64_t n_handled = 0;
};
struct Tick {
  std::int64_t n_left;
};
struct Last {};

TEST(Migration, MessagesFindObjectsThatMoveOnceAndInOrder) {
  for (const PlaceUpdates updates : {PlaceUpdates::lazy, PlaceUpdates::eager, PlaceUpdates::home}) {
    expect_walks({.n_objects = 20}, {.migration = true, .updates = updates});
    expect_walks({.n_objects = 7, .one_in = 1}, {.migration = true, .updates = updates});
    const RuntimeOptions small{
        .stream = {.packet_bytes = 256, .n_receives = 2, .window = 1}, .migration = true, .updates = updates};
    expect_walks({.n_objects = 33, .one_in = 2, .n_ballast = 3}, small);
  }
}

TEST(Migration, WorkSpreadsByItself) {
  const RuntimeOptions options{.migration = true, .balancing = true};
  expect_walks({.n_objects = 20, .one_in = 1000}, options);
  expect_walks({.n_objects = 33, .one_in = 2, .n_ballast = 3}, options);
  Runtime runtime(world(), options);
  runtime.add_type<Count>("count");
  double spin = 0.0;
  runtime.on<Count, Tick>([&](Turn& turn, Count& count, const Tick& tick) {
    for (int i = 0; i < 20'000; ++i) spin += 1.0 / (1.0 + spin);
    count.n_handled += 1;
    if (tick.n_left > 1) turn.send(turn.self<Count>(), Tick{tick.n_left - 1});
  });
  // all objects are on the first rank
  constexpr std::int64_t n_objects = 64;
  constexpr std::int64_t n_ticks = 40;
  for (int i = 0; world().is_root() && i < n_objects; ++i) runtime.send(runtime.make(Count{}), Tick{n_ticks});
  runtime.run();
  std::int64_t n_handled = 0;
  for (const auto one : runtime.objects<Count>())
    runtime.visit(one, [&](const Count& count) { n_handled += count.n_handled; });
  EXPECT_EQ(mpi::sum(world(), n_handled), n_objects * n_ticks);
  if (world().size() > 1) {
    EXPECT_LT(mpi::max(world(), runtime.statistics().handled_messages),
              static_cast<std::uint64_t>(n_objects * n_ticks));
    EXPECT_GE(mpi::sum(world(), runtime.statistics().migrations), static_cast<std::uint64_t>(n_objects / 4));
  }
  EXPECT_NE(error_of_all([] { const Runtime wrong(world(), {.balancing = true}); }).find("needs objects that migrate"),
            std::string::npos);
}

TEST(Balancer, SharesWorkEvenly) {
  detail::Balancer balancer(0, 6);
  EXPECT_EQ(std::vector(balancer.partners().begin(), balancer.partners().end()), (std::vector<Rank>{1, 2, 4, 5}));
  EXPECT_TRUE(detail::Balancer(0, 1).partners().empty());
  balancer.note(4, true);
  balancer.note(1, true);
  balancer.note(4, true);
  balancer.note(2, true);
  balancer.note(2, false);
  std::vector<detail::Balancer::Item> items;
  double all = 0.0;
  for (std::size_t i = 0; i < 200; ++i) {
    items.push_back({1.0 / static_cast<double>(1 + mix64(seed() + i) % 200), i});
    all += items.back().seconds;
  }
  const std::vector<detail::Balancer::Item> before = items;
  const std::vector<Rank> to = balancer.share(items);
  std::map<Rank, double> loads;
  for (std::size_t i = 0; i < to.size(); ++i) loads[to[i]] += before[i].seconds;
  ASSERT_EQ(loads.size(), 3U);  // here, 1 and 4
  EXPECT_TRUE(loads.contains(-1) && loads.contains(1) && loads.contains(4));
  for (const auto& [rank, load] : loads) EXPECT_NEAR(load, all / 3, 0.2 * all / 3 + 1.0) << rank;
  EXPECT_FALSE(balancer.has_short());
}

TEST(Migration, InSuperstepsAsWell) {
  expect_walks({.n_objects = 20, .one_in = 3, .supersteps = true}, {.migration = true});
  expect_walks({.n_objects = 9, .one_in = 1, .supersteps = true},
               {.stream = {.packet_bytes = 256, .n_receives = 1, .window = 1}, .migration = true});
}

TEST(Migration, ObjectsOnTheDiskMigrate) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  const RuntimeOptions options{.max_memory_bytes = 70'000, .scratch = disk(), .migration = true};
  for (const bool supersteps : {false, true}) {
    const RuntimeStatistics statistics = expect_walks(
        {.n_objects = 24 * world().size(), .n_hops = 5, .n_ballast = 2000, .supersteps = supersteps}, options);
    EXPECT_GT(mpi::sum(world(), statistics.loads), 0U);
  }
}

TEST(Migration, ObjectsEndInTheirHandlersWhereverTheyAre) {
  for (const bool migration : {false, true}) {
    Runtime runtime(world(), {.migration = migration});
    runtime.add_type<Count>("count");
    const int n_ranks = world().size();
    runtime.on<Count, Tick>([&](Turn& turn, Count& count, const Tick& tick) {
      count.n_handled += 1;
      // each object makes another one before it ends: a chain of births and deaths, over all ranks
      if (tick.n_left == 0) return;
      const auto next = turn.runtime().make_on(static_cast<Rank>(tick.n_left % n_ranks), Count{});
      turn.send(next, Tick{tick.n_left - 1});
      if (migration && tick.n_left % 3 == 0) {
        turn.migrate(static_cast<Rank>((tick.n_left + 1) % n_ranks));
        turn.send(turn.self<Count>(), Last{});
      } else {
        turn.destroy();
      }
    });
    runtime.on<Count, Last>([](Turn& turn, Count&, const Last&) { turn.destroy(); });
    constexpr std::int64_t n_generations = 50;
    for (int i = 0; i < 10; ++i) runtime.send(runtime.make(Count{}), Tick{n_generations});
    runtime.run();
    const auto n_left = static_cast<std::int64_t>(runtime.objects<Count>().size());
    EXPECT_EQ(mpi::sum(world(), n_left), 10 * n_ranks) << "those of the last generation stay";
  }
}

TEST(Migration, AnObjectMayEndInTheStepInWhichItWasToMigrate) {
  Runtime runtime(world(), {.migration = true});
  runtime.add_type<Count>("count");
  runtime.on<Count, Tick>([&](Turn& turn, Count& count, const Tick& tick) {
    count.n_handled += 1;
    turn.migrate(static_cast<Rank>((world().rank() + 1) % world().size()));
    if (tick.n_left == 0) turn.destroy();
  });
  for (std::int64_t i = 0; i < 6; ++i) {
    const MobilePtr<Count> one = runtime.make(Count{});
    runtime.migrate(one, static_cast<Rank>((world().rank() + 1) % world().size()));
    for (std::int64_t k = i % 3; k >= 0; --k) runtime.send(one, Tick{k});
  }
  runtime.run({.supersteps = true});
  EXPECT_TRUE(runtime.objects<Count>().empty());
}

TEST(Migration, AMessageToAnObjectThatEndedIsAnErrorOfAllRanks) {
  Runtime runtime(world(), {.migration = true});
  runtime.add_type<Count>("count");
  const Rank last = world().size() - 1;
  runtime.on<Count, Last>([&](Turn& turn, Count& count, const Last&) {
    count.n_handled += 1;
    if (count.n_handled == 1) {
      turn.migrate(last);
      turn.send(turn.self<Count>(), Last{});
    } else {
      turn.destroy();
    }
  });
  runtime.on<Count, Tick>([](Turn&, Count&, const Tick&) {});
  runtime.on<Count, MobilePtr<Count>>(
      [](Turn& turn, Count&, const MobilePtr<Count>& gone) { turn.send(gone, Tick{0}); });
  const MobilePtr<Count> mine = runtime.make(Count{});
  const MobilePtr<Count> other = runtime.make(Count{});
  runtime.send(mine, Last{});
  runtime.run();
  EXPECT_EQ(runtime.objects<Count>().size(), 1U);
  // the rank it was made for, the one where it ended, and one that knows nothing
  for (const Rank sender : {0, last, 1 % world().size()}) {
    std::uint64_t gone = mine.id().word();
    mpi::broadcast(world(), std::span(&gone, 1));
    if (world().rank() == sender) runtime.send(other, MobilePtr<Count>(ObjectId::of_word(gone)));
    EXPECT_NE(error_of_all([&] { runtime.run(); }).find("it was destroyed"), std::string::npos) << sender;
  }
  // what is left works on
  runtime.send(other, Tick{0});
  runtime.run();
}

TEST(Migration, AFailureLosesNoObjectOnItsWay) {
  Runtime runtime(world(), {.migration = true});
  runtime.add_type<Count>("count");
  bool is_bad = true;
  runtime.on<Count, Tick>([&](Turn& turn, Count& count, const Tick& tick) {
    count.n_handled += 1;
    if (is_bad && count.n_handled == 20 && world().is_root())
      throw Error(ErrorCode::failed, {.subject = "a count", .cause = "is broken"});
    turn.migrate(static_cast<Rank>((world().rank() + 1) % world().size()));
    if (tick.n_left > 0) turn.send(turn.self<Count>(), Tick{tick.n_left - 1});
  });
  std::vector<MobilePtr<Count>> mine;
  for (int i = 0; i < 30; ++i) mine.push_back(runtime.make(Count{}));
  for (const auto one : mine) runtime.send(one, Tick{100});
  EXPECT_NE(error_of_all([&] { runtime.run(); }).find("is broken"), std::string::npos);
  EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(runtime.objects<Count>().size())), 30 * world().size());
  is_bad = false;
  std::int64_t before = 0;
  for (const auto one : runtime.objects<Count>())
    runtime.visit(one, [&](const Count& count) { before += count.n_handled; });
  for (const auto one : mine) runtime.send(one, Tick{10});
  runtime.run();
  std::int64_t after = 0;
  for (const auto one : runtime.objects<Count>())
    runtime.visit(one, [&](const Count& count) { after += count.n_handled; });
  EXPECT_EQ(mpi::sum(world(), after), mpi::sum(world(), before) + 30 * 11 * world().size());
}

TEST(Migration, PrioritiesTravelAlong) {
  if (!has_disk()) GTEST_SKIP() << disk() << " is in memory";
  for (const int priority : {0, 1}) {
    Runtime runtime(world(),
                    {.max_memory_bytes = 110'000, .scratch = disk(), .eviction = Eviction::lru, .migration = true});
    runtime.add_type<Nomad>("nomad");
    const auto make = [&] { return runtime.make(Nomad{.ballast = std::vector<double>(2'000)}); };
    const MobilePtr<Nomad> mine = make();
    runtime.set_priority(mine, priority);
    runtime.migrate(mine, static_cast<Rank>((world().rank() + 1) % world().size()));
    runtime.run();
    const std::vector<MobilePtr<Nomad>> come = runtime.objects<Nomad>();
    ASSERT_EQ(come.size(), 1U);
    for (int i = 0; i < 12; ++i) (void)make();
    EXPECT_EQ(runtime.is_in_memory(come.front()), priority == 1);
  }
}

TEST(Migration, NeedsTheOptionAndARankOfTheJob) {
  Runtime without(world());
  without.add_type<Count>("count");
  EXPECT_THROW(without.migrate(without.make(Count{}), 0), Error);
  Runtime runtime(world(), {.migration = true});
  runtime.add_type<Count>("count");
  const MobilePtr<Count> mine = runtime.make(Count{});
  EXPECT_THROW(runtime.migrate(mine, world().size()), Error);
  EXPECT_THROW(runtime.migrate(mine, -1), Error);
  runtime.migrate(mine, 0);
  runtime.run();
  EXPECT_EQ(runtime.objects<Count>().size(), world().is_root() ? static_cast<std::size_t>(world().size()) : 0U);
  if (world().is_root()) {
    EXPECT_EQ(runtime.last_known_rank(mine), 0);
  }
}

}  // namespace
}  // namespace barrio::mobile
