#include "barrio/mpi/comm.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

static_assert(!std::is_copy_constructible_v<Comm> && std::is_nothrow_move_constructible_v<Comm>);

TEST(Comm, ADuplicateHasTheSameRanksAndIsAnotherCommunicator) {
  const Comm made = Comm::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(made.rank(), test::world().rank());
  EXPECT_EQ(made.size(), test::world().size());
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(made.get(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
}

TEST(Comm, SplitOrdersByKeyWithinAColour) {
  const Rank rank = test::world().rank();
  const int size = test::world().size();
  const Comm half = Comm::split(MPI_COMM_WORLD, rank % 2, -rank);  // backwards
  const int of_my_colour = (size + 1 - rank % 2) / 2;
  EXPECT_EQ(half.size(), of_my_colour);
  EXPECT_EQ(half.rank(), of_my_colour - 1 - rank / 2);
}

TEST(Comm, SplitWithoutAColourIsEmpty) {
  const bool member = test::world().is_root();
  const Comm made = Comm::split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, 0);
  EXPECT_EQ(static_cast<bool>(made), member);
  EXPECT_TRUE(!member || made.size() == 1);
}

TEST(Comm, MovesAndClosesOnce) {
  Comm first = Comm::duplicate(MPI_COMM_WORLD);
  const MPI_Comm raw = first.get();
  Comm second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): tested here
  EXPECT_EQ(second.get(), raw);
  Comm third;
  EXPECT_FALSE(third);
  third = std::move(second);
  EXPECT_EQ(third.get(), raw);
  third.close();
  EXPECT_FALSE(third);
  third.close();
}

TEST(Comm, ManyMayBeMadeOneAfterAnother) {
  // More than MPICH can hold at once, so each must really be freed.
  for (int i = 0; i < 2100; ++i) {
    Comm made = Comm::split(MPI_COMM_SELF, 0, 0);
    ASSERT_TRUE(made);
  }
}

#ifndef BARRIO_MPI_SMPI  // the simulator ends the job on such a call
TEST(Comm, AFaultOfMpiIsAnErrorThatNamesTheCall) {
  const Comm made = Comm::duplicate(MPI_COMM_WORLD);
  const Status status =
      capture([&] { check(MPI_Send(nullptr, 0, MPI_BYTE, made.size() + 1, 0, made.get()), "MPI_Send"); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::failed);
  EXPECT_EQ(status->subject(), "MPI_Send");
  EXPECT_NE(status->cause().find("rank"), std::string::npos) << status->cause();
}
#endif

}  // namespace
}  // namespace barrio::mpi
