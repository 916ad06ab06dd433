#include "barrio/exchange/repeated_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/repeated/strategy_choice.hpp"
#include "barrio/exchange/repeated/test_pace.hpp"
#include "barrio/exchange/repeated/wires.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/rounds/random_messages.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

constexpr std::uint64_t above_eager_limits = 200'000;

#ifdef BARRIO_MPI_SMPI
constexpr std::size_t n_candidates = 2;  // of `automatic`: no persistent requests there
#else
constexpr std::size_t n_candidates = 3;
#endif

/// Return all strategies without an engine.
std::vector<Strategy> plain_strategies() {
  std::vector<Strategy> all(all_strategies.begin(), all_strategies.end());
  std::erase(all, Strategy::thread);
  return all;
}

TEST(RepeatedExchange, EveryStrategyBringsWhatWasSent) {
  constexpr std::uint64_t n_rounds = 6;
  for (std::uint64_t which = 0; which < 3; ++which) {
    for (const Strategy strategy : plain_strategies()) {
      RandomMessages messages(which, above_eager_limits);
      RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first, {.strategy = strategy});
      for (std::uint64_t round = 0; round < n_rounds; ++round) {
        messages.clear();
        exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
        EXPECT_TRUE(exchange.is_travelling());
        compute_a_while(exchange, which, round);
        std::set<std::size_t> arrived;
        exchange.end([&](std::size_t i) {
          EXPECT_TRUE(messages.is_right(i, round)) << name_of(strategy) << ", message " << i << ", round " << round;
          EXPECT_TRUE(arrived.insert(i).second) << "twice";
        });
        EXPECT_EQ(arrived.size(), messages.in.size()) << name_of(strategy);
        EXPECT_FALSE(exchange.is_travelling());
      }
      EXPECT_EQ(exchange.statistics().n_rounds, n_rounds);
    }
  }
}

TEST(RepeatedExchange, RanksMayChooseForThemselves) {
  // All except the one that changes the messages.
  std::vector<Strategy> strategies{Strategy::wait_each, Strategy::delayed_waits, Strategy::staggered_tests,
                                   Strategy::wait_some, Strategy::persistent};
  for (std::uint64_t which = 10; which < 14; ++which) {
    const Strategy mine = strategies[number({80, which, word(world().rank())}) % strategies.size()];
    RandomMessages messages(which, above_eager_limits);
    RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first, {.strategy = mine});
    for (std::uint64_t round = 0; round < 4; ++round) {
      messages.clear();
      exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
      compute_a_while(exchange, which, round);
      exchange.end();
      for (std::size_t i = 0; i < messages.in.size(); ++i) EXPECT_TRUE(messages.is_right(i, round)) << name_of(mine);
    }
  }
}

TEST(RepeatedExchange, AutomaticTriesAllAndStaysRight) {
  RandomMessages messages(20, 5000);
  RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first);
  std::set<Strategy> seen;
  for (std::uint64_t round = 0; round < 60; ++round) {
    messages.clear();
    exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
    for (int i = 0; round % 2 == 0 && i < 20 && !exchange.progress(); ++i) {
    }
    exchange.end();
    seen.insert(exchange.statistics().strategy);
    for (std::size_t i = 0; i < messages.in.size(); ++i) ASSERT_TRUE(messages.is_right(i, round));
  }
  EXPECT_EQ(seen.size(), n_candidates);
}

TEST(RepeatedExchange, WhatIsLearntOutlivesAnExchangeThatIsMadeAnew) {
  const auto run = [](const std::string& message_class) {
    std::set<Strategy> seen;
    for (std::uint64_t life = 0; life < 12; ++life) {
      RandomMessages messages(21 + life, 5000);
      RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first,
                                {.message_class = message_class});
      for (std::uint64_t round = 0; round < 8; ++round) {
        messages.clear();
        exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
        compute_a_while(exchange, life, round);
        exchange.end();
        seen.insert(exchange.statistics().strategy);
        for (std::size_t i = 0; i < messages.in.size(); ++i) EXPECT_TRUE(messages.is_right(i, round));
      }
    }
    return seen.size();
  };
  EXPECT_EQ(run("a mesh that changes"), n_candidates);
  EXPECT_EQ(run(""), 2U) << "eight rounds are too few for one alone";
}

