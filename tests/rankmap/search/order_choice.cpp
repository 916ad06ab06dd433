#include "barrio/rankmap/solve.hpp"

#include "barrio/rankmap/map_document.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::traffic_of;

OrderChoice choice_of(const TrafficMatrix& traffic, const Machine& machine, double min_gain,
                      const TrafficMatrix* sure = nullptr, const MapOptions& options = {}) {
  return choose_order(map(traffic, machine, options), machine, options, min_gain, sure);
}

TEST(OrderChoice, ASmallGainIsNotWorthANewOrder) {
  // 1000 and 1003 bytes: the given order costs 1 x 1000 + 10 x 1003, the other 1 x 1003 + 10 x 1000.
  const TrafficMatrix traffic = traffic_of(4, {{0, 1, 500}, {2, 3, 500}, {0, 2, 500}, {1, 3, 503}});
  const Machine machine = Machine::parse("2x2");
  const OrderChoice small = choice_of(traffic, machine, 0.005);
  EXPECT_TRUE(small.keeps_given);
  EXPECT_NEAR(small.gain, 1 - 11003.0 / 11030.0, 1e-12);
  EXPECT_EQ(small.reason, "the placement found gains 0.245 %, less than --min-gain 0.5");
  const OrderChoice any = choice_of(traffic, machine, 0.002);
  EXPECT_FALSE(any.keeps_given);
  EXPECT_EQ(any.reason, "");
  // The search itself returns the best placement, and the document keeps it.
  const MapResult found = map(traffic, machine);
  EXPECT_EQ(found.cost_after, 11003.0);
  const MapResult kept = with_given_order(found);
  EXPECT_EQ(kept.placement, found.given);
  EXPECT_EQ(kept.cost_after, 11030.0);
  const Json document = to_json(small, found);
  EXPECT_EQ(document["order"], "given");
  EXPECT_EQ(document["found"]["cost"], 11003.0);
  EXPECT_TRUE(document["gain_without_collectives"].is_null());
  expect_error(ErrorCode::usage, {"--min-gain 200", "0 to 100"}, [&] { choice_of(traffic, machine, 2.0); });
}

TEST(OrderChoice, WhatWasGuessedDoesNotMakeANewOrder) {
  const TrafficMatrix sure = traffic_of(4, {{0, 1, 1000}, {2, 3, 1000}});
  const TrafficMatrix both = traffic_of(4, {{0, 1, 1000}, {2, 3, 1000}, {0, 2, 5000}, {1, 3, 5000}});
  const Machine machine = Machine::parse("2x2");
  const OrderChoice guessed = choice_of(both, machine, 0.005, &sure);
  EXPECT_TRUE(guessed.keeps_given);
  EXPECT_LT(*guessed.sure_gain, 0.0);
  EXPECT_NE(guessed.reason.find("with collectives and -900 % without"), std::string::npos) << guessed.reason;
  EXPECT_FALSE(choice_of(both, machine, 0.005).keeps_given);
  const TrafficMatrix silent(4);
  EXPECT_TRUE(choice_of(both, machine, 0.0, &silent).keeps_given);
  // If the known traffic also gains, it decides.
  const TrafficMatrix known = traffic_of(4, {{0, 2, 1000}, {1, 3, 1000}});
  EXPECT_FALSE(choice_of(both, machine, 0.005, &known).keeps_given);
}

TEST(OrderChoice, TheBusiestNodeDecidesBetweenEqualCosts) {
  // A chain over four nodes of one core: every order costs the same, unless the busiest node counts.
  const Machine machine = Machine::parse("4x1");
  const TrafficMatrix traffic = traffic_of(4, {{0, 1, 10}, {1, 2, 10}, {2, 3, 10}});
  MapResult tie = map(traffic, machine);
  EXPECT_EQ(choose_order(tie, machine, {}, 0.005, nullptr).reason, "it is as good as the placement found");
  tie.placement = Placement({1, 0, 2, 3}, 4);
  EXPECT_EQ(choose_order(tie, machine, {}, 0.005, nullptr).reason, "the placement found costs the same");
  tie.after.max_node_out_bytes = 0.9 * tie.before.max_node_out_bytes;
  EXPECT_FALSE(choose_order(tie, machine, {}, 0.005, nullptr).keeps_given);
  EXPECT_TRUE(choose_order(tie, machine, {}, 0.2, nullptr).keeps_given);
}

TEST(OrderChoice, TheSearchKeepsTheCalmerOfTwoThatCostTheSame) {
  // Equal costs are possible with all inter-node traffic from one node, or from two.
  const Machine machine = Machine::parse("4x2");
  const TrafficMatrix traffic = traffic_of(8, {{0, 2, 10}, {0, 4, 10}, {1, 6, 10}, {1, 3, 10}, {5, 7, 10}});
  const MapResult result = map(traffic, machine);
  EXPECT_LE(result.after.max_node_out_bytes, 10.0);
}

}  // namespace
}  // namespace barrio::rankmap
