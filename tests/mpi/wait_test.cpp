#include "barrio/mpi/wait.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

using Kind = WaitPolicy::Kind;

class Policies : public testing::TestWithParam<Kind> {};

TEST_P(Policies, CompleteMessagesAndCollectives) {
  if (GetParam() == Kind::spin && test::world().size() > 2)
    GTEST_SKIP() << "spinning ranks need a core each, and this test may have two";
  Context context(test::world().comm(), {.wait = {.kind = GetParam(), .spin_polls = 10}});
  EXPECT_EQ(context.wait_policy().kind, GetParam());
  const Rank next = (context.rank() + 1) % context.size();
  const Rank before = (context.rank() + context.size() - 1) % context.size();
  for (int round = 0; round < 20; ++round) {
    auto incoming = begin_receive<int>(context, 1, before, 90);
    auto outgoing = begin_send(context, std::vector<int>{100 * round + context.rank()}, next, 90);
    EXPECT_EQ(incoming.wait(), std::vector<int>{100 * round + before});
    (void)outgoing.wait();
    auto of_unknown_length = begin_send(context, std::vector<int>(static_cast<std::size_t>(round)), next, 91);
    EXPECT_EQ(receive<int>(context, before, 91).size(), static_cast<std::size_t>(round));
    (void)of_unknown_length.wait();
    EXPECT_EQ(sum(context, 1), context.size());
  }
  EXPECT_NO_THROW(agree(context, {}));
  EXPECT_THROW(agree(context, Error(ErrorCode::failed, {.subject = "s", .cause = "c"})), AgreedError);
}

TEST_P(Policies, WaitAllCompletesEveryRequest) {
  if (GetParam() == Kind::spin && test::world().size() > 2)
    GTEST_SKIP() << "spinning ranks need a core each, and this test may have two";
  Context& context = test::world();
  const WaitPolicy policy{.kind = GetParam(), .spin_polls = 10};
  const Rank next = (context.rank() + 1) % context.size();
  const Rank before = (context.rank() + context.size() - 1) % context.size();
  const int sent = context.rank();
  std::array<int, 4> received{-1, -1, -1, -1};
  std::array<MPI_Request, 9> requests{};
  requests[8] = MPI_REQUEST_NULL;
  for (int i = 0; i < 4; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Irecv(&received[at], 1, MPI_INT, before, 10 + i, context.comm(), &requests[2 * at]);
    MPI_Isend(&sent, 1, MPI_INT, next, 10 + i, context.comm(), &requests[2 * at + 1]);
  }
  wait_all(requests, policy);
  for (const int item : received) EXPECT_EQ(item, before);
  for (const MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_NO_THROW(wait_all({}, policy));
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::spin ? "spin" : info.param == Kind::yield ? "yield" : "block";
}
INSTANTIATE_TEST_SUITE_P(Kinds, Policies, testing::Values(Kind::spin, Kind::yield, Kind::block), name_of);

TEST(WaitFor, GivesUpAfterItsLimitAndLeavesTheRequestActive) {
  Context& context = test::world();
  int received = 0;
  const int sent = 7;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, context.rank(), 20, context.comm(), &request);
  const double begin = MPI_Wtime();
  EXPECT_FALSE(wait_for(request, context.wait_policy(), 0.005));
  EXPECT_GE(MPI_Wtime() - begin, 0.005);
  EXPECT_NE(request, MPI_REQUEST_NULL);
  MPI_Request sending = MPI_REQUEST_NULL;
  MPI_Isend(&sent, 1, MPI_INT, context.rank(), 20, context.comm(), &sending);
  EXPECT_TRUE(wait_for(request, context.wait_policy(), 30.0));
  EXPECT_EQ(received, 7);
  wait(sending, context.wait_policy());
}

TEST(Wait, FillsInTheStatus) {
  Context& context = test::world();
  for (const Kind kind : {Kind::yield, Kind::block}) {
    int received = 0;
    const int sent = 3;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Status status;
    status.MPI_TAG = -5;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 21, context.comm(), &request);
    MPI_Isend(&sent, 1, MPI_INT, context.rank(), 21, context.comm(), &sending);
    wait(request, {.kind = kind}, &status);
    EXPECT_EQ(status.MPI_TAG, 21);
    EXPECT_EQ(status.MPI_SOURCE, context.rank());
    wait(sending, {.kind = kind});
  }
}

TEST(WaitPolicy, IsNamedByTheEnvironment) {
  const char* known = std::getenv("BARRIO_WAIT");
  const std::optional<std::string> before = known != nullptr ? std::optional<std::string>(known) : std::nullopt;
  const auto named = [](const char* text) {
    ::setenv("BARRIO_WAIT", text, 1);
    return wait_policy_from_environment().kind;
  };
  ::unsetenv("BARRIO_WAIT");
  const Kind usual = wait_policy_from_environment().kind;
  EXPECT_EQ(usual, std::string(BARRIO_MPI_FLAVOUR) == "smpi" ? Kind::block : Kind::yield);
  EXPECT_EQ(named("spin"), Kind::spin);
  EXPECT_EQ(named("yield"), Kind::yield);
  EXPECT_EQ(named("block"), Kind::block);
  EXPECT_EQ(named("sleep"), usual);
  if (before) {
    ::setenv("BARRIO_WAIT", before->c_str(), 1);
  } else {
    ::unsetenv("BARRIO_WAIT");
  }
}

}  // namespace
}  // namespace barrio::mpi
