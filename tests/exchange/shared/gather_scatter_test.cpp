#include "barrio/exchange/gather_scatter.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

constexpr std::array all_methods{GatherMethod::automatic, GatherMethod::pairwise, GatherMethod::owner,
                                 GatherMethod::crystal};

enum class Sharing { nothing, none_shared, all_shared, random, chain, own_copies };
constexpr std::array all_sharing{Sharing::nothing, Sharing::none_shared, Sharing::all_shared,
                                 Sharing::random,  Sharing::chain,       Sharing::own_copies};

/// Return the ids of any rank. The same on all ranks.
std::vector<GlobalId> ids_of(Sharing sharing, Rank rank) {
  const auto draw = [&](std::uint64_t what, std::uint64_t i) {
    return number({70, word(static_cast<int>(sharing)), word(rank), what, i});
  };
  constexpr std::int64_t large = std::int64_t{1} << 40;
  std::vector<GlobalId> ids;
  switch (sharing) {
    case Sharing::nothing: break;
    case Sharing::none_shared:
      for (std::int64_t i = 0; i < 10; ++i) ids.push_back(GlobalId{100 * rank + i});
      break;
    case Sharing::all_shared:
      for (std::int64_t i = 0; i < 12; ++i) ids.push_back(GlobalId{large - i});
      break;
    case Sharing::random:
      if (draw(0, 0) % 4 == 0) break;  // an empty rank
      for (std::uint64_t i = 0; i < 200; ++i)
        ids.push_back(draw(1, i) % 10 == 0 ? no_global_id : GlobalId{static_cast<std::int64_t>(draw(2, i) % 250)});
      break;
    case Sharing::chain:  // each rank shares 5 ids with the next
      for (std::int64_t i = 0; i < 15; ++i) ids.push_back(GlobalId{10 * rank + i});
      break;
    case Sharing::own_copies:
      for (std::uint64_t i = 0; i < 40; ++i)
        ids.push_back(GlobalId{large * rank + static_cast<std::int64_t>(draw(3, i) % 9)});
      break;
  }
  return ids;
}

template <class T>
T value_at(Rank rank, std::size_t i, int step) {
  const std::uint64_t n = number({71, word(rank), i, word(step)});
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<double>(n >> 11U) * 0x1p-50 - 4.0);  // sums round
  } else {
    return static_cast<T>(n);
  }
}

template <class T>
std::vector<T> values_of(Sharing sharing, Rank rank, int n_components, int step) {
  std::vector<T> values(ids_of(sharing, rank).size() * static_cast<std::size_t>(n_components));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at<T>(rank, i, step);
  return values;
}

/// Compute this rank's expected values. Combines one rank's positions in turn, then the ranks in turn.
template <class T, class Combine>
std::vector<T> expected_values(Sharing sharing, int n_components, int step, Combine combine) {
  const auto n = static_cast<std::size_t>(n_components);
  std::map<GlobalId, std::vector<T>> totals;
  for (Rank rank = 0; rank < world().size(); ++rank) {
    const auto ids = ids_of(sharing, rank);
    const auto values = values_of<T>(sharing, rank, n_components, step);
    std::map<GlobalId, std::vector<T>> partials;
    const auto add = [&](auto& to, GlobalId id, std::span<const T> row) {
      const auto [at, is_new] = to.try_emplace(id, row.begin(), row.end());
      for (std::size_t c = 0; !is_new && c < n; ++c) at->second[c] = combine(at->second[c], row[c]);
    };
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (value(ids[i]) >= 0) add(partials, ids[i], std::span(values).subspan(i * n, n));
    for (const auto& [id, row] : partials) add(totals, id, row);
  }
  const auto ids = ids_of(sharing, world().rank());
  std::vector<T> expected = values_of<T>(sharing, world().rank(), n_components, step);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (value(ids[i]) >= 0) std::ranges::copy(totals[ids[i]], expected.begin() + static_cast<std::ptrdiff_t>(i * n));
  return expected;
}

template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const unsigned char*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

template <class T, class Combine>
void expect_combined(GatherScatter& gather, Sharing sharing, int n_components, int step, Combine combine) {
  auto values = values_of<T>(sharing, world().rank(), n_components, step);
  gather.apply(std::span(values), n_components, combine);
  EXPECT_EQ(bytes_of(values), bytes_of(expected_values<T>(sharing, n_components, step, combine)))
      << "method " << static_cast<int>(gather.method()) << ", sharing " << static_cast<int>(sharing);
}

class Gather : public testing::TestWithParam<GatherMethod> {};

