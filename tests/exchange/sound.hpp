#pragma once

#include <gtest/gtest.h>

#include "barrio/exchange/neighborhood.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

/// Do one round in which each rank sends its rank number to each neighbour.
inline void expect_sound(exchange::Neighborhood& hood) {
  auto round = hood.begin_round<int>();
  for (const Rank to : hood.neighbours()) round.allocate(to) = world().rank();
  round.close();
  const auto all = round.collect();
  ASSERT_EQ(all.size(), hood.neighbours().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].from, hood.neighbours()[i]);
    EXPECT_EQ(all[i].message, all[i].from);
  }
}

}  // namespace barrio::test
