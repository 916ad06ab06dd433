#include "barrio/exchange/tuple_list.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "barrio/exchange/byte_rows.hpp"
#include "barrio/exchange/router.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

using List = TupleList<Rank, std::int64_t, float, std::uint8_t, Blob<3>>;

List::Tuple random_row(std::uint64_t which, int n_ranks, std::uint64_t n_keys) {
  const std::uint64_t n = number({80, which});
  return {static_cast<Rank>(n % word(n_ranks)), static_cast<std::int64_t>(n >> 8U) % static_cast<std::int64_t>(n_keys),
          static_cast<float>(n % 13) - 6.0F, static_cast<std::uint8_t>(n >> 32U), filled<Blob<3>>(n)};
}

template <class TheList>
void push(TheList& list, const typename TheList::Tuple& row) {
  std::apply([&](const auto&... values) { list.push_back(values...); }, row);
}

template <class TheList>
std::vector<typename TheList::Tuple> rows_of(const TheList& list) {
  std::vector<typename TheList::Tuple> rows;
  for (std::size_t i = 0; i < list.size(); ++i) rows.push_back(list.tuple(i));
  return rows;
}

List random_list(std::uint64_t purpose, std::uint64_t n, std::uint64_t n_keys) {
  List list;
  for (std::uint64_t i = 0; i < n; ++i) push(list, random_row(number({81, purpose, i}), 5, n_keys));
  return list;
}

TEST(TupleList, HoldsRowsByColumn) {
  List list;
  EXPECT_TRUE(list.empty());
  list.reserve(2);
  const auto first = random_row(1, 4, 100);
  const auto second = random_row(2, 4, 100);
  push(list, first);
  push(list, second);
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.tuple(0), first);
  EXPECT_EQ(list.tuple(1), second);
  EXPECT_EQ(std::as_const(list).column<1>()[1], std::get<1>(second));
  list.column<1>()[1] = -5;
  EXPECT_EQ(std::get<1>(list.tuple(1)), -5);
  EXPECT_GE(list.memory_bytes(), 2 * (sizeof(Rank) + 8 + sizeof(float) + 1 + 3));
  list.resize(3);
  EXPECT_EQ(list.tuple(2), (List::Tuple{}));
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(TupleList, SortsByAnyColumnsAndKeepsTheOrderOfEqualKeys) {
  // Below and above the threshold of radix sort, with few keys and with many.
  for (const std::uint64_t n : {0U, 1U, 2U, 200U, 5000U}) {
    for (const std::uint64_t n_keys : {2U, 700U, 0xffffffffU}) {
      const List list = random_list(n_keys, n, n_keys);
      std::vector<List::Tuple> expected = rows_of(list);
      const auto expect_sorted = [&](const List& sorted, auto&& key, const char* what) {
        auto rows = expected;
        std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        EXPECT_EQ(rows_of(sorted), rows) << what << ", " << n << " rows";
      };
      List sorted = list;
      sorted.sort_by<1>();
      expect_sorted(sorted, [](const auto& row) { return std::get<1>(row); }, "by a signed integer");
      sorted = list;
      sorted.sort_by<0, 3>();
      expect_sorted(sorted, [](const auto& row) { return std::pair(std::get<0>(row), std::get<3>(row)); }, "by two");
      sorted = list;
      sorted.sort_by<2>();
      expect_sorted(sorted, [](const auto& row) { return std::get<2>(row); }, "by a float");
      sorted = list;
      sorted.sort_by<3, 2, 1>();
      expect_sorted(
          sorted, [](const auto& row) { return std::tuple(std::get<3>(row), std::get<2>(row), std::get<1>(row)); },
          "by three");
    }
  }
}

