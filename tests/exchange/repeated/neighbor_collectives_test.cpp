#include "barrio/exchange/neighbor_collectives.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

struct Item {
  std::int64_t id;
  std::int32_t of;
  std::int32_t kind;
  bool operator==(const Item&) const = default;
};

/// Compute the item that a rank sends in a call, to all or to one rank. The same on every rank.
Item said(std::uint64_t call, Rank from, Rank to = -1, std::uint64_t k = 0) {
  return {static_cast<std::int64_t>(number({call, word(from), word(to), k})), from, to};
}
std::vector<Item> list_said(std::uint64_t call, Rank from, Rank to = -1) {
  const std::uint64_t n = number({call, 77, word(from), word(to)});
  // Some lists are empty, some larger than a packet.
  std::vector<Item> list(n % 4 == 0 ? 0 : n % 4 == 1 ? 300 + (n >> 2U) % 50 : (n >> 2U) % 9);
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = said(call, from, to, k);
  return list;
}
bool is_root(std::uint64_t call, Rank rank) { return number({call, 78, word(rank)}) % 3 != 0; }

class NeighborCollectives : public testing::TestWithParam<Graph> {
 protected:
  const Rank me = world().rank();
  Neighborhood hood{world(), neighbours_of(GetParam(), me, world().size()), {.packet_bytes = 1024, .ring_depth = 2}};
  const std::vector<Rank> neighbours{hood.neighbours().begin(), hood.neighbours().end()};
  std::vector<Rank> roots_of(std::uint64_t call) const {
    std::vector<Rank> roots;  // this rank and its neighbours, descending
    for (Rank rank = world().size() - 1; rank >= 0; --rank)
      if (is_root(call, rank) && (rank == me || std::ranges::binary_search(neighbours, rank))) roots.push_back(rank);
    return roots;
  }
  std::vector<Rank> root_neighbours(std::uint64_t call) const {
    std::vector<Rank> roots;
    for (const Rank rank : neighbours)
      if (is_root(call, rank)) roots.push_back(rank);
    return roots;
  }
};

void expect_lists(const Parcels<Item>& got, const std::vector<Rank>& from,
                  const std::function<std::vector<Item>(Rank)>& said) {
  ASSERT_EQ(got.peers, from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto list = got.of(i);
    EXPECT_EQ(std::vector<Item>(list.begin(), list.end()), said(from[i])) << "from rank " << from[i];
  }
}

TEST_P(NeighborCollectives, BroadcastReachesAllNeighboursOfItsRoots) {
  for (const std::uint64_t call : {100U, 101U, 102U}) {
    const auto got = neighbor_broadcast(hood, is_root(call, me) ? std::optional(said(call, me)) : std::nullopt);
    const auto roots = root_neighbours(call);
    ASSERT_EQ(got.size(), roots.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      EXPECT_EQ(got[i].from, roots[i]);
      EXPECT_EQ(got[i].message, said(call, roots[i]));
    }
    const auto mine = list_said(call, me);
    const auto lists =
        is_root(call, me) ? neighbor_broadcastv<Item>(hood, mine) : neighbor_broadcastv<Item>(hood, std::nullopt);
    expect_lists(lists, roots, [&](Rank from) { return list_said(call, from); });
  }
}

TEST_P(NeighborCollectives, ScatterGivesEachNeighbourItsOwn) {
  for (const std::uint64_t call : {110U, 111U, 112U}) {
    std::vector<Item> mine;
    for (const Rank to : neighbours) mine.push_back(said(call, me, to));
    const auto got =
        is_root(call, me) ? neighbor_scatter<Item>(hood, mine) : neighbor_scatter<Item>(hood, std::nullopt);
    const auto roots = root_neighbours(call);
    ASSERT_EQ(got.size(), roots.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      EXPECT_EQ(got[i].from, roots[i]);
      EXPECT_EQ(got[i].message, said(call, roots[i], me));
    }
  }
}

TEST_P(NeighborCollectives, GatherBringsAllNeighboursToTheRoots) {
  for (const std::uint64_t call : {120U, 121U, 122U}) {
    const auto got = neighbor_gather(hood, roots_of(call), said(call, me));
    std::vector<Item> expected;
    if (is_root(call, me))
      for (const Rank from : neighbours) expected.push_back(said(call, from));
    EXPECT_EQ(got, expected);
  }
  // One root for all ranks, although it is not a neighbour of some.
  const Rank root = world().size() / 2;
  const auto got = neighbor_gather(hood, std::array{root}, me);
  EXPECT_EQ(got, me == root ? neighbours : std::vector<Rank>());
}

