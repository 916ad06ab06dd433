// The protocol of a round as pure state machines in one process: a scheduler delivers messages in any order that MPI
// allows, and compares each rank's view with the messages written.
#include "barrio/exchange/rounds/round_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/exchange/rounds/broken_round_states.hpp"
#include "tests/exchange/rounds/round_checks.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::exchange::detail {
namespace {

using namespace test;

TEST(RoundProtocol, EveryStateOfEverySystemOfThreeRanks) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  expect_every_state_right(all_scripts(3, 2, Next::grown), "3 ranks, 2 rounds, with discovered neighbours");
  expect_every_state_right(all_scripts(3, 2, Next::kept), "3 ranks, 2 rounds, the same neighbours");
  expect_every_state_right(all_scripts(3, 3, Next::kept), "3 ranks, 3 rounds, the same neighbours");
}

TEST(RoundProtocol, EveryStateWithoutIntroductions) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  for (const int n_ranks : {3, 4}) {
    std::vector<Script> scripts = all_scripts(n_ranks, 3, Next::kept);
    std::erase_if(scripts, [](const Script& script) { return script.has_strangers(); });
    for (Script& script : scripts) script.introduces = false;
    expect_every_state_right(scripts, fmt::format("{} ranks, 3 rounds, neighbours only", n_ranks));
  }
}

TEST(RoundProtocol, RandomOrdersOfRandomGraphs) { expect_random_orders_right(15, 200 / world().size()); }

// The checks above can fail: each variant lacks one thing that the proof of decision 0007 needs.
template <class State>
void expect_caught(const Script& script, std::string_view fault) {
  Model<State> model(script);
  const Verdict verdict = model.search(1'000'000, fault);
  EXPECT_EQ(verdict.fault, fault) << "after " << verdict.n_states << " states";
  EXPECT_FALSE(verdict.steps.empty());
  fmt::print("caught: {}: {}\n", verdict.fault, fmt::join(verdict.steps, ", "));
  // Random orders also find the fault.
  std::mt19937_64 random(seed());
  std::string found;
  for (int repeat = 0; repeat < 10'000 && found.empty(); ++repeat) found = model.walk(random).fault;
  EXPECT_FALSE(found.empty());
}

Script one_round(Lists neighbours, Lists strangers) {
  return {.neighbours = {std::move(neighbours)}, .strangers = {std::move(strangers)}};
}

TEST(RoundProtocol, BrokenVariantsAreCaught) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  const Script line = one_round({{1}, {0, 2}, {1}}, {{2}, {}, {}});
  const Script square = one_round({{1, 3}, {0, 2}, {1, 3}, {0, 2}}, {{2}, {}, {}, {}});
  for (const Script& script : {line, square}) {
    EXPECT_EQ(Model<RoundState>(script).search(1'000'000).fault, "");
    expect_caught<EndsWithoutSecondWave>(script, "the round ended before all messages had come");
    expect_caught<EndsWithoutParcels>(script, "the round ended before all messages had come");
    expect_caught<DoesNotCountLastPackets>(script, "the round ended before all messages had come");
    expect_caught<PassesOnTooEarly>(script, "the round ended before all messages had come");
    expect_caught<KeepsReceiptsBack>(script, "a delivered parcel counts as lost");
    expect_caught<SendsSecondWaveTwice>(script, "an edge carried a wrong number of messages");
    expect_caught<WaitsForSilentRanks>(script, "deadlock");
  }
  expect_caught<CountsLinesTwice>(square, "deadlock");
}

TEST(RoundProtocol, SecondWavesMustWaitWhileARankIsClosing) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  // Rank 2 has sent its last packet to rank 1 and waits for room to send to rank 3; rank 1 answers with a receipt.
  Script line = one_round({{1}, {0, 2}, {1, 3}, {2}}, {{}, {}, {0}, {}});
  EXPECT_EQ(Model<RoundState>(line).search(1'000'000).fault, "");
  line.takes_passes_while_closing = true;
  expect_caught<RoundState>(line, "a second wave with content came before the round was closed");
}

TEST(RoundState, NamesStrangersThatNobodyKnows) {
  const std::vector<Rank> neighbours{1};
  RoundState state;
  state.begin(neighbours, true);
  state.close(std::vector<Introduction>{{2, 0, 0, 8}, {5, 0, 0, 8}});
  state.take_last(0, {});
  EXPECT_TRUE(state.wants_pass());
  EXPECT_FALSE(state.wants_pass());
  EXPECT_TRUE(state.pass_to(0).empty());
  EXPECT_FALSE(state.is_over());
  EXPECT_TRUE(state.take_pass(0, std::vector<Introduction>{{2, 1, 0, 0}}).empty());
  EXPECT_TRUE(state.is_over());
  EXPECT_EQ(state.discovered(), std::vector<Rank>{2});
  EXPECT_EQ(state.unreachable(), std::vector<Rank>{5});
}

TEST(RoundState, PassesOnHowManyParcelsWereLostBefore) {
  const std::vector<Rank> neighbours{1, 2};
  RoundState state;
  state.begin(neighbours, true);
  state.close({});
  state.take_last(0, std::vector<Introduction>{{2, 0, 3, 64}});
  state.take_last(1, {});
  EXPECT_TRUE(state.wants_pass());
  const std::vector<Introduction> told = state.pass_to(1);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].rank, 1);
  EXPECT_EQ(told[0].n_lost, 3);
  EXPECT_EQ(told[0].n_bytes, 64U);
}

TEST(RoundState, DoesNotDependOnTheOrderOfLines) {
  const std::vector<Rank> neighbours{1, 2};
  const std::vector<Introduction> lines{{5, 0, 0, 16}, {6, 0, 0, 24}, {8, 1, 0, 0}, {9, 1, 0, 0}};
  std::vector<std::vector<std::uint64_t>> encoded;
  for (const bool backwards : {false, true}) {
    std::vector<Introduction> order = lines;
    std::vector<std::size_t> channels{0, 1};
    if (backwards) std::ranges::reverse(order);
    if (backwards) std::ranges::reverse(channels);
    RoundState state;
    state.begin(neighbours, true);
    state.close(std::vector<Introduction>{{8, 0, 0, 8}, {9, 0, 0, 8}});
    for (const std::size_t channel : channels)
      state.take_last(channel, std::vector<Introduction>{{neighbours[1 - channel], 0, 0, 8}});
    EXPECT_TRUE(state.wants_pass());
    EXPECT_EQ(state.take_pass(0, order).size(), 2U);
    encoded.push_back(state.encoded());
    state.take_parcel();
    EXPECT_NE(state.encoded(), encoded.back());
  }
  EXPECT_EQ(encoded.front(), encoded.back());
}

}  // namespace
}  // namespace barrio::exchange::detail