TEST(TupleList, SortsExtremeKeys) {
  TupleList<std::int64_t, GlobalId, std::uint64_t, double> list;
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  constexpr auto high = std::numeric_limits<std::int64_t>::max();
  constexpr std::size_t n = 1000;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t key = i % 4 == 0 ? low : i % 4 == 1 ? high : i % 4 == 2 ? -1 : 0;
    list.push_back(key, GlobalId{key}, key, i % 3 == 0 ? std::nan("") : -double(i % 5));
  }
  const auto expect_ascending = [&](auto&& column) { EXPECT_TRUE(std::ranges::is_sorted(column)); };
  list.sort_by<0>();
  expect_ascending(std::as_const(list).column<0>());
  list.sort_by<2>();
  expect_ascending(std::as_const(list).column<2>());
  list.sort_by<1>();
  expect_ascending(std::as_const(list).column<1>());
  list.sort_by<3>();
  const auto numbers = std::as_const(list).column<3>();
  const auto first_nan = std::ranges::find_if(numbers, [](double x) { return std::isnan(x); });
  EXPECT_TRUE(std::is_sorted(numbers.begin(), first_nan));
  EXPECT_TRUE(std::all_of(first_nan, numbers.end(), [](double x) { return std::isnan(x); }));
  EXPECT_EQ(numbers.end() - first_nan, 334);
}

TEST(TupleList, ErasesWhatAPredicateNames) {
  List list = random_list(7, 500, 50);
  auto expected = rows_of(list);
  std::erase_if(expected, [](const auto& row) { return std::get<1>(row) % 3 == 0; });
  list.erase_if([&](std::size_t row) { return list.column<1>()[row] % 3 == 0; });
  EXPECT_EQ(rows_of(list), expected);
  list.erase_if([](std::size_t) { return false; });
  EXPECT_EQ(rows_of(list), expected);
  list.erase_if([](std::size_t) { return true; });
  EXPECT_TRUE(list.empty());
}

/// Destinations of rows in a test case; known to all ranks.
enum class Traffic { nothing, own, everywhere, one_receiver, one_sender, one_silent };
constexpr std::array all_traffic{Traffic::nothing,      Traffic::own,        Traffic::everywhere,
                                 Traffic::one_receiver, Traffic::one_sender, Traffic::one_silent};

template <class TheList>
typename TheList::Tuple made_row(std::uint64_t purpose, Rank from, std::uint64_t i, Rank to) {
  typename TheList::Tuple row;
  std::apply(
      [&](auto&... values) {
        std::uint64_t column = 0;
        ((values = filled<std::remove_reference_t<decltype(values)>>(number({82, purpose, word(from), i, column++}))),
         ...);
      },
      row);
  std::get<Rank>(row) = to;
  return row;
}

/// Make the list of any rank before the transfer.
template <class TheList>
std::vector<typename TheList::Tuple> list_of(Traffic traffic, std::uint64_t purpose, Rank rank) {
  const auto chosen = static_cast<Rank>(number({83, purpose}) % word(world().size()));
  std::vector<typename TheList::Tuple> rows;
  if (traffic == Traffic::nothing || (traffic == Traffic::one_sender && rank != chosen) ||
      (traffic == Traffic::one_silent && rank == chosen))
    return rows;
  const std::uint64_t n = number({84, purpose, word(rank)}) % 300;
  for (std::uint64_t i = 0; i < n; ++i) {
    Rank to = static_cast<Rank>(number({85, purpose, word(rank), i}) % word(world().size()));
    if (traffic == Traffic::own) to = rank;
    if (traffic == Traffic::one_receiver) to = chosen;
    rows.push_back(made_row<TheList>(purpose, rank, i, to));
  }
  return rows;
}

template <std::size_t I, class TheList>
void expect_transferred(Route route) {
  for (const Traffic traffic : all_traffic) {
    const std::uint64_t purpose = number({86, word(static_cast<int>(traffic)), word(static_cast<int>(route))});
    const Rank me = world().rank();
    TheList list;
    for (const auto& row : list_of<TheList>(traffic, purpose, me)) push(list, row);
    transfer<I>(world(), list, {.route = route});
    std::vector<typename TheList::Tuple> expected;
    for (Rank from = 0; from < world().size(); ++from) {
      for (auto row : list_of<TheList>(traffic, purpose, from)) {
        if (std::get<I>(row) != me) continue;
        std::get<I>(row) = from;
        expected.push_back(row);
      }
    }
    EXPECT_EQ(rows_of(list), expected) << "traffic " << static_cast<int>(traffic);
  }
}

