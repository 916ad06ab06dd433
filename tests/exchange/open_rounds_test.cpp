// Rounds of several Neighborhoods that are open at the same time.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "barrio/exchange/round.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

std::uint64_t content(int which, int repeat, Rank from, Rank to, std::uint64_t k) {
  return number({30, word(which), word(repeat), word(from), word(to), k});
}

template <class T>
void expect_content(Round<T>& round, const Neighborhood& hood, int which, int repeat, std::uint64_t n) {
  const auto all = round.collect();
  ASSERT_EQ(all.size(), n * hood.neighbours().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].from, hood.neighbours()[i / n]);
    ASSERT_EQ(all[i].message, filled<T>(content(which, repeat, all[i].from, world().rank(), i % n)))
        << "neighbourhood " << which << ", message " << i % n << " from rank " << all[i].from;
  }
}

/// Fill both at once, close both, read both; every rank may read them in another order.
template <class T>
void two_at_once(mpi::Context& context, Graph second, NeighborhoodOptions options, std::uint64_t n, bool mixed_order) {
  const Rank me = world().rank();
  Neighborhood a(context, neighbours_of(Graph::all, me, world().size()), options);
  Neighborhood b(context, neighbours_of(second, me, world().size()), options);
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto round_a = a.begin_round<T>();
    auto round_b = b.begin_round<T>();
    for (std::uint64_t k = 0; k < n; ++k) {
      for (const Rank to : a.neighbours()) round_a.allocate(to) = filled<T>(content(0, repeat, me, to, k));
      for (const Rank to : b.neighbours()) round_b.allocate(to) = filled<T>(content(1, repeat, me, to, k));
    }
    if (mixed_order && me % 2 == 1) {
      round_b.close();
      round_a.close();
      expect_content(round_b, b, 1, repeat, n);
      expect_content(round_a, a, 0, repeat, n);
    } else {
      round_a.close();
      if (me == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      round_b.close();
      expect_content(round_a, a, 0, repeat, n);
      expect_content(round_b, b, 1, repeat, n);
    }
  }
}

TEST(OpenRounds, TwoAtOnceKeepTheirMessagesApart) {
  two_at_once<Blob<24>>(world(), Graph::all, {.packet_bytes = 4096, .ring_depth = 2}, 100, false);
  two_at_once<Blob<24>>(world(), Graph::ring, {.packet_bytes = 4096, .ring_depth = 2}, 100, true);
}

TEST(OpenRounds, TwoAtOnceMayExceedTheirRings) {
  // Packets above any eager limit and rings of one: a sender waits until the receiver takes them, and the receiver
  // may be busy with the other neighbourhood.
  const NeighborhoodOptions options{.packet_bytes = 1U << 17U, .ring_depth = 1};
  two_at_once<Blob<1000>>(world(), Graph::all, options, 1000, true);
  mpi::Context blocking(MPI_COMM_WORLD, {.wait = {.kind = mpi::WaitPolicy::Kind::block}});
  two_at_once<Blob<1000>>(blocking, Graph::all, options, 1000, true);
}

TEST(OpenRounds, OneAfterTheOtherMayExceedTheirRings) {
  const Rank me = world().rank();
  const NeighborhoodOptions options{.packet_bytes = 1U << 17U, .ring_depth = 1};
  Neighborhood a(world(), neighbours_of(Graph::all, me, world().size()), options);
  Neighborhood b(world(), neighbours_of(Graph::all, me, world().size()), options);
  using T = Blob<1000>;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto fill_round = [&](Neighborhood& hood, int which) {
      auto round = hood.begin_round<T>();
      // Not all have much to say, so that some are far ahead of others.
      const std::uint64_t n = (me + which + repeat) % 3 == 0 ? 1000 : 1;
      for (std::uint64_t k = 0; k < n; ++k)
        for (const Rank to : hood.neighbours()) round.allocate(to) = filled<T>(content(which, repeat, me, to, k));
      round.close();
      return round;
    };
    auto round_a = fill_round(a, 0);
    auto round_b = fill_round(b, 1);
    const auto expect_all = [&](Round<T>& round, const Neighborhood& hood, int which) {
      std::size_t i = 0;
      const auto all = round.collect();
      for (const Rank from : hood.neighbours()) {
        const std::uint64_t n = (from + which + repeat) % 3 == 0 ? 1000 : 1;
        for (std::uint64_t k = 0; k < n; ++k, ++i) {
          ASSERT_LT(i, all.size());
          ASSERT_EQ(all[i].from, from);
          ASSERT_EQ(all[i].message, filled<T>(content(which, repeat, from, me, k)));
        }
      }
      EXPECT_EQ(i, all.size());
    };
    expect_all(round_a, a, 0);
    expect_all(round_b, b, 1);
  }
}

TEST(OpenRounds, ANeighborhoodMayDieWhileAnotherRoundIsOpen) {
  // Its last packets may not have left; a neighbour takes them in only after this rank took in those of the other.
  const Rank me = world().rank();
  const NeighborhoodOptions options{.packet_bytes = 1U << 17U, .ring_depth = 1};
  using T = Blob<1000>;
  Neighborhood lasting(world(), neighbours_of(Graph::all, me, world().size()), options);
  auto round = lasting.begin_round<T>();
  const auto say = [&](Round<T>& to_round, int which, std::uint64_t n) {
    for (std::uint64_t k = 0; k < n; ++k)
      for (const Rank to : lasting.neighbours()) to_round.allocate(to) = filled<T>(content(which, 0, me, to, k));
    to_round.close();
  };
  {
    Neighborhood brief(world(), neighbours_of(Graph::all, me, world().size()), options);
    auto brief_round = brief.begin_round<T>();
    say(brief_round, 0, 100);
    if (me % 2 == 0) {
      expect_content(brief_round, brief, 0, 0, 100);
    } else {
      say(round, 1, 1000);
      expect_content(brief_round, brief, 0, 0, 100);
    }
  }
  if (me % 2 == 0) say(round, 1, 1000);
  expect_content(round, lasting, 1, 0, 1000);
}

}  // namespace
}  // namespace barrio::exchange
