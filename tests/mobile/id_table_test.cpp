#include "barrio/mobile/objects/id_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::mobile::detail {
namespace {

TEST(IdTable, FindsWhatWasAddedAndNotRemoved) {
  std::mt19937_64 random(test::seed());
  std::vector<int> items(20'000);
  IdTable<int> table;
  std::map<std::uint64_t, int*> expected;
  EXPECT_EQ(table.find(ObjectId()), nullptr);
  for (int& item : items) {
    const ObjectId id(static_cast<Rank>(random() % 4), static_cast<Rank>(random() % 4),
                      static_cast<std::uint32_t>(random() % 300));
    const auto found = expected.find(id.word());
    ASSERT_EQ(table.find(id), found == expected.end() ? nullptr : found->second);
    if (found == expected.end()) {
      table.add(id, &item);
      expected.emplace(id.word(), &item);
    } else if (random() % 2 == 0) {
      table.remove(id);
      expected.erase(found);
    }
  }
  EXPECT_GT(expected.size(), 1000U);
}

TEST(ObjectId, NamesItsRank) {
  EXPECT_FALSE(ObjectId().is_set());
  for (const Rank rank : {0, 1, 77, ObjectId::max_ranks - 2})
    for (const std::uint32_t number : {0U, 1U, ObjectId::max_objects - 1}) {
      const ObjectId id(rank, 3, number);
      EXPECT_TRUE(id.is_set());
      EXPECT_EQ(id.rank(), rank);
      EXPECT_EQ(ObjectId::of_word(id.word()), id);
    }
}

}  // namespace
}  // namespace barrio::mobile::detail