class Transfer : public testing::TestWithParam<Route> {};

TEST_P(Transfer, BringsEachRowToItsRankAndNamesTheSender) {
  expect_transferred<0, TupleList<Rank, std::int64_t, std::uint8_t, Blob<3>>>(GetParam());
  expect_transferred<2, TupleList<Blob<5>, std::uint64_t, Rank>>(GetParam());
}

/// Lists of more than a megabyte, packed column by column, in messages long enough to be received directly into the
/// columns. Rank 0 sends short messages. The list grows on one rank and shrinks on the others.
TEST_P(Transfer, BringsLongListsWhole) {
  const Rank me = world().rank();
  const auto n_ranks = word(world().size());
  using LongList = TupleList<std::uint8_t, Rank, std::int64_t, Blob<3>>;
  const auto row_of = [&](Rank from, std::uint64_t i) {
    const std::uint64_t draw = number({96, word(from), i});
    const auto to = draw % 3 == 0 ? Rank{0} : static_cast<Rank>(draw / 3 % n_ranks);
    return LongList::Tuple{static_cast<std::uint8_t>(draw), to, draw ^ i, filled<Blob<3>>(draw + 1)};
  };
  const auto n_of = [](Rank from) { return from == 0 ? std::uint64_t{1000} : std::uint64_t{120'000}; };
  LongList list;
  for (std::uint64_t i = 0; i < n_of(me); ++i) push(list, row_of(me, i));
  transfer<1>(world(), list, {.route = GetParam()});
  std::size_t at = 0;
  std::size_t n_wrong = 0;
  for (Rank from = 0; from < world().size(); ++from) {
    for (std::uint64_t i = 0; i < n_of(from); ++i) {
      auto row = row_of(from, i);
      if (std::get<1>(row) != me) continue;
      std::get<1>(row) = from;
      if (at >= list.size() || list.tuple(at) != row) n_wrong += 1;
      at += 1;
    }
  }
  EXPECT_EQ(n_wrong, 0U);
  EXPECT_EQ(list.size(), at);
}

TEST_P(Transfer, CountsRowsThatAreNothingButADestination) { expect_transferred<0, TupleList<Rank>>(GetParam()); }

TEST_P(Transfer, ThereAndBackIsTheSameList) {
  TupleList<Rank, std::int64_t> list;
  for (std::int64_t i = 0; i < 1000; ++i)
    list.push_back(
        static_cast<Rank>(number({87, word(world().rank()), static_cast<std::uint64_t>(i)}) % word(world().size())), i);
  auto travelled = list;
  transfer<0>(world(), travelled, {.route = GetParam()});
  transfer<0>(world(), travelled, {.route = GetParam()});
  list.sort_by<0>();
  EXPECT_TRUE(travelled == list);
}

TEST_P(Transfer, ARankThatDoesNotExistIsNamedOnAllRanks) {
  const auto fails = static_cast<Rank>(number({88}) % word(world().size()));
  for (const Rank wrong : {-1, world().size(), std::numeric_limits<Rank>::max()}) {
    TupleList<Rank, std::int64_t> list;
    for (std::int64_t i = 0; i < 20; ++i) list.push_back(world().rank(), i);
    if (world().rank() == fails) list.column<0>()[7] = wrong;
    const auto before = list;
    try {
      transfer<0>(world(), list, {.route = GetParam()});
      ADD_FAILURE() << "rank " << wrong << " was accepted";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(std::string(error.what()),
                fmt::format("row 7 of a tuple list: is for rank {}, but ranks are 0 to {}", wrong, world().size() - 1));
      EXPECT_EQ(error.first_rank(), fails);
    }
    EXPECT_TRUE(list == before);
  }
}

std::string name_of_route(const testing::TestParamInfo<Route>& info) {
  constexpr std::array names{"automatic", "crystal", "direct", "counted"};
  return names[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Routes, Transfer,
                         testing::Values(Route::automatic, Route::crystal, Route::direct, Route::counted),
                         name_of_route);

/// Columns of run-time types arrive like those of a tuple list.
TEST_P(Transfer, TakesBytesForColumns) {
  using Few = TupleList<Rank, std::int64_t, Blob<3>, Blob<48>>;
  for (const Traffic traffic : all_traffic) {
    Few list;
    for (const auto& row : list_of<Few>(traffic, 98, world().rank())) push(list, row);
    const Few before = list;
    transfer<0>(world(), list, {.route = GetParam()});
    const auto column = [](const auto& values) {
      return ByteColumn{reinterpret_cast<const std::byte*>(values.data()), sizeof values[0]};
    };
    const std::array columns{column(before.column<1>()), column(before.column<2>()), column(before.column<3>())};
    const ReceivedRows came =
        transfer_bytes(world(), before.column<0>(), columns, "int64, blobs", {.route = GetParam()});
    EXPECT_TRUE(std::ranges::equal(came.from, list.column<0>()));
    const auto expect_same = [&](std::size_t k, const auto& values) {
      EXPECT_TRUE(std::ranges::equal(came.columns[k], std::as_bytes(values))) << "column " << k;
    };
    expect_same(0, std::as_const(list).column<1>());
    expect_same(1, std::as_const(list).column<2>());
    expect_same(2, std::as_const(list).column<3>());
  }
}

TEST_P(Transfer, TellsAllOfAFaultOfTheCaller) {
  const Rank fails = world().size() - 1;
  Status fault;
  if (world().rank() == fails) fault = Error(ErrorCode::bad_input, {.subject = "row 3", .cause = "has no owner"});
  const std::vector<Rank> to(5, 0);
  const std::vector<std::int32_t> values(5, 7);
  const std::array columns{ByteColumn{reinterpret_cast<const std::byte*>(values.data()), sizeof(std::int32_t)}};
  try {
    (void)transfer_bytes(world(), to, columns, "int32", {.route = GetParam()}, fault);
    ADD_FAILURE() << "a fault was passed over";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_EQ(error.subject(), "row 3");
    EXPECT_EQ(error.first_rank(), fails);
  }
}

/// Destinations in large jobs: few rows, to ranks close together or far apart, and many rows.
TEST(TransferDestinations, CountTheSameWhereverTheRanksLie) {
  struct Case {
    int n_ranks;
    Rank low, high;
    std::uint64_t n_rows;
  };
  for (const Case& one :
       {Case{100, 0, 99, 1000}, Case{1'000'000, 499'000, 499'100, 500}, Case{1'000'000, 0, 999'999, 500},
        Case{1'000'000, 7, 7, 3}, Case{20'000, 0, 19'999, 30'000}, Case{1'000'000, 0, 999'999, 0}}) {
    std::vector<Rank> to;
    std::map<Rank, std::size_t> expected;
    for (std::uint64_t i = 0; i < one.n_rows; ++i) {
      to.push_back(one.low + static_cast<Rank>(number({97, i}) % word(one.high - one.low + 1)));
      expected[to.back()] += 24;
    }
    const detail::Destinations destinations(to, one.n_ranks, 24);
    EXPECT_FALSE(destinations.fault());
    std::map<Rank, std::size_t> counted;
    for (const detail::BytesTo& entry : destinations.entries()) counted[entry.to] = entry.n_bytes;
    EXPECT_EQ(counted, expected);
    EXPECT_TRUE(std::ranges::is_sorted(destinations.entries(), {}, &detail::BytesTo::to));
    std::set<std::size_t> slots;
    destinations.with_slots([&](auto&& slot_of) {
      for (const auto& [rank, n_bytes] : expected) slots.insert(slot_of(rank));
    });
    EXPECT_EQ(slots.size(), expected.size()) << "one slot a rank";
    if (!slots.empty()) {
      EXPECT_LT(*slots.rbegin(), destinations.n_slots());
    }
    if (to.empty()) continue;
    for (const Rank wrong : {-1, one.n_ranks, std::numeric_limits<Rank>::min(), std::numeric_limits<Rank>::max()}) {
      to.back() = wrong;
      const detail::Destinations refused(to, one.n_ranks, 24);
      ASSERT_TRUE(refused.fault());
      EXPECT_TRUE(refused.entries().empty());
      EXPECT_EQ(std::string(refused.fault()->what()),
                fmt::format("row {} of a tuple list: is for rank {}, but ranks are 0 to {}", one.n_rows - 1, wrong,
                            one.n_ranks - 1));
    }
  }
}

/// Count this rank's messages in one transfer to all ranks, with a column of the given size.
template <std::size_t n_bytes>
std::uint64_t n_messages(Route route) {
  TupleList<Rank, Blob<n_bytes>> list;
  for (Rank to = 0; to < world().size(); ++to) list.push_back(to, filled<Blob<n_bytes>>(word(to)));
  const std::uint64_t before = world().counters().messages_sent;
  transfer<0>(world(), list, {.route = route});
  EXPECT_EQ(list.size(), static_cast<std::size_t>(world().size()));
  return world().counters().messages_sent - before;
}

TEST(TransferRoutes, CostTheMessagesTheySay) {
  const auto n_others = word(world().size() - 1);
  const auto n_stages = word(std::bit_width(static_cast<unsigned>(world().size() - 1)));
  EXPECT_LE(n_messages<8>(Route::crystal), n_stages);
  EXPECT_EQ(n_messages<8>(Route::direct), n_others);
  EXPECT_EQ(n_messages<8>(Route::counted), n_others);
  EXPECT_EQ(n_messages<8>(Route::automatic), n_others) << "counted on few ranks";
}

/// Count the collective calls of one automatic transfer to all ranks.
template <std::size_t n_bytes>
std::uint64_t n_collectives() {
  const std::uint64_t before = world().counters().collectives;
  (void)n_messages<n_bytes>(Route::automatic);
  return world().counters().collectives - before;
}

TEST(TransferRoutes, AutomaticCostsOneCollectiveOnFewRanks) {
  EXPECT_EQ(n_collectives<8>(), 1U);
  EXPECT_EQ(n_collectives<200'000>(), 1U);
}

/// Return the automatic choice of `route`, as in transfers on many ranks.
template <std::size_t n_bytes>
std::uint64_t n_collectives_of_route() {
  std::vector<Rank> to;
  for (Rank rank = 0; rank < world().size(); ++rank) to.push_back(rank);
  const std::vector<Blob<n_bytes>> items(to.size());
  const std::uint64_t before = world().counters().collectives;
  EXPECT_EQ(route(world(), pack_by_rank(to, items), Route::automatic).n_peers(), to.size());
  return world().counters().collectives - before;
}

TEST(TransferRoutes, ChoosingCostsOneReductionAndLargeItemsGoDirectly) {
  if (world().size() < 3) GTEST_SKIP() << "two ranks have nothing to choose";
  EXPECT_EQ(n_collectives_of_route<8>(), 1U);
  EXPECT_EQ(n_collectives_of_route<200'000>(), 2U) << "the reduction and a consensus";
}

TEST(TransferRoutes, EmptyGroupsArrive) {
  for (const Route by : {Route::crystal, Route::direct, Route::counted}) {
    Parcels<int> parcels;
    for (Rank rank = 0; rank < world().size(); ++rank) parcels.add(rank, {});
    const Parcels<int> heard = route(world(), parcels, by);
    EXPECT_EQ(heard.peers, parcels.peers);
    EXPECT_TRUE(heard.items.empty());
  }
}

}  // namespace
}  // namespace barrio::exchange
