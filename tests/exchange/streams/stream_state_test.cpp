// The protocol of a stream and the search for its end as pure state machines in one process: every order of arrival
// that MPI allows, and broken variants that the search must catch.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/exchange/speech.hpp"
#include "tests/exchange/streams/stream_model.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::exchange::detail {
namespace {

using namespace test;

constexpr std::uint64_t max_states = 3'000'000;

/// Systems of three ranks: chains of messages, crossing ones, long ones, drains with nothing to do.
std::vector<StreamScript> systems() {
  std::vector<StreamScript> scripts;
  for (const std::uint32_t window : {1U, 2U}) {
    scripts.push_back({3, window, {{{0, 1, 3, false}}, {}}});
    scripts.push_back({3, window, {{{0, 1, 1, false}, {0, 1, 0, true}}, {{1, 0, 1, false}}}});
    scripts.push_back({2, window, {{{0, 1, 0, false}, {0, 1, 0, false}, {0, 1, 1, false}, {1, 0, 0, false}}}});
    scripts.push_back({2, window, {{{0, 1, 0, true}, {0, 1, 0, false}, {0, 1, 0, true}, {1, 0, 1, false}}}});
    scripts.push_back({2, window, {{{0, 1, 2, false}}, {{1, 0, 0, false}, {0, 1, 0, true}}, {}}});
    scripts.push_back({3, window, {{{1, 0, 1, false, 2}}}});
  }
  return scripts;
}

TEST(StreamProtocol, EveryStateOfSystemsOfTwoAndThreeRanks) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  std::uint64_t n_states = 0;
  for (const StreamScript& script : systems()) {
    const StreamVerdict verdict = search_streams<PairState, QuiescenceState>(script, max_states);
    ASSERT_EQ(verdict.fault, "") << fmt::format("{}", fmt::join(verdict.steps, ", "));
    n_states += verdict.n_states;
  }
  fmt::print("{} systems, {} states\n", systems().size(), n_states);
}

TEST(StreamProtocol, RandomOrdersOfRandomSystems) {
  std::mt19937_64 random(number({60, word(world().rank())}));
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int n_ranks = 2 + static_cast<int>(random() % 5);
    StreamScript script{n_ranks, 1 + static_cast<std::uint32_t>(random() % 4), {}};
    for (std::uint64_t d = random() % 3 + 1; d > 0; --d) {
      std::vector<StreamMessage>& messages = script.drains.emplace_back();
      for (std::uint64_t m = random() % 8; m > 0; --m) {
        const int from = static_cast<int>(random() % static_cast<std::uint64_t>(n_ranks));
        const int step = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(n_ranks - 1));
        messages.push_back({from, (from + step) % n_ranks, static_cast<int>(random() % 5), random() % 3 == 0,
                            n_ranks > 2 ? 1 + static_cast<int>(random() % 2) : 1});
      }
    }
    const std::string fault = walk_streams<PairState, QuiescenceState>(script, random, 100'000);
    ASSERT_EQ(fault, "") << "system " << repeat << ", seed " << seed();
  }
}

// The checks above can fail: each variant lacks one thing.
struct NeverAcknowledges : PairState {
  using PairState::PairState;
  [[nodiscard]] static bool must_acknowledge() noexcept { return false; }
};
struct IgnoresTheWindow : PairState {
  using PairState::PairState;
  [[nodiscard]] static bool may_send() noexcept { return true; }
};
struct LetsShortOnesOvertake : PairState {
  using PairState::PairState;
  void arrive(Ticket ticket, bool is_here) {
    if (is_here) {
      early.push_back(ticket);
    } else {
      PairState::arrive(ticket, false);
    }
  }
  [[nodiscard]] std::optional<Ticket> next() {
    if (early.empty()) return PairState::next();
    const Ticket ticket = early.front();
    early.pop_front();
    return ticket;
  }
  std::deque<Ticket> early = {};
};
struct AcknowledgesUnread : PairState {
  using PairState::PairState;
  void arrive(Ticket ticket, bool is_here) {
    PairState::arrive(ticket, is_here);
    PairState::finish();
  }
  static void finish() noexcept {}
};
struct BelievesOneWave : QuiescenceState {
  void take(const Counts& sums) noexcept {
    QuiescenceState::take(sums);
    is_believed = sums[0] == sums[1];
  }
  void begin() noexcept {
    QuiescenceState::begin();
    is_believed = false;
  }
  [[nodiscard]] bool is_over() const noexcept { return is_believed; }
  bool is_believed = true;
};

template <class Pair, class Quiet>
void expect_caught(const StreamScript& script, std::string_view fault) {
  const StreamVerdict verdict = search_streams<Pair, Quiet>(script, max_states);
  EXPECT_EQ(verdict.fault, fault);
  fmt::print("caught after {} states: {}: {}\n", verdict.n_states, verdict.fault, fmt::join(verdict.steps, ", "));
}

TEST(StreamProtocol, BrokenVariantsAreCaught) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  const StreamScript one_way{2, 1, {{{0, 1, 0, false}, {0, 1, 0, false}}}};
  expect_caught<NeverAcknowledges, QuiescenceState>(one_way, "the end is out of reach");
  expect_caught<IgnoresTheWindow, QuiescenceState>(one_way, "more packets than the window");
  expect_caught<AcknowledgesUnread, QuiescenceState>(
      {2, 2, {{{0, 1, 0, false}, {0, 1, 0, false}, {0, 1, 0, false}, {0, 1, 0, false}}}},
      "more packets than the window");
  const StreamScript long_first{2, 2, {{{0, 1, 0, true}, {0, 1, 0, false}}}};
  expect_caught<LetsShortOnesOvertake, QuiescenceState>(long_first, "messages of one rank came in another order");
  // Rank 0 reads a message after it has contributed, and writes two; one is read and counted, so the sums are equal.
  const StreamScript fan{3, 2, {{{1, 0, 1, false, 2}}}};
  EXPECT_EQ((search_streams<PairState, QuiescenceState>(fan, max_states).fault), "");
  expect_caught<PairState, BelievesOneWave>(fan, "it was over too early");
  const StreamScript ahead{2, 1, {{}, {{0, 1, 0, false}}}, false, false};
  expect_caught<PairState, QuiescenceState>(ahead, "a message was read in another drain than the one it was sent for");
  const StreamScript counting{2, 1, {{{0, 1, 0, true}}}, true};
  expect_caught<PairState, QuiescenceState>(counting, "it was over too early");
}

}  // namespace
}  // namespace barrio::exchange::detail