TEST_P(Gather, GivesAllPositionsTheSameBitsWithEveryMethod) {
  for (const Sharing sharing : all_sharing) {
    GatherScatter gather(world(), ids_of(sharing, world().rank()), {.method = GetParam()});
    EXPECT_NE(gather.method(), GatherMethod::automatic);
    if (GetParam() != GatherMethod::automatic) {
      EXPECT_EQ(gather.method(), GetParam());
    }
    const CallsSince calls;
    for (int step = 0; step < 3; ++step) {
      expect_combined<double>(gather, sharing, 1, step, Sum{});
      expect_combined<double>(gather, sharing, 3, step, Product{});
      expect_combined<float>(gather, sharing, 2, step, Min{});
      expect_combined<std::int64_t>(gather, sharing, 1, step, Max{});
      expect_combined<std::uint8_t>(gather, sharing, 5, step, Sum{});
      // Neither commutative nor associative: it detects any other order.
      expect_combined<std::uint32_t>(gather, sharing, 1, step,
                                     [](std::uint32_t a, std::uint32_t b) { return 31 * a + (b ^ (a >> 3U)); });
    }
    EXPECT_EQ(calls.collectives(), 0U);
  }
}

TEST_P(Gather, CarriesStructures) {
  struct Extremum {
    double value;
    std::int64_t where;
    bool operator==(const Extremum&) const = default;
  };
  std::vector<GlobalId> ids{GlobalId{5}, GlobalId{world().rank() + 10}, GlobalId{5}};
  std::vector<Extremum> values;
  for (std::size_t i = 0; i < 3; ++i)
    values.push_back(
        {static_cast<double>((7 * world().rank() + 3) % 5), 3 * world().rank() + static_cast<std::int64_t>(i)});
  const auto lonely = values[1];
  GatherScatter gather(world(), ids, {.method = GetParam()});
  gather.apply(std::span(values), 1, [](const Extremum& a, const Extremum& b) { return b.value > a.value ? b : a; });
  Extremum expected{-1, -1};
  for (Rank rank = 0; rank < world().size(); ++rank)
    if ((7 * rank + 3) % 5 > expected.value) expected = {static_cast<double>((7 * rank + 3) % 5), 3 * rank};
  EXPECT_EQ(values[0], expected);
  EXPECT_EQ(values[1], lonely);
  EXPECT_EQ(values[2], expected);
}

TEST_P(Gather, SeveralTravelAtOnceAndTheInsideIsFreeMeanwhile) {
  GatherScatter a(world(), ids_of(Sharing::chain, world().rank()), {.method = GetParam()});
  GatherScatter b(world(), ids_of(Sharing::random, world().rank()), {.method = GetParam()});
  GatherScatter moved = std::move(b);
  for (int step = 0; step < 10; ++step) {
    auto chain = values_of<double>(Sharing::chain, world().rank(), 1, step);
    auto random = values_of<std::int32_t>(Sharing::random, world().rank(), 2, step);
    const auto ids = ids_of(Sharing::random, world().rank());
    a.begin(std::span(chain), 1, Sum{});
    moved.begin(std::span(random), 2, Max{});
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == no_global_id) random[2 * i] += 1;
    a.end(std::span(chain), 1, Sum{});
    moved.end(std::span(random), 2, Max{});
    EXPECT_EQ(chain, expected_values<double>(Sharing::chain, 1, step, Sum{}));
    auto expected = expected_values<std::int32_t>(Sharing::random, 2, step, Max{});
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == no_global_id) expected[2 * i] += 1;
    EXPECT_EQ(random, expected);
  }
}

TEST_P(Gather, AWrongShapeIsRefused) {
  const auto ids = ids_of(Sharing::chain, world().rank());
  GatherScatter gather(world(), ids, {.method = GetParam()});
  std::vector<double> values(15 * 2);
  const auto expect_refused = [&](std::size_t n_values, int n_components) {
    try {
      gather.apply(std::span(values).first(n_values), n_components, Sum{});
      ADD_FAILURE() << n_values << " values of " << n_components;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(
          std::string(error.what()),
          fmt::format("gather-scatter: {} values of {} components do not fit 15 positions", n_values, n_components));
    }
  };
  expect_refused(29, 2);
  expect_refused(30, 1);
  expect_refused(0, 0);
  expect_refused(15, -1);
  gather.apply(std::span(values), 2, Sum{});
}

