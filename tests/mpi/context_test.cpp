#include "barrio/mpi/context.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <type_traits>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

static_assert(!std::is_copy_constructible_v<Context> && !std::is_move_constructible_v<Context>);

int largest_tag(Context& context) {
  int* bound = nullptr;
  int found = 0;
  MPI_Comm_get_attr(context.comm(), MPI_TAG_UB, static_cast<void*>(&bound), &found);
  EXPECT_NE(found, 0);
  return found != 0 ? *bound : 32767;
}

TEST(Context, IsMadeFromAnyCommunicator) {
  const Rank rank = test::world().rank();
  const Comm half = Comm::split(test::world().comm(), rank % 2, rank);
  Context context(half.get());
  EXPECT_EQ(context.rank(), rank / 2);
  EXPECT_EQ(context.size(), half.size());
  EXPECT_EQ(context.is_root(), rank < 2);
  EXPECT_EQ(sum(context, rank % 2), (rank % 2) * context.size()) << "the halves do not see each other";
}

TEST(Context, TwoLiveSideBySideWithoutMixingMessages) {
  Context first(test::world().comm());
  Context second(test::world().comm());
  const Rank next = (first.rank() + 1) % first.size();
  const Rank before = (first.rank() + first.size() - 1) % first.size();
  const TagBlock tag_first = first.take_tags(1);
  const TagBlock tag_second = second.take_tags(1);
  EXPECT_EQ(tag_first.first, tag_second.first) << "so that only the communicators keep the messages apart";

  auto sent_first = begin_send(first, std::vector<int>{1}, next, tag_first.first);
  auto sent_second = begin_send(second, std::vector<int>{2}, next, tag_second.first);
  EXPECT_EQ(receive<int>(second, before, tag_second.first), std::vector<int>{2}) << "the one that was sent last";
  EXPECT_EQ(receive<int>(first, before, tag_first.first), std::vector<int>{1});
  (void)sent_first.wait();
  (void)sent_second.wait();
  EXPECT_EQ(first.counters().messages_sent, 1U);
  EXPECT_EQ(second.counters().messages_sent, 1U);
}

TEST(Context, KeepsItsOwnTraceAndProfile) {
  Context first(test::world().comm(), {.profile = {.packet_bytes = 512}});
  Context second(test::world().comm(), {.trace = Trace::Mode::off});
  EXPECT_EQ(first.profile().packet_bytes, 512U);
  EXPECT_EQ(second.profile().packet_bytes, Profile().packet_bytes);
  constexpr RegionName name{"test.region"};
  {
    const Region a(first.trace(), name), b(second.trace(), name);
  }
  EXPECT_EQ(first.trace().totals().size(), 1U);
  EXPECT_TRUE(second.trace().totals().empty());
}

TEST(TakeTags, BlocksAreDisjointAndTheSameOnAllRanks) {
  Context context(test::world().comm());
  constexpr std::array<int, 5> counts{1, 16, 3, 1000, 2};
  int after_last = 0;
  for (const int count : counts) {
    const TagBlock block = context.take_tags(count);
    EXPECT_EQ(block.count, count);
    EXPECT_GE(block.first, after_last);
    EXPECT_GT(block.first, 1) << "the room's own tags lie below";
    EXPECT_EQ(min(context, block.first), max(context, block.first));
    after_last = block.first + count;
  }
}

TEST(TakeTags, BeginsAgainAfterTheLargestTag) {
  Context context(test::world().comm());
  const int largest = largest_tag(context);
  const int first = context.take_tags(1).first;
  const int count = (largest - first) / 3;
  std::int64_t after_last = first + 1;
  int n_blocks = 0;
  for (TagBlock block = context.take_tags(count);; block = context.take_tags(count)) {
    EXPECT_LE(std::int64_t{block.first} + count - 1, largest);
    if (block.first < after_last) {
      EXPECT_EQ(block.first, first);
      break;
    }
    after_last = std::int64_t{block.first} + count;
    ASSERT_LT(++n_blocks, 5) << "the count never begins again";
  }
  EXPECT_GE(n_blocks, 2);
}

TEST(TagBlock, EpochsGoRoundInTheBlock) {
  const TagBlock block{.first = 100, .count = 4};
  EXPECT_EQ(block.of_epoch(0), 100);
  EXPECT_EQ(block.of_epoch(3), 103);
  EXPECT_EQ(block.of_epoch(4), 100);
  EXPECT_EQ(block.of_epoch(UINT64_MAX), 103);
}

}  // namespace
}  // namespace barrio::mpi