/// A lasting exchange learns, although others of its class come and go between its rounds.
TEST(RepeatedExchange, OneOfAClassLearnsForAll) {
  const RepeatedExchangeOptions options{.message_class = "one for all"};
  RepeatedExchange lasting(world(), {}, {}, world().take_tags(1).first, options);
  std::set<Strategy> of_lasting;
  std::set<Strategy> of_others;
  for (int round = 0; round < 40; ++round) {
    RepeatedExchange other(world(), {}, {}, world().take_tags(1).first, options);
    for (RepeatedExchange* one : {&lasting, &other}) {
      one->begin();
      one->end();
    }
    of_lasting.insert(lasting.statistics().strategy);
    of_others.insert(other.statistics().strategy);
  }
  EXPECT_EQ(of_lasting.size(), n_candidates);
  EXPECT_LT(of_others.size(), n_candidates) << "they follow what is chosen";
  // When it begins no more rounds, another exchange learns.
  RepeatedExchange heir(world(), {}, {}, world().take_tags(1).first, options);
  std::set<Strategy> of_heir;
  for (int round = 0; round < 2000; ++round) {
    heir.begin();
    heir.end();
    of_heir.insert(heir.statistics().strategy);
  }
  EXPECT_EQ(of_heir.size(), n_candidates);
}

/// Messages are handed out on arrival, once each, under every strategy. Some remain for end(), in some rounds all do.
TEST(RepeatedExchange, HandsOutWhatHasArrivedWhileTheRestTravels) {
  constexpr std::uint64_t n_rounds = 6;
  for (std::uint64_t which = 40; which < 43; ++which) {
    for (const Strategy strategy : plain_strategies()) {
      RandomMessages messages(which, above_eager_limits);
      RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first,
                                {.strategy = strategy, .is_timed = which == 41});
      for (std::uint64_t round = 0; round < n_rounds; ++round) {
        messages.clear();
        std::set<std::size_t> arrived;
        const auto take = [&](std::size_t i) {
          EXPECT_TRUE(messages.is_right(i, round)) << name_of(strategy) << ", message " << i << ", round " << round;
          EXPECT_TRUE(arrived.insert(i).second) << "twice";
        };
        exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
        compute_a_while(exchange, which, round);
        for (int i = 0; i < 3 && round % 3 != 2; ++i) {
          if (const auto one = exchange.next_arrived()) take(*one);
          exchange.progress();
        }
        const std::size_t n_before_end = round % 3 == 0 ? messages.in.size() : messages.in.size() / 2;
        while (round % 3 != 2 && arrived.size() < n_before_end) {
          const auto one = exchange.wait_for_arrived();
          ASSERT_TRUE(one);
          take(*one);
        }
        if (round % 3 == 0) {
          EXPECT_FALSE(exchange.wait_for_arrived());
          EXPECT_FALSE(exchange.next_arrived());
        }
        exchange.end(take);
        EXPECT_EQ(arrived.size(), messages.in.size()) << name_of(strategy);
      }
      const RepeatedExchangeSeconds& seconds = exchange.statistics().seconds;
      const std::array all{seconds.pack, seconds.start, seconds.test, seconds.wait, seconds.hand_out};
      for (const double one : all) EXPECT_GE(one, which == 41 ? -1e-9 : 0.0);
      if (which != 41) {
        EXPECT_EQ(*std::ranges::max_element(all), 0.0) << "nobody asked for the time";
      } else if (!messages.in.empty()) {
        EXPECT_GT(*std::ranges::max_element(all), 0.0);
      }
    }
  }
}

TEST(RepeatedExchange, SeveralTravelAtOnceWithOneTag) {
  const int tag = world().take_tags(1).first;
  RandomMessages first(30, above_eager_limits);
  RandomMessages second(31, above_eager_limits);
  RepeatedExchange a(world(), first.out, first.in, tag, {.strategy = Strategy::staggered_tests});
  RepeatedExchange b(world(), second.out, second.in, tag, {.strategy = Strategy::persistent});
  for (std::uint64_t round = 0; round < 4; ++round) {
    a.begin([&](std::size_t i) { first.pack(a, i, round); });
    b.begin([&](std::size_t i) { second.pack(b, i, round); });
    compute_a_while(b, 30, round);
    b.end();
    a.end();
    for (std::size_t i = 0; i < first.in.size(); ++i) EXPECT_TRUE(first.is_right(i, round));
    for (std::size_t i = 0; i < second.in.size(); ++i) EXPECT_TRUE(second.is_right(i, round));
  }
}

TEST(RepeatedExchange, CoalescedSendsOneMessagePerPeer) {
  const Rank next = (world().rank() + 1) % world().size();
  const Rank previous = (world().rank() + world().size() - 1) % world().size();
  std::vector<std::vector<std::byte>> places(5, std::vector<std::byte>(100));
  std::vector<Outgoing> out(5, {next, 100});
  std::vector<Incoming> in;
  for (auto& place : places) in.push_back({previous, place});
  const unsigned n_words = world().size() > 1 ? 1 : 0;  // what it tells its peer in the first round
  const std::uint64_t before = world().counters().messages_sent;
  for (const auto& [strategy, n_messages] : {std::pair{Strategy::coalesced, 1U}, {Strategy::delayed_waits, 5U}}) {
    RepeatedExchange exchange(world(), out, in, world().take_tags(1).first, {.strategy = strategy});
    const CallsSince calls;
    exchange.begin();
    exchange.end();
#ifndef BARRIO_MPI_SMPI
    EXPECT_EQ(calls.sends(), n_messages + n_words);
#endif
    EXPECT_EQ(calls.collectives(), 0U);
  }
  EXPECT_EQ(world().counters().messages_sent - before, 6U + 2 * n_words);
}