std::string name_of_method(const testing::TestParamInfo<GatherMethod>& info) {
  constexpr std::array names{"automatic", "pairwise", "owner", "crystal"};
  return names[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Methods, Gather, testing::ValuesIn(all_methods), name_of_method);

TEST(GatherScatter, KnowsItsNeighboursAndWhatIsShared) {
  for (const Sharing sharing : all_sharing) {
    std::map<GlobalId, std::set<Rank>> ranks;
    std::map<GlobalId, int> n_positions;
    for (Rank rank = 0; rank < world().size(); ++rank) {
      for (const GlobalId id : ids_of(sharing, rank)) {
        if (value(id) < 0) continue;
        ranks[id].insert(rank);
        n_positions[id] += 1;
      }
    }
    std::set<Rank> neighbours;
    std::size_t n_shared = 0;
    for (const auto& [id, sharers] : ranks) {
      if (!sharers.contains(world().rank())) continue;
      neighbours.insert(sharers.begin(), sharers.end());
      n_shared += n_positions[id] > 1 ? 1 : 0;
    }
    neighbours.erase(world().rank());
    const GatherScatter pairwise(world(), ids_of(sharing, world().rank()), {.method = GatherMethod::pairwise});
    const auto found = pairwise.neighbours();
    EXPECT_EQ(std::vector<Rank>(found.begin(), found.end()), std::vector<Rank>(neighbours.begin(), neighbours.end()));
    EXPECT_EQ(pairwise.n_shared(), n_shared);
    const GatherScatter owner(world(), ids_of(sharing, world().rank()), {.method = GatherMethod::owner});
    EXPECT_EQ(owner.n_shared(), n_shared);
    EXPECT_TRUE(std::ranges::includes(neighbours, owner.neighbours()));
  }
}

TEST(GatherScatter, PairwiseIsOneMessagePerNeighbourAndAllocatesOnce) {
  for (const Sharing sharing : {Sharing::chain, Sharing::random, Sharing::all_shared}) {
    GatherScatter gather(world(), ids_of(sharing, world().rank()), {.method = GatherMethod::pairwise});
    auto values = values_of<double>(sharing, world().rank(), 4, 0);
    gather.apply(std::span(values), 4, Sum{});
    const std::uint64_t bytes = gather.memory_bytes();
    const mpi::Counters before = world().counters();
    gather.apply(std::span(values), 4, Sum{});
    gather.apply(std::span(values).first(values.size() / 4), 1, Sum{});
    EXPECT_EQ(world().counters().messages_sent - before.messages_sent, 2 * gather.neighbours().size());
    EXPECT_EQ(world().counters().messages_received - before.messages_received, 2 * gather.neighbours().size());
    EXPECT_EQ(gather.memory_bytes(), bytes);
  }
}

TEST(GatherScatter, OwnerSendsEachValueThereAndBackOnly) {
  GatherScatter gather(world(), ids_of(Sharing::all_shared, world().rank()), {.method = GatherMethod::owner});
  auto values = values_of<double>(Sharing::all_shared, world().rank(), 1, 0);
  const mpi::Counters before = world().counters();
  gather.apply(std::span(values), 1, Sum{});
  // 12 ids: each sharer except the combining one sends one value and receives one; a message has a header of 16 bytes.
  const std::uint64_t all = mpi::sum(world(), world().counters().bytes_sent - before.bytes_sent);
  const std::uint64_t n_messages = mpi::sum(world(), world().counters().messages_sent - before.messages_sent);
  EXPECT_EQ(all, 12 * 2 * word(world().size() - 1) * sizeof(double) + 16 * n_messages);
}

TEST(GatherScatter, CrystalNeedsLogarithmicallyManyMessages) {
  GatherScatter gather(world(), ids_of(Sharing::random, world().rank()), {.method = GatherMethod::crystal});
  auto values = values_of<double>(Sharing::random, world().rank(), 1, 0);
  const std::uint64_t before = world().counters().messages_sent;
  gather.apply(std::span(values), 1, Sum{});
  const auto n_stages = word(std::bit_width(static_cast<unsigned>(world().size() - 1)));
  EXPECT_LE(world().counters().messages_sent - before, 2 * n_stages);
}

TEST(GatherScatter, TheChoiceIsAgreedAndTakesTheLeastTime) {
  const GatherScatter gather(world(), ids_of(Sharing::random, world().rank()));
  EXPECT_EQ(mpi::max(world(), static_cast<int>(gather.method())), static_cast<int>(gather.method()));
  EXPECT_EQ(mpi::min(world(), static_cast<int>(gather.method())), static_cast<int>(gather.method()));
  if (world().size() == 1) {
    EXPECT_TRUE(gather.timings().empty());
    return;
  }
  double least = 1e9;
  double chosen = 1e9;
  for (const auto& [method, seconds] : gather.timings()) {
    EXPECT_GT(seconds, 0.0);
    least = std::min(least, seconds);
    if (method == gather.method()) chosen = seconds;
  }
  if (gather.timings().empty()) return;  // too many ranks are empty to share anything
  EXPECT_EQ(gather.timings().size(), 3U);
  EXPECT_EQ(chosen, least);
}

TEST(GatherScatter, PairwiseIsLeftOutWhereTooManyShareAnId) {
  if (world().size() < 3) GTEST_SKIP() << "wants an id on three ranks";
  const GatherScatter gather(world(), ids_of(Sharing::all_shared, world().rank()), {.max_pairwise_ranks = 2});
  EXPECT_NE(gather.method(), GatherMethod::pairwise);
  EXPECT_EQ(gather.timings().size(), 2U);
}

}  // namespace
}  // namespace barrio::exchange
