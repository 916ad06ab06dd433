// Ranks make different calls: every rank that notices reports it, none reads wrong values, and the next call works.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/exchange/gather_scatter.hpp"
#include "barrio/exchange/neighbor_collectives.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/exchange/tuple_list.hpp"
#include "barrio/mpi/agree.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

using Call = std::function<void(Neighborhood&)>;

template <class T>
void send_to_all(Neighborhood& hood) {
  auto round = hood.begin_round<T>();
  for (const Rank to : hood.neighbours()) round.allocate(to) = T{};
  round.close();
  for (const auto& [from, message] : round.received()) EXPECT_EQ(message, T{}) << from;
}

template <class T>
void send_two_runs_to_all(Neighborhood& hood) {
  auto round = hood.begin_round<T>();
  for (const Rank to : hood.neighbours()) std::ranges::fill(round.allocate(to, 2), T{});
  round.close();
  for (const auto& run : round.received_runs()) EXPECT_EQ(run.messages.size(), 2U);
}

void send_bytes_to_all(Neighborhood& hood) {
  auto round = hood.begin_byte_round();
  for (const Rank to : hood.neighbours()) fill(round.allocate(to, 8), 0);
  round.close();
  for (const auto& [from, message] : round.received()) EXPECT_EQ(message.size(), 8U) << from;
}

struct Pair {
  const char* name;
  Call even;
  Call odd;
  const char* says_even;  // in the message of an odd rank, about an even one
  const char* says_odd;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all{
      {"int32 and int64", send_to_all<std::int32_t>, send_to_all<std::int64_t>, "a round of int32", "a round of int64"},
      {"int64 and double", send_two_runs_to_all<std::int64_t>, send_two_runs_to_all<double>, "a round of int64",
       "a round of float64"},
      {"two structs of one size", send_to_all<Blob<12>>, send_to_all<std::array<float, 3>>, "a type of 12 bytes",
       "a type of 12 bytes"},
      {"bytes and int64", send_bytes_to_all, send_to_all<std::int64_t>, "a byte round", "a round of int64"},
      {"allgather and allreduce", [](Neighborhood& hood) { (void)neighbor_allgather(hood, 1.5); },
       [](Neighborhood& hood) { (void)neighbor_allreduce(hood, 1.5, Sum{}); }, "neighbor_allgather of float64",
       "neighbor_allreduce of float64"},
      {"alltoallv of other types",
       [](Neighborhood& hood) { (void)neighbor_allgatherv<float>(hood, std::vector<float>{1, 2}); },
       [](Neighborhood& hood) { (void)neighbor_allgatherv<std::int64_t>(hood, std::vector<std::int64_t>{1}); },
       "neighbor_allgatherv of float32", "neighbor_allgatherv of int64"},
      {"nothing is written", [](Neighborhood& hood) { (void)neighbor_broadcast<int>(hood, std::nullopt); },
       [](Neighborhood& hood) { (void)neighbor_scatter<int>(hood, std::nullopt); }, "neighbor_broadcast of int32",
       "neighbor_scatter of int32"},
  };
  return all;
}

void expect_all_hear(Neighborhood& hood, const Pair& pair, bool all_packets_come) {
  const bool is_odd = world().rank() % 2 == 1;
  const std::string text = error_of([&] { (is_odd ? pair.odd : pair.even)(hood); });
  const bool has_other = std::ranges::any_of(hood.neighbours(), [&](Rank rank) { return (rank % 2 == 1) != is_odd; });
  if (all_packets_come) {
    EXPECT_EQ(text == "no error", !has_other) << pair.name << ": " << text;
  }
  if (text != "no error") {
    EXPECT_NE(text.find(is_odd ? pair.says_even : pair.says_odd), std::string::npos) << pair.name << ": " << text;
    EXPECT_NE(text.find("same type"), std::string::npos) << text;
  }
  EXPECT_EQ(neighbor_allgather(hood, world().rank()),
            std::vector<Rank>(hood.neighbours().begin(), hood.neighbours().end()));
}

class MixedRounds : public testing::TestWithParam<Termination> {};

TEST_P(MixedRounds, AreRefusedByNameAndTheNextOneIsSound) {
  for (const Graph graph : {Graph::ring, Graph::all, Graph::random})
    for (const Delivery delivery : {Delivery::arrival, Delivery::by_rank}) {
      Neighborhood hood(world(), neighbours_of(graph, world().rank(), world().size()),
                        {.termination = GetParam(), .delivery = delivery});
      for (const Pair& pair : pairs()) expect_all_hear(hood, pair, true);
    }
}