TEST_P(NeighborCollectives, AllgatherIsInOrderOfNeighbours) {
  std::vector<Item> expected;
  for (const Rank from : neighbours) expected.push_back(said(130, from));
  EXPECT_EQ(neighbor_allgather(hood, said(130, me)), expected);
  EXPECT_EQ(neighbor_allgather(hood, me), neighbours);
  EXPECT_EQ(neighbor_allgather(hood, true), std::vector<bool>(neighbours.size(), true));
  const auto mine = list_said(131, me);
  expect_lists(neighbor_allgatherv<Item>(hood, mine), neighbours, [](Rank from) { return list_said(131, from); });
}

TEST_P(NeighborCollectives, AlltoallSharesOutAlike) {
  for (const std::uint64_t n : {0U, 1U, 7U, 200U}) {
    std::vector<Item> mine;
    std::vector<Item> expected;
    for (const Rank other : neighbours)
      for (std::uint64_t k = 0; k < n; ++k) {
        mine.push_back(said(140, me, other, k));
        expected.push_back(said(140, other, me, k));
      }
    EXPECT_EQ(neighbor_alltoall<Item>(hood, mine), expected);
  }
}

TEST_P(NeighborCollectives, AlltoallvTakesListsOfAnyLengthForAnyNeighbours) {
  for (const std::uint64_t call : {150U, 151U, 152U}) {
    const auto sends = [&](Rank from, Rank to) {
      return call == 150U || number({call, word(from), word(to)}) % 3 != 0;
    };
    Parcels<Item> mine;
    std::vector<Rank> senders;
    for (const Rank other : neighbours) {
      if (sends(me, other)) mine.add(other, list_said(call, me, other));
      if (sends(other, me)) senders.push_back(other);
    }
    expect_lists(neighbor_alltoallv(hood, mine), senders, [&](Rank from) { return list_said(call, from, me); });
  }
}

TEST_P(NeighborCollectives, AlltoallwPacksInPlace) {
  // A column of a matrix to even ranks, a text to odd ones.
  constexpr std::size_t n_rows = 5;
  constexpr std::size_t n_columns = 3;
  std::array<double, n_rows * n_columns> matrix{};
  for (std::size_t k = 0; k < matrix.size(); ++k) matrix[k] = static_cast<double>(100 * me) + static_cast<double>(k);
  const auto text = [](Rank from, Rank to) { return std::string(word(from) * 40 + 1, static_cast<char>('a' + to)); };
  const auto is_column = [](Rank rank) { return rank % 2 == 0; };
  std::vector<double> columns(neighbours.size() * n_rows);
  std::vector<std::string> texts(neighbours.size());
  neighbor_alltoallw(
      hood,
      [&](std::size_t i) {
        return is_column(neighbours[i]) ? n_rows * sizeof(double) : text(me, neighbours[i]).size();
      },
      [&](std::size_t i, std::span<std::byte> to) {
        if (!is_column(neighbours[i])) {
          std::memcpy(to.data(), text(me, neighbours[i]).data(), to.size());
          return;
        }
        for (std::size_t row = 0; row < n_rows; ++row)
          std::memcpy(&to[row * sizeof(double)], &matrix[row * n_columns + 1], sizeof(double));
      },
      [&](std::size_t i, std::span<const std::byte> from) {
        if (!is_column(me)) {
          texts[i].assign(reinterpret_cast<const char*>(from.data()), from.size());
          return;
        }
        ASSERT_EQ(from.size(), n_rows * sizeof(double));
        std::memcpy(&columns[i * n_rows], from.data(), from.size());
      });
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (!is_column(me)) {
      EXPECT_EQ(texts[i], text(neighbours[i], me));
      continue;
    }
    for (std::size_t row = 0; row < n_rows; ++row)
      EXPECT_EQ(columns[i * n_rows + row],
                static_cast<double>(100 * neighbours[i]) + static_cast<double>(row * n_columns + 1));
  }
}

std::vector<Rank> closed(std::vector<Rank> neighbours, Rank me) {
  neighbours.insert(std::ranges::lower_bound(neighbours, me), me);
  return neighbours;
}

