#include "barrio/mpi/point_to_point.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

static_assert(!std::is_copy_constructible_v<Request<int>> && std::is_nothrow_move_constructible_v<Request<int>>);

class Ring : public testing::Test {
 protected:
  Context context{test::world().comm()};
  Rank next = (context.rank() + 1) % context.size();
  Rank before = (context.rank() + context.size() - 1) % context.size();
};

TEST_F(Ring, RequestsCarryItemsRound) {
  auto incoming = begin_receive<double>(context, 2, before, 80);
  auto outgoing = begin_send(context, std::vector<double>{1.0 * context.rank(), 0.5}, next, 80);
  EXPECT_EQ(incoming.wait(), (std::vector<double>{1.0 * before, 0.5}));
  EXPECT_EQ(outgoing.wait(), (std::vector<double>{1.0 * context.rank(), 0.5})) << "the buffer comes back";
}

TEST_F(Ring, TestSaysWhenAMessageHasCome) {
  auto incoming = begin_receive<int>(context, 1, before, 81);
  EXPECT_FALSE(incoming.test()) << "nobody has sent it yet";
  barrier(context);
  auto outgoing = begin_send(context, std::vector<int>{context.rank()}, next, 81);
  Pause pause(context.wait_policy());
  while (!incoming.test()) pause();
  EXPECT_TRUE(incoming.test());
  EXPECT_EQ(incoming.wait(), std::vector<int>{before});
  (void)outgoing.wait();
}

TEST_F(Ring, ARequestMovesWithItsBuffer) {
  auto first = begin_receive<int>(context, 1, before, 82);
  auto second = begin_receive<int>(context, 1, before, 83);
  auto moved = std::move(first);
  std::vector<Request<int>> kept;
  kept.push_back(std::move(moved));
  kept.push_back(std::move(second));
  std::swap(kept[0], kept[1]);
  auto a = begin_send(context, std::vector<int>{10}, next, 82);
  auto b = begin_send(context, std::vector<int>{20}, next, 83);
  EXPECT_EQ(kept[0].wait(), std::vector<int>{20});
  EXPECT_EQ(kept[1].wait(), std::vector<int>{10});
  (void)a.wait();
  (void)b.wait();
}

TEST_F(Ring, MessagesOfOneTagKeepTheirOrder) {
  std::vector<Request<int>> sent;
  for (int i = 0; i < 50; ++i)
    sent.push_back(begin_send(context, std::vector<int>(static_cast<std::size_t>(i), i), next, 84));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(receive<int>(context, before, 84), std::vector<int>(static_cast<std::size_t>(i), i));
  for (auto& request : sent) (void)request.wait();
}

TEST_F(Ring, TakesAnEmptyAndALargeMessage) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{300'000}}) {
    std::vector<std::int64_t> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = static_cast<std::int64_t>(i) * context.rank();
    auto outgoing = begin_send(context, std::move(items), next, 85);
    EXPECT_EQ(probe_bytes(context, before, 85), n * 8);
    const auto received = receive<std::int64_t>(context, before, 85);
    ASSERT_EQ(received.size(), n);
    EXPECT_TRUE(n == 0 || received.back() == static_cast<std::int64_t>(n - 1) * before);
    (void)outgoing.wait();
  }
}

TEST_F(Ring, RefusesAMessageThatIsNoWholeNumberOfItems) {
  auto outgoing = begin_send(context, std::vector<char>{'a', 'b', 'c'}, next, 86);
  const Status status = capture([&] { (void)receive<std::int32_t>(context, before, 86); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::internal);
  EXPECT_EQ(status->subject(), "message from rank " + std::to_string(before) + " with tag 86");
  EXPECT_EQ(status->cause(), "3 bytes are not a whole number of items of 4 bytes");
  EXPECT_EQ(receive<char>(context, before, 86), (std::vector<char>{'a', 'b', 'c'})) << "the message is still there";
  (void)outgoing.wait();
}

TEST_F(Ring, ARequestMayBeDroppedWhileAnExceptionIsOnItsWay) {
  const Rank me = context.rank();
  EXPECT_THROW(
      {
        auto lost = begin_receive<int>(context, 1000, me, 87);
        throw Error(ErrorCode::failed, {.subject = "a phase", .cause = "failed"});
      },
      Error);
  // MPI still writes to the buffer, which must not have been freed.
  send(context, std::span<const int>(std::vector<int>(1000, 7)), me, 87);
}

TEST(MessageSize, IsLimitedByMpisInt) {
  EXPECT_EQ(as_count(2147483647U), 2147483647);
  const Status status = capture([] { (void)as_count(std::size_t{1} << 31U); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::internal);
  EXPECT_EQ(status->cause(), "2147483648 items do not fit one call, which takes at most 2^31 - 1");
}

}  // namespace
}  // namespace barrio::mpi
