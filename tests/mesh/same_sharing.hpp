#pragma once

#include <gtest/gtest.h>

#include <algorithm>

namespace barrio::test {

/// Compare the owners, sharers and order of the entities of two tables of one dimension.
template <class Table>
void expect_same_table(const Table& found, const Table& expected) {
  EXPECT_EQ(found.global_ids, expected.global_ids);
  EXPECT_EQ(found.n_interior, expected.n_interior);
  EXPECT_EQ(found.n_owned, expected.n_owned);
  EXPECT_EQ(found.n_global, expected.n_global);
  EXPECT_EQ(found.owners.to_vector(), expected.owners.to_vector());
  ASSERT_EQ(found.shared, expected.shared);
  for (std::size_t s = 0; s < expected.shared.size(); ++s)
    EXPECT_TRUE(std::ranges::equal(found.sharers_of(s), expected.sharers_of(s)));
}

}  // namespace barrio::test