TEST_P(NeighborCollectives, ReductionsFoldInAscendingOrderOfRanks) {
  // Neither associative nor commutative, so it detects any other order.
  const auto chain = [](std::uint64_t a, std::uint64_t b) { return mix64(a) + 3 * b; };
  const auto value = [](Rank rank, std::uint64_t k) { return number({160, word(rank), k}); };
  const auto expected = [&](std::uint64_t k) {
    const auto ranks = closed(neighbours, me);
    std::uint64_t total = value(ranks[0], k);
    for (std::size_t i = 1; i < ranks.size(); ++i) total = chain(total, value(ranks[i], k));
    return total;
  };
  EXPECT_EQ(neighbor_allreduce(hood, value(me, 0), chain), expected(0));
  for (const std::uint64_t n : {0U, 1U, 500U}) {
    std::vector<std::uint64_t> values;
    for (std::uint64_t k = 0; k < n; ++k) values.push_back(value(me, k));
    neighbor_allreduce(hood, std::span(values), chain);
    for (std::uint64_t k = 0; k < n; ++k) EXPECT_EQ(values[k], expected(k));
  }
  const auto total = neighbor_reduce(hood, roots_of(161), value(me, 0), chain);
  EXPECT_EQ(total, is_root(161, me) ? std::optional(expected(0)) : std::nullopt);
  EXPECT_EQ(neighbor_allreduce(hood, 1, std::plus<>()), static_cast<int>(neighbours.size()) + 1);
}

TEST_P(NeighborCollectives, AreOneRoundWithoutCollectives) {
  const std::uint64_t degree = neighbours.size();
  const auto expect_one_round = [&](auto&& call) {
    const mpi::Counters before = world().counters();
    const CallsSince calls;
    const std::uint64_t epoch = hood.epoch();
    call();
    EXPECT_EQ(hood.epoch(), epoch + 1);
    EXPECT_EQ(world().counters().messages_sent - before.messages_sent, degree);
    EXPECT_EQ(world().counters().messages_received - before.messages_received, degree);
    EXPECT_EQ(world().counters().collectives, before.collectives);
#ifndef BARRIO_MPI_SMPI
    EXPECT_EQ(calls.sends(), degree);
    EXPECT_EQ(calls.collectives(), 0U);
#endif
  };
  const std::vector<int> one_each(degree, 5);
  expect_one_round([&] { EXPECT_EQ(neighbor_broadcast(hood, std::optional(4)).size(), degree); });
  expect_one_round([&] { EXPECT_EQ(neighbor_scatter<int>(hood, one_each).size(), degree); });
  expect_one_round([&] { EXPECT_EQ(neighbor_allgatherv<int>(hood, std::array{1, 2, 3}).items.size(), 3 * degree); });
  expect_one_round([&] { EXPECT_EQ(neighbor_alltoall<int>(hood, one_each), one_each); });
  expect_one_round([&] { EXPECT_EQ(neighbor_allreduce(hood, 0, std::plus<>()), 0); });
  expect_one_round([&] { EXPECT_EQ(neighbor_gather(hood, closed(neighbours, me), 5), one_each); });
}

TEST_P(NeighborCollectives, WrongNumbersAreRefusedBeforeTheRound) {
  const auto expect_refused = [&](auto&& call, const std::string& text) {
    const std::uint64_t epoch = hood.epoch();
    try {
      call();
      ADD_FAILURE() << "should refuse: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(std::string(error.what()), text);
    }
    EXPECT_EQ(hood.epoch(), epoch);
  };
  const std::size_t degree = neighbours.size();
  const std::vector<int> one_more(degree + 1);
  expect_refused([&] { static_cast<void>(neighbor_scatter<int>(hood, one_more)); },
                 "neighbor_scatter: " + std::to_string(degree + 1) + " values for " + std::to_string(degree) +
                     " neighbours (give one for each, in the order of neighbours())");
  if (degree != 1)
    expect_refused(
        [&] { static_cast<void>(neighbor_alltoall<int>(hood, one_more)); },
        "neighbor_alltoall: " + std::to_string(degree + 1) + " values cannot be divided evenly among " +
            std::to_string(degree) +
            " neighbours (give the same number for each; neighbor_alltoallv takes lists of different lengths)");
  Parcels<int> to_myself;
  to_myself.add(me, one_more);
  expect_refused([&] { static_cast<void>(neighbor_alltoallv(hood, to_myself)); },
                 "neighbor_alltoallv: rank " + std::to_string(me) + " is not a neighbour of rank " +
                     std::to_string(me) + " (to reach other ranks use a round whose Termination allows it)");
  if (degree == 0) return;
  Parcels<int> twice;
  twice.add(neighbours[0], one_more);
  twice.add(neighbours[0], one_more);
  const std::string first = std::to_string(neighbours[0]);
  expect_refused(
      [&] { static_cast<void>(neighbor_alltoallv(hood, twice)); },
      "neighbor_alltoallv: rank " + first + " comes after rank " + first + " (list peers ascending, each once)");
}