INSTANTIATE_TEST_SUITE_P(Terminations, MixedRounds,
                         testing::Values(Termination::neighbourhood, Termination::introductions,
                                         Termination::consensus));

TEST(MixedRounds, AreRefusedByNodeToo) {
  for (const int n_nodes : {1, 2, 3}) {
    Neighborhood hood(world(), neighbours_of(Graph::all, world().rank(), world().size()),
                      {.routing = Routing::by_node, .node = world().rank() % n_nodes});
    for (const Pair& pair : pairs()) expect_all_hear(hood, pair, false);  // a silent rank sends no envelope
  }
}

TEST(MixedRounds, ToStrangersAreRefused) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no others";
  Neighborhood hood(world(), {}, {.termination = Termination::consensus, .keeps_discovered = false});
  const Rank me = world().rank();
  const std::string text = error_of([&] {
    const auto talk = [&]<class T>(T) {
      auto round = hood.begin_round<T>();
      if (me < 2) round.allocate(1 - me) = T{};
      round.close();
      for (const auto& [from, message] : round.received()) EXPECT_EQ(message, T{}) << from;
    };
    me == 0 ? talk(1.5) : talk(7L);
  });
  if (me < 2) {
    EXPECT_NE(text.find(me == 0 ? "a round of int64" : "a round of float64"), std::string::npos) << text;
  } else {
    EXPECT_EQ(text, "no error");
  }
}

class MixedGathers : public testing::TestWithParam<GatherMethod> {};

TEST_P(MixedGathers, AreRefusedAndValuesStay) {
  const Rank me = world().rank();
  // All ranks share id 7; each other id is shared with one rank.
  std::vector<GlobalId> ids{GlobalId{7}, GlobalId{100 + me}, GlobalId{100 + (me + 1) % world().size()}};
  GatherScatter gather(world(), ids, {.method = GetParam()});
  const auto expect_sound = [&] {
    std::vector<double> ones(ids.size(), 1.0);
    gather.apply(std::span(ones), 1, Sum{});
    EXPECT_EQ(ones[0], world().size());
    EXPECT_EQ(ones[1], 2.0);
  };
  std::vector<double> numbers(2 * ids.size(), 1.5);
  std::vector<std::int64_t> counts(2 * ids.size(), 3);
  const bool is_odd = me % 2 == 1;
  expect_sound();
  // Another type of the same size; then the same type, but two of each.
  const std::string types = error_of([&] {
    is_odd ? gather.apply(std::span(counts).first(ids.size()), 1, Sum{})
           : gather.apply(std::span(numbers).first(ids.size()), 1, Sum{});
  });
  if (world().size() == 1) {
    EXPECT_EQ(types, "no error");
    return;
  }
  // If one rank combines, the others may notice only by the results.
  EXPECT_NE(types.find(is_odd ? "a gather-scatter of float64" : "a gather-scatter of int64"), std::string::npos)
      << types;
  EXPECT_EQ(counts, std::vector<std::int64_t>(counts.size(), 3));
  EXPECT_EQ(numbers, std::vector<double>(numbers.size(), 1.5));
  expect_sound();
  // If a message is longer than its receive, MPICH ends the job, and the simulator silently truncates it.
  if (std::string_view(BARRIO_MPI_FLAVOUR) != "openmpi") return;
  const std::string widths = error_of([&] {
    const int n = is_odd ? 2 : 1;
    gather.apply(std::span(numbers).first(static_cast<std::size_t>(n) * ids.size()), n, Sum{});
  });
  EXPECT_NE(widths.find("the same number of components on all ranks"), std::string::npos) << widths;
  EXPECT_EQ(numbers, std::vector<double>(numbers.size(), 1.5));
  expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Methods, MixedGathers,
                         testing::Values(GatherMethod::pairwise, GatherMethod::owner, GatherMethod::crystal));