TEST(RepeatedExchange, NothingToSendIsDoneAtOnce) {
  RepeatedExchange exchange(world(), {}, {}, world().take_tags(1).first);
  exchange.begin();
  EXPECT_TRUE(exchange.progress());
  exchange.end();
}

TEST(RepeatedExchange, RefusesWhatCannotBe) {
  const std::vector<Outgoing> out{{world().size(), 8}};
  const int tag = world().take_tags(1).first;
  try {
    RepeatedExchange exchange(world(), out, {}, tag);
    FAIL() << "a rank beyond the last";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.cause().find("must be 0 to"), std::string::npos);
  }
  try {
    RepeatedExchange exchange(world(), {}, {}, tag, {.strategy = Strategy::thread});
    FAIL() << "a thread without an engine";
  } catch (const Error& error) {
    EXPECT_NE(error.cause().find("needs an engine"), std::string::npos);
  }
}

TEST(Engine, RefusesAnMpiForOneThread) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "an engine is off on the simulator";
#endif
  int level = 0;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) GTEST_SKIP() << "this MPI gives more than it was asked for";
  try {
    const Engine engine(world(), {.mode = EngineMode::on});
    FAIL() << "threads would call MPI";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.remedy().find("MPI_THREAD_SERIALIZED"), std::string::npos) << error.remedy();
  }
  const Engine off(world(), {.mode = EngineMode::off});
  EXPECT_FALSE(off.is_on());
  EXPECT_NE(off.why_off().find("options"), std::string::npos);
}

TEST(Strategies, HaveNamesThatAreUnderstood) {
  for (const Strategy strategy : all_strategies) EXPECT_EQ(strategy_of(name_of(strategy)), strategy);
  EXPECT_FALSE(strategy_of("fastest"));
}

/// Simulate rounds on a machine on which each strategy takes a known time. @return the choice
Strategy chosen_after(detail::StrategyChoice& choice, int n_rounds, double tests, double waits, double persistent) {
  for (int i = 0; i < n_rounds; ++i) {
    const Strategy now = choice.now();
    choice.end_round(now == Strategy::staggered_tests ? tests : now == Strategy::delayed_waits ? waits : persistent);
  }
  return choice.chosen();
}