TEST_P(NeighborCollectives, AnotherNumberThanExpectedNamesTheLowestSender) {
  // Even ranks pass two values each, odd ones three; a rank with a neighbour of the other kind notices.
  const auto n_given = [](Rank rank) { return rank % 2 == 0 ? 2 : 3; };
  const auto other = std::ranges::find_if(neighbours, [&](Rank rank) { return n_given(rank) != n_given(me); });
  const std::vector<int> values(neighbours.size() * static_cast<std::size_t>(n_given(me)), me);
  try {
    EXPECT_EQ(neighbor_alltoall<int>(hood, values).size(), values.size());
    EXPECT_EQ(other, neighbours.end());
  } catch (const Error& error) {
    ASSERT_NE(other, neighbours.end());
    EXPECT_EQ(std::string(error.what()),
              "neighbor_alltoall: rank " + std::to_string(*other) + " sent " + std::to_string(n_given(*other)) +
                  " values instead of " + std::to_string(n_given(me)) +
                  " (neighbours must make the same calls in the same order, with the same number of values)");
  }
  EXPECT_EQ(neighbor_allgather(hood, me), neighbours);  // the next call works
}

TEST_P(NeighborCollectives, ARootThatNobodyNamedSaysSo) {
  if (neighbours.empty()) GTEST_SKIP() << "a root without neighbours misses nobody";
  try {
    static_cast<void>(neighbor_gather(hood, std::array{me}, me));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "neighbor_gather: rank " + std::to_string(neighbours[0]) +
                  " sent 0 values instead of 1 (neighbours must make the same calls in the same order, with the same "
                  "number of values)");
  }
}

#ifndef BARRIO_MPI_SMPI  // it has no neighbourhood collectives

/// The same neighbours for MPI's own calls.
class NeighborCollectivesOfMpi : public NeighborCollectives {
 protected:
  NeighborCollectivesOfMpi() {
    const int n = static_cast<int>(neighbours.size());
    MPI_Dist_graph_create_adjacent(world().comm(), n, neighbours.data(), MPI_UNWEIGHTED, n, neighbours.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  }
  ~NeighborCollectivesOfMpi() override { MPI_Comm_free(&graph); }
  MPI_Comm graph = MPI_COMM_NULL;
};

TEST_P(NeighborCollectivesOfMpi, AllgatherAndAlltoallAreTheSame) {
  const auto mine = static_cast<std::int64_t>(number({170, word(me)}));
  std::vector<std::int64_t> expected(neighbours.size());
  MPI_Neighbor_allgather(&mine, 1, MPI_INT64_T, expected.data(), 1, MPI_INT64_T, graph);
  EXPECT_EQ(neighbor_allgather(hood, mine), expected);

  std::vector<std::int64_t> values(3 * neighbours.size());
  fill(std::as_writable_bytes(std::span(values)), number({171, word(me)}));
  std::vector<std::int64_t> exchanged(values.size());
  MPI_Neighbor_alltoall(values.data(), 3, MPI_INT64_T, exchanged.data(), 3, MPI_INT64_T, graph);
  EXPECT_EQ(neighbor_alltoall<std::int64_t>(hood, values), exchanged);
}

TEST_P(NeighborCollectivesOfMpi, AlltoallvIsTheSame) {
  const auto length = [](Rank from, Rank to) { return static_cast<int>(number({172, word(from), word(to)}) % 700); };
  Parcels<std::int32_t> mine;
  std::vector<int> n_sent;
  std::vector<int> sent_at;
  std::vector<int> n_received;
  std::vector<int> received_at;
  int n_all = 0;
  for (const Rank other : neighbours) {
    std::vector<std::int32_t> list(static_cast<std::size_t>(length(me, other)));
    fill(std::as_writable_bytes(std::span(list)), number({173, word(me), word(other)}));
    sent_at.push_back(static_cast<int>(mine.items.size()));
    n_sent.push_back(length(me, other));
    mine.add(other, list);
    received_at.push_back(n_all);
    n_received.push_back(length(other, me));
    n_all += n_received.back();
  }
  std::vector<std::int32_t> expected(n_all);
  MPI_Neighbor_alltoallv(mine.items.data(), n_sent.data(), sent_at.data(), MPI_INT32_T, expected.data(),
                         n_received.data(), received_at.data(), MPI_INT32_T, graph);
  const auto got = neighbor_alltoallv(hood, mine);
  EXPECT_EQ(got.peers, neighbours);
  EXPECT_EQ(got.items, expected);
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    EXPECT_EQ(got.offsets[i], static_cast<std::size_t>(received_at[i]));
}

INSTANTIATE_TEST_SUITE_P(Graphs, NeighborCollectivesOfMpi, testing::ValuesIn(all_graphs));
#endif

INSTANTIATE_TEST_SUITE_P(Graphs, NeighborCollectives, testing::ValuesIn(all_graphs));

}  // namespace
}  // namespace barrio::exchange
