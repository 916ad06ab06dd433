#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "barrio/mpi/point_to_point.hpp"
#include "tests/support/mpi_test.hpp"

// Benchmarks and other rooms rely on exact counts.
namespace barrio::mpi {
namespace {

/// Count the collectives of an action on this rank.
template <class Act>
std::uint64_t collectives_of(Context& context, Act&& act) {
  const std::uint64_t before = context.counters().collectives;
  act();
  return context.counters().collectives - before;
}

TEST(Counters, BeginAtZero) {
  Context context(test::world().comm());
  EXPECT_EQ(context.counters().collectives, 0U);
  EXPECT_EQ(context.counters().messages_sent, 0U);
  EXPECT_EQ(context.counters().bytes_received, 0U);
}

TEST(Counters, CountEachCollective) {
  Context context(test::world().comm());
  EXPECT_EQ(collectives_of(context, [&] { barrier(context); }), 1U);
  EXPECT_EQ(collectives_of(context, [&] { (void)sum(context, 1); }), 1U);
  EXPECT_EQ(collectives_of(context, [&] { (void)exclusive_sum(context, 1); }), 1U);
  EXPECT_EQ(collectives_of(context, [&] { (void)all_gather(context, 1); }), 1U);
  std::string text = "text";
  EXPECT_EQ(collectives_of(context, [&] { broadcast(context, text); }), 2U) << "its length and its bytes";
  text.clear();
  EXPECT_EQ(collectives_of(context, [&] { broadcast(context, text); }), 1U);
  EXPECT_EQ(collectives_of(context, [&] { agree(context, {}); }), 1U);
  EXPECT_EQ(collectives_of(context, [&] { (void)find_node(context); }), 2U);
  EXPECT_EQ(context.counters().messages_sent, 0U);
}

TEST(Counters, AgreementOnAFaultCostsAtMostEightCollectives) {
  Context context(test::world().comm());
  const auto n = collectives_of(context, [&] {
    EXPECT_THROW(agree(context, Error(ErrorCode::failed, {.subject = "s", .cause = "c", .remedy = "r"})), AgreedError);
  });
  EXPECT_LE(n, 8U);
  EXPECT_GE(n, 2U);
}

TEST(Counters, CountMessagesAndBytes) {
  Context context(test::world().comm());
  const Rank next = (context.rank() + 1) % context.size();
  const Rank before = (context.rank() + context.size() - 1) % context.size();
  auto incoming = begin_receive<double>(context, 3, before, 70);
  send(context, std::span<const double>(std::vector<double>{1, 2, 3}), next, 70);
  (void)incoming.wait();
  auto outgoing = begin_send(context, std::vector<std::int32_t>(5), next, 71);
  (void)receive<std::int32_t>(context, before, 71);
  (void)outgoing.wait();
  auto empty = begin_send(context, std::vector<std::int32_t>(), next, 72);
  (void)receive<std::int32_t>(context, before, 72);
  (void)empty.wait();
  EXPECT_EQ(context.counters().messages_sent, 3U);
  EXPECT_EQ(context.counters().messages_received, 3U);
  EXPECT_EQ(context.counters().bytes_sent, 3 * 8U + 5 * 4U);
  EXPECT_EQ(context.counters().bytes_received, 3 * 8U + 5 * 4U);
  EXPECT_EQ(context.counters().collectives, 0U);
}

TEST(Counters, AReductionOfTextsSendsOneMessagePerRankAboveZero) {
  Context context(test::world().comm());
  (void)reduce_to_root(context, "four", [](std::string low, std::string) { return low; });
  const Counters counted = context.counters();
  EXPECT_EQ(counted.collectives, 1U);
  EXPECT_EQ(counted.messages_sent, context.is_root() ? 0U : 1U);
  EXPECT_EQ(counted.bytes_sent, context.is_root() ? 0U : 4U);
  EXPECT_EQ(sum(context, counted.messages_received), static_cast<std::uint64_t>(context.size() - 1));
}

}  // namespace
}  // namespace barrio::mpi