TEST(MixedLists, OfOtherColumnsAreRefusedOnAllRanks) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no others";
  for (const Route route : {Route::automatic, Route::crystal, Route::direct}) {
    const auto transfer_one = [&]<class... Columns>(TupleList<Rank, Columns...> list) {
      list.push_back(0, Columns{}...);
      transfer<0>(world(), list, {.route = route});
    };
    const std::string text = error_of([&] {
      world().rank() == 1 ? transfer_one(TupleList<Rank, double, int>()) : transfer_one(TupleList<Rank, double>());
    });
    EXPECT_NE(text.find("call with the same type on all ranks"), std::string::npos) << text;
    // Another type of the same size.
    const std::string types = error_of([&] {
      world().rank() == 1 ? transfer_one(TupleList<Rank, double>()) : transfer_one(TupleList<Rank, std::int64_t>());
    });
    EXPECT_NE(types.find("call with the same type on all ranks"), std::string::npos) << types;
    TupleList<Rank, double> sound;
    sound.push_back(0, 1.0);
    transfer<0>(world(), sound, {.route = route});
    EXPECT_EQ(sound.size(), world().rank() == 0 ? static_cast<std::size_t>(world().size()) : 0U);
  }
}

TEST(MixedLists, RoutedParcelsOfOtherTypesAreRefusedByTheirReceivers) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no others";
  for (const Route way : {Route::crystal, Route::direct}) {
    const auto send_to_zero = [&]<class T>(T value) {
      Parcels<T> parcels;
      parcels.add(0, std::span<const T>(&value, 1));
      return route(world(), parcels, way).items.size();
    };
    const std::string text = error_of([&] { world().rank() == 1 ? send_to_zero(1.5) : send_to_zero(std::int64_t{7}); });
    if (world().rank() == 0) {
      EXPECT_NE(text.find("message from rank 1: does not hold items of int64"), std::string::npos) << text;
    } else {
      EXPECT_EQ(text, "no error");
    }
    EXPECT_EQ(send_to_zero(1.5), world().rank() == 0 ? static_cast<std::size_t>(world().size()) : 0U);
  }
}

// Rounds without large messages free the buffers of earlier ones; rounds with large messages keep them.
TEST(LargeMessages, PinNoMemory) {
  constexpr std::size_t large = std::size_t{8} << 20U;
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  if (hood.neighbours().empty()) GTEST_SKIP() << "one rank has no others";
  const auto talk = [&](std::size_t n_bytes) {
    auto round = hood.begin_byte_round();
    for (const Rank to : hood.neighbours()) std::ranges::fill(round.allocate(to, n_bytes), std::byte{1});
    round.close();
    for (const auto& [from, message] : round.received()) EXPECT_EQ(message.size(), n_bytes) << from;
  };
  for (int i = 0; i < 4; ++i) talk(8);
  const std::uint64_t before = hood.memory_bytes();
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 0; i < 3; ++i) talk(large);
    EXPECT_GT(hood.memory_bytes(), large);
    for (int i = 0; i < 12; ++i) talk(8);
    EXPECT_LT(hood.memory_bytes(), before + hood.neighbours().size() * (std::size_t{1} << 20U));
  }
}

TEST(LargeMessages, AreRefusedWhereOneCannotBe) {
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  std::vector<Rank> all(hood.neighbours().begin(), hood.neighbours().end());
  all.push_back(world().rank());
  auto bytes = hood.begin_byte_round();
  for (const Rank to : all)
    for (const long n : {-1L, -7L, -8L, -9L, -17L, 1L << 34U})
      EXPECT_NE(error_of([&] { (void)bytes.allocate(to, static_cast<std::size_t>(n)); }).find("send it in pieces"),
                std::string::npos)
          << n;
  for (const Rank to : all) fill(bytes.allocate(to, 3), 1);
  bytes.close();
  std::size_t n_received = 0;
  for (const auto& [from, message] : bytes.received()) n_received += message.size();
  EXPECT_EQ(n_received, 3 * all.size());

  auto round = hood.begin_round<Blob<24>>();
  for (const Rank to : all)
    for (const std::size_t n : {SIZE_MAX, SIZE_MAX / 24 + 1, std::size_t{1} << 30U})
      EXPECT_NE(error_of([&] { (void)round.allocate(to, n); }).find("send it in pieces"), std::string::npos) << n;
  for (std::size_t i = 0; i < hood.neighbours().size(); ++i)
    EXPECT_NE(error_of([&] { (void)round.channel(i).allocate(SIZE_MAX); }).find("send it in pieces"),
              std::string::npos);
  round.close();
  EXPECT_TRUE(round.collect().empty());
}

}  // namespace
}  // namespace barrio::exchange