TEST(StrategyChoice, TakesTheFastestAndKeepsItAgainstNoise) {
  const std::vector<Strategy> all{Strategy::staggered_tests, Strategy::delayed_waits, Strategy::persistent};
  detail::StrategyChoice choice(all);
  EXPECT_EQ(choice.now(), Strategy::staggered_tests);
  EXPECT_EQ(chosen_after(choice, 40, 10.0, 8.0, 9.0), Strategy::delayed_waits);
  // Two percent are noise.
  EXPECT_EQ(chosen_after(choice, 4000, 9.8, 10.0, 9.8), Strategy::delayed_waits);
  // Ten percent are not, at the next trial.
  EXPECT_EQ(chosen_after(choice, 20'000, 9.0, 10.0, 8.9), Strategy::persistent);
}

/// Exchanges of eight rounds, each 1.5 times as large as the one before: times are comparable only within one exchange.
TEST(StrategyChoice, LearnsOverExchangesOfOtherSizes) {
  for (const auto& [fastest, times] : {std::pair{Strategy::staggered_tests, std::array{8.0, 9.0, 10.0}},
                                       {Strategy::delayed_waits, std::array{9.0, 8.0, 9.5}},
                                       {Strategy::persistent, std::array{10.0, 9.5, 9.0}}}) {
    detail::StrategyChoice choice({Strategy::staggered_tests, Strategy::delayed_waits, Strategy::persistent});
    double size = 1.0;
    for (int life = 0; life < 12; ++life, size *= 1.5) {
      if (life > 0) choice.begin_anew();
      // The time of an exchange's last round is never known.
      chosen_after(choice, 7, size * times[0], size * times[1], size * times[2]);
    }
    EXPECT_EQ(choice.chosen(), fastest);
  }
}

/// Exchanges of one round each give no evidence, and trials do not continue for ever.
TEST(StrategyChoice, KeepsItsFirstWithoutEvidence) {
  detail::StrategyChoice choice({Strategy::staggered_tests, Strategy::delayed_waits, Strategy::persistent});
  for (int life = 0; life < 200; ++life) {
    choice.begin_anew();
    choice.end_round(life % 2 == 0 ? 1.0 : 1e-3);
  }
  EXPECT_EQ(choice.chosen(), Strategy::staggered_tests);
  EXPECT_EQ(choice.now(), Strategy::staggered_tests);
}

TEST(StrategyChoice, TriesAreRare) {
  detail::StrategyChoice choice({Strategy::staggered_tests, Strategy::delayed_waits, Strategy::persistent});
  int n_other = 0;
  constexpr int n_rounds = 20'000;
  for (int i = 0; i < n_rounds; ++i) {
    if (choice.now() != choice.chosen()) ++n_other;
    choice.end_round(1.0);
  }
  EXPECT_GT(n_other, 0);
  EXPECT_LT(n_other, n_rounds / 100);
}

TEST(TestPace, SpreadsTestsOverTheCallsOfARound) {
  detail::TestPace pace(8, 1e-6, false);
  const auto tests_in = [&](int n_calls, double seconds) {
    int n = 0;
    pace.begin_round();
    for (int i = 0; i < n_calls; ++i) {
      if (!pace.is_due()) continue;
      ++n;
      pace.tested(false);
    }
    pace.end_round(seconds);
    return n;
  };
  EXPECT_EQ(tests_in(900, 1.0), 900);  // the number of calls is not known yet
  EXPECT_EQ(tests_in(900, 1.0), 9);
  tests_in(900, 200e-6);  // one percent is two tests
  EXPECT_EQ(tests_in(900, 200e-6), 3);
  tests_in(3, 1e-6);  // fewer calls than expected
  EXPECT_GE(tests_in(3, 1e-6), 1);
}

TEST(TestPace, GoesOnWhileDataComesIn) {
  detail::TestPace pace(2, 0.0, true);
  pace.begin_round();
  for (int i = 0; i < 90; ++i)
    if (pace.is_due()) pace.tested(false);
  pace.end_round(1.0);
  pace.begin_round();
  while (!pace.is_due()) {
  }
  pace.tested(true);
  EXPECT_TRUE(pace.is_due());
  pace.tested(false);
  EXPECT_FALSE(pace.is_due());
}

TEST(Wires, AreJoinedWhereThatIsCheaper) {
  detail::Coalescing coalescing{.is_on = true, .eager_bytes = 4000, .handshake_seconds = 3e-6};
  EXPECT_FALSE(coalescing.pays(1, 100, 100));
  EXPECT_TRUE(coalescing.pays(3, 3000, 1000));
  EXPECT_FALSE(coalescing.pays(5, 5000, 1000)) << "each is eager, all together are not";
  EXPECT_TRUE(coalescing.pays(4, 4 * 16'384, 16'384)) << "none is eager";
  EXPECT_FALSE(coalescing.pays(4, 4U << 20U, 1U << 20U)) << "the copy would cost more";
  EXPECT_FALSE(coalescing.pays(4, 1U << 20U, 1U << 18U));
  coalescing.handshake_seconds = 2e-4;  // sockets
  EXPECT_TRUE(coalescing.pays(4, 1U << 20U, 1U << 18U));
}

TEST(Wires, BothSidesComeToTheSameMessages) {
  for (std::uint64_t which = 0; which < 50; ++which) {
    // Messages that one rank sends and those that others expect from it, in any order.
    std::vector<Outgoing> out;
    std::vector<std::vector<std::byte>> places;
    for (std::uint64_t i = 0; i < 12; ++i)
      out.push_back({static_cast<Rank>(number({90, which, i}) % 3), number({91, which, i}) % 3000});
    for (const Outgoing& one : out) places.emplace_back(one.n_bytes);
    std::vector<Incoming> in;
    for (std::size_t i = 0; i < out.size(); ++i) in.push_back({out[i].to, places[i]});
    for (const detail::Coalescing& coalescing : {detail::Coalescing{},
                                                 {.is_on = true, .eager_bytes = 4096, .handshake_seconds = 3e-6},
                                                 {.is_on = true, .is_always = true}}) {
      const detail::Wires wires(out, in, coalescing);
      ASSERT_EQ(wires.out.size(), wires.in.size());
      std::array<int, 3> n_of_peer{};
      for (std::size_t w = 0; w < wires.out.size(); ++w) {
        EXPECT_EQ(wires.out[w].n_bytes, wires.in[w].n_bytes);
        EXPECT_EQ(wires.out[w].messages, wires.in[w].messages);
        n_of_peer[wires.out[w].peer] += 1;
      }
      if (!coalescing.is_on) {
        EXPECT_EQ(wires.out.size(), out.size());
      }
      if (coalescing.is_always) {
        EXPECT_LE(*std::ranges::max_element(n_of_peer), 1);
      }
    }
  }
}

}  // namespace
}  // namespace barrio::exchange
