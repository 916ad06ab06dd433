#include "barrio/exchange/shared_ids.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

enum class Sharing { nothing, none_shared, all_shared, few, many_copies, one_rank_only };
constexpr std::array all_sharing{Sharing::nothing, Sharing::none_shared, Sharing::all_shared,
                                 Sharing::few,     Sharing::many_copies, Sharing::one_rank_only};

/// Return the ids of any rank. The same on all ranks.
std::vector<GlobalId> ids_of(Sharing sharing, std::uint64_t repeat, Rank rank) {
  const auto draw = [&](std::uint64_t what, std::uint64_t i) {
    return number({90, word(static_cast<int>(sharing)), repeat, word(rank), what, i});
  };
  constexpr std::int64_t large = std::int64_t{1} << 45;
  std::vector<GlobalId> ids;
  const std::uint64_t n = draw(0, 0) % 150;
  switch (sharing) {
    case Sharing::nothing: break;
    case Sharing::none_shared:
      for (std::uint64_t i = 0; i < n; ++i) ids.push_back(GlobalId{large * rank + static_cast<std::int64_t>(i)});
      break;
    case Sharing::all_shared:
      for (std::int64_t i = 0; i < 20; ++i) ids.push_back(GlobalId{large + 20 - i});
      break;
    case Sharing::few:
      if (draw(1, 0) % 4 == 0) break;  // an empty rank
      for (std::uint64_t i = 0; i < n; ++i)
        ids.push_back(draw(2, i) % 9 == 0 ? no_global_id : GlobalId{static_cast<std::int64_t>(draw(3, i) % 300)});
      break;
    case Sharing::many_copies:
      for (std::uint64_t i = 0; i < 30; ++i) ids.push_back(GlobalId{static_cast<std::int64_t>(draw(4, i) % 4)});
      break;
    case Sharing::one_rank_only:
      if (rank != static_cast<Rank>(number({91, repeat}) % word(world().size()))) break;
      for (std::int64_t i = 0; i < 40; ++i) ids.push_back(GlobalId{i % 25 == 0 ? -i - 1 : i % 13});
      break;
  }
  return ids;
}

/// Compute all positions of each id, ascending, without messages.
std::map<GlobalId, std::vector<Sharer>> all_positions(Sharing sharing, std::uint64_t repeat) {
  std::map<GlobalId, std::vector<Sharer>> positions;
  for (Rank rank = 0; rank < world().size(); ++rank) {
    const auto ids = ids_of(sharing, repeat, rank);
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (value(ids[i]) >= 0) positions[ids[i]].push_back({rank, local_id(i)});
  }
  return positions;
}

std::vector<Sharer> expected_sharers(const std::map<GlobalId, std::vector<Sharer>>& positions, GlobalId id,
                                     std::size_t i) {
  const auto found = positions.find(id);
  std::vector<Sharer> sharers = found == positions.end() ? std::vector<Sharer>{} : found->second;
  std::erase(sharers, Sharer{world().rank(), local_id(i)});
  return sharers;
}

TEST(SharedIds, EqualWhatAllRanksTogetherKnow) {
  for (const Sharing sharing : all_sharing) {
    for (std::uint64_t repeat = 0; repeat < 3; ++repeat) {
      const auto ids = ids_of(sharing, repeat, world().rank());
      const auto positions = all_positions(sharing, repeat);
      const SharedIds shared = find_shared_ids(world(), ids);
      ASSERT_EQ(shared.n_ids(), ids.size());
      std::set<Rank> neighbours;
      std::size_t n = 0;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto expected = expected_sharers(positions, ids[i], i);
        const auto found = shared.of(i);
        EXPECT_EQ(std::vector<Sharer>(found.begin(), found.end()), expected)
            << "sharing " << static_cast<int>(sharing) << ", id " << value(ids[i]);
        n += expected.size();
        for (const Sharer& sharer : expected)
          if (sharer.rank != world().rank()) neighbours.insert(sharer.rank);
      }
      EXPECT_EQ(shared.sharers.size(), n);
      EXPECT_EQ(shared.neighbours, std::vector<Rank>(neighbours.begin(), neighbours.end()));
      EXPECT_GE(shared.memory_bytes(), n * sizeof(Sharer) + (ids.size() + 1) * sizeof(std::size_t));
    }
  }
}

TEST(SharedIds, CostTwoTransfers) {
  const auto ids = ids_of(Sharing::few, 0, world().rank());
  const mpi::Counters before = world().counters();
  (void)find_shared_ids(world(), ids);
  EXPECT_LE(world().counters().messages_sent - before.messages_sent, 2 * word(world().size() - 1));
  EXPECT_EQ(world().counters().collectives - before.collectives, 2U);
}

/// Return the weight of an id at one position.
double weight(Rank rank, std::size_t i) { return static_cast<double>(number({92, word(rank), i}) >> 12U); }
Blob<3> label(Rank rank, std::size_t i) { return filled<Blob<3>>(number({93, word(rank), i})); }

TEST(SharedTuples, BringTheWholeTupleOfEachSharer) {
  for (const Sharing sharing : all_sharing) {
    const auto ids = ids_of(sharing, 7, world().rank());
    const auto positions = all_positions(sharing, 7);
    TupleList<GlobalId, double, Blob<3>> list;
    for (std::size_t i = 0; i < ids.size(); ++i)
      list.push_back(ids[i], weight(world().rank(), i), label(world().rank(), i));
    const auto shared = find_shared_tuples(world(), list);
    ASSERT_EQ(shared.n_tuples(), ids.size());
    std::size_t n = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto [first, last] = shared.rows_of(i);
      EXPECT_EQ(first, n);
      const auto expected = expected_sharers(positions, ids[i], i);
      ASSERT_EQ(last - first, expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto [rank, at] = expected[k];
        EXPECT_EQ(shared.sharers.tuple(first + k),
                  std::tuple(rank, at, ids[i], weight(rank, index(at)), label(rank, index(at))));
      }
      n = last;
    }
    EXPECT_EQ(shared.sharers.size(), n);
    EXPECT_EQ(shared.neighbours, find_shared_ids(world(), ids).neighbours);
    EXPECT_GE(shared.memory_bytes(), n * (sizeof(Sharer) + 8 + 8 + 3));
  }
}

TEST(SharedTuples, TakeKeysOfAnyIntegerType) {
  TupleList<std::uint64_t> list;  // of max size, the same on all ranks
  for (std::uint64_t i = 0; i < 10; ++i) list.push_back(~i);
  list.push_back(word(world().rank()));
  const auto shared = find_shared_tuples(world(), list);
  for (std::size_t i = 0; i < 10; ++i) {
    const auto [first, last] = shared.rows_of(i);
    ASSERT_EQ(last - first, word(world().size() - 1));
    for (std::size_t row = first; row < last; ++row)
      EXPECT_EQ(std::get<2>(shared.sharers.tuple(row)), ~static_cast<std::uint64_t>(i));
  }
  EXPECT_EQ(shared.rows_of(10).first, shared.rows_of(10).second);
}

}  // namespace
}  // namespace barrio::exchange
