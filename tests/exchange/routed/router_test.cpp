#include "barrio/exchange/router.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

enum class Pattern { nobody, self, all, all_to_one, one_to_all, random, random_with_empty };
constexpr std::array all_patterns{Pattern::nobody,           Pattern::self,       Pattern::all,
                                  Pattern::all_to_one,       Pattern::one_to_all, Pattern::random,
                                  Pattern::random_with_empty};

/// Return the number of items in the parcel from one rank to another, or -1 without a parcel. The same on all ranks.
std::int64_t n_items(Pattern pattern, std::uint64_t repeat, Rank from, Rank to) {
  const std::uint64_t n = number({40, word(static_cast<int>(pattern)), repeat, word(from), word(to)});
  const auto some = static_cast<std::int64_t>(1 + (n >> 8U) % 40);
  const auto chosen = static_cast<Rank>(number({41, repeat}) % word(world().size()));
  switch (pattern) {
    case Pattern::nobody: return -1;
    case Pattern::self: return from == to ? some : -1;
    case Pattern::all: return some;
    case Pattern::all_to_one: return to == chosen ? some : -1;
    case Pattern::one_to_all: return from == chosen ? some : -1;
    case Pattern::random: return n % 3 == 0 ? some : -1;
    case Pattern::random_with_empty: return n % 3 == 0 ? some : n % 3 == 1 ? 0 : -1;
  }
  return -1;
}

template <class T>
void expect_delivered(Pattern pattern, std::uint64_t repeat) {
  const Rank me = world().rank();
  const int size = world().size();
  const auto item = [&](Rank from, Rank to, std::int64_t k) {
    return filled<T>(number({42, repeat, word(from), word(to), static_cast<std::uint64_t>(k)}));
  };
  Parcels<T> parcels;
  for (Rank to = 0; to < size; ++to) {
    const std::int64_t n = n_items(pattern, repeat, me, to);
    std::vector<T> group;
    for (std::int64_t k = 0; k < n; ++k) group.push_back(item(me, to, k));
    if (n >= 0) parcels.add(to, group);
  }

  const mpi::Counters before = world().counters();
  const CallsSince calls;
  const Parcels<T> received = route(world(), parcels);
  const auto n_stages = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(size - 1)));
  EXPECT_LE(world().counters().messages_sent - before.messages_sent, n_stages);
  EXPECT_LE(calls.sends(), n_stages);
  EXPECT_EQ(calls.collectives(), 0U);

  Parcels<T> given = parcels;
  const Parcels<T> again = route(world(), std::move(given));
  EXPECT_EQ(given.items.capacity(), 0U);  // NOLINT(bugprone-use-after-move): freed, as promised
  EXPECT_EQ(again.peers, received.peers);
  EXPECT_EQ(again.offsets, received.offsets);
  EXPECT_TRUE(again.items == received.items);

  std::size_t i = 0;
  for (Rank from = 0; from < size; ++from) {
    const std::int64_t n = n_items(pattern, repeat, from, me);
    if (n < 0) continue;
    ASSERT_LT(i, received.n_peers());
    EXPECT_EQ(received.peers[i], from);
    const auto group = received.of(i);
    ASSERT_EQ(group.size(), static_cast<std::size_t>(n)) << "from rank " << from;
    for (std::int64_t k = 0; k < n; ++k)
      ASSERT_EQ(group[static_cast<std::size_t>(k)], item(from, me, k)) << k << " from rank " << from;
    ++i;
  }
  EXPECT_EQ(received.n_peers(), i);
  EXPECT_EQ(received.offsets.size(), i + 1);
  EXPECT_EQ(received.items.size(), received.offsets.back());
}

template <class T>
class Router : public testing::Test {};
using ItemTypes = testing::Types<Blob<1>, Blob<3>, Blob<12>, Blob<40>, std::uint64_t>;
TYPED_TEST_SUITE(Router, ItemTypes);

TYPED_TEST(Router, DeliversEveryParcelToItsRankAndNoOther) {
  for (const Pattern pattern : all_patterns)
    for (std::uint64_t repeat = 0; repeat < 3; ++repeat) expect_delivered<TypeParam>(pattern, repeat);
}

TEST(RouterLoad, CarriesTenMegabytes) {
  const Rank me = world().rank();
  const int size = world().size();
  constexpr std::size_t n = 10'000'000 / sizeof(std::uint64_t);
  // From rank to rank in a ring; the last rank also sends to itself.
  std::vector<Rank> to(1, (me + 1) % size);
  Parcels<std::uint64_t> parcels;
  std::vector<std::uint64_t> group(n);
  for (std::size_t k = 0; k < n; ++k) group[k] = mix64(k + word(me));
  parcels.add((me + 1) % size, group);
  const auto received = route(world(), parcels);
  ASSERT_EQ(received.peers, std::vector<Rank>{(me + size - 1) % size});
  ASSERT_EQ(received.items.size(), n);
  std::size_t n_wrong = 0;
  for (std::size_t k = 0; k < n; ++k)
    if (received.items[k] != mix64(k + word((me + size - 1) % size))) ++n_wrong;
  EXPECT_EQ(n_wrong, 0U);
}

TEST(RouterLoad, CallsFollowOneAnotherWithoutMixing) {
  for (std::uint64_t repeat = 100; repeat < 160; ++repeat) expect_delivered<Blob<12>>(Pattern::random, repeat);
}

TEST(PackByRank, GroupsByDestinationAndKeepsTheOrder) {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    const std::uint64_t n = number({50, repeat}) % 500;
    std::vector<Rank> to;
    std::vector<std::uint64_t> items;
    std::map<Rank, std::vector<std::uint64_t>> expected;
    for (std::uint64_t k = 0; k < n; ++k) {
      to.push_back(static_cast<Rank>(number({51, repeat, k}) % (1 + repeat)));
      items.push_back(k);
      expected[to.back()].push_back(k);
    }
    const auto parcels = pack_by_rank<std::uint64_t>(to, items);
    ASSERT_EQ(parcels.n_peers(), expected.size());
    ASSERT_EQ(parcels.offsets.size(), expected.size() + 1);
    std::size_t i = 0;
    for (const auto& [rank, group] : expected) {
      EXPECT_EQ(parcels.peers[i], rank);
      const auto packed = parcels.of(i++);
      EXPECT_EQ(std::vector<std::uint64_t>(packed.begin(), packed.end()), group);
    }
  }
}

}  // namespace
}  // namespace barrio::exchange
