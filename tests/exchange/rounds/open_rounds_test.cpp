// Simultaneously open rounds of several Neighborhoods.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "barrio/exchange/neighborhood.hpp"
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

/// Fill both rounds, close both, read both; in mixed order, half the ranks do so in reverse.
template <class T>
void two_at_once(mpi::Context& context, Graph second, NeighborhoodOptions options, std::uint64_t n, bool mixed_order) {
  const Rank me = world().rank();
  Neighborhood a(context, neighbours_of(Graph::all, me, world().size()), options);
  Neighborhood b(context, neighbours_of(second, me, world().size()), options);
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto round_a = a.begin_round<T>();
    auto round_b = b.begin_round<T>();
    const auto fill_a = [&] {
      for (std::uint64_t k = 0; k < n; ++k)
        for (const Rank to : a.neighbours()) round_a.allocate(to) = filled<T>(content(0, repeat, me, to, k));
    };
    const auto fill_b = [&] {
      for (std::uint64_t k = 0; k < n; ++k)
        for (const Rank to : b.neighbours()) round_b.allocate(to) = filled<T>(content(1, repeat, me, to, k));
    };
    if (mixed_order && me % 2 == 1) {
      fill_b();
      fill_a();
      round_b.close();
      round_a.close();
      expect_content(round_b, b, 1, repeat, n);
      expect_content(round_a, a, 0, repeat, n);
    } else {
      fill_a();
      fill_b();
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
  // Packets above any eager limit and rings of depth one: a sender waits for the receiver, which may be busy with the
  // other neighbourhood.
  const NeighborhoodOptions options{.packet_bytes = 1U << 17U, .ring_depth = 1};
  two_at_once<Blob<1000>>(world(), Graph::all, options, 700, true);
  mpi::Context blocking(MPI_COMM_WORLD, {.wait = {.kind = mpi::WaitPolicy::Kind::block}});
  two_at_once<Blob<1000>>(blocking, Graph::all, options, 700, true);
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
      // Some ranks have few messages, so they are far ahead of others.
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
  // Even ranks send much to odd ones in the first round, odd ranks to even ones in the second. Each side first reads
  // the round in which it receives little. When that Neighborhood is destroyed, the other side has not received most of
  // its packets; the same holds for the other Neighborhood.
  const Rank me = world().rank();
  const NeighborhoodOptions options{.packet_bytes = 1U << 17U, .ring_depth = 8};
  using T = Blob<1000>;
  std::array<std::optional<Neighborhood>, 2> hoods;
  std::vector<Round<T>> rounds;
  const auto n_messages = [](std::size_t which, Rank from, Rank to) {
    return from % 2 == static_cast<int>(which) && to % 2 != from % 2 ? 700U : 1U;
  };
  for (std::size_t which = 0; which < 2; ++which) {
    hoods[which].emplace(world(), neighbours_of(Graph::all, me, world().size()), options);
    rounds.push_back(hoods[which]->begin_round<T>());
    for (const Rank to : hoods[which]->neighbours())
      for (std::uint64_t k = 0; k < n_messages(which, me, to); ++k)
        rounds[which].allocate(to) = filled<T>(content(static_cast<int>(which), 0, me, to, k));
  }
  for (Round<T>& round : rounds) round.close();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const std::size_t which : {me % 2, 1 - me % 2}) {
    std::size_t i = 0;
    const auto all = rounds[which].collect();
    for (const Rank from : hoods[which]->neighbours()) {
      for (std::uint64_t k = 0; k < n_messages(which, from, me); ++k, ++i) {
        ASSERT_LT(i, all.size());
        ASSERT_EQ(all[i].from, from);
        ASSERT_EQ(all[i].message, filled<T>(content(static_cast<int>(which), 0, from, me, k)));
      }
    }
    EXPECT_EQ(i, all.size());
    {
      const Round<T> over = std::move(rounds[which]);
    }
    hoods[which].reset();
  }
}

}  // namespace
}  // namespace barrio::exchange
