#include "barrio/exchange/engine.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "barrio/exchange/halo.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/cores.hpp"
#include "tests/exchange/rounds/random_messages.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

struct Shape {
  Queues queues;
  int n_threads;
};
constexpr std::array shapes{Shape{Queues::one, 1}, Shape{Queues::one, 2}, Shape{Queues::two, 1}, Shape{Queues::two, 3}};

TEST(Engine, BringsWhatWasSentWithAnyQueues) {
  for (const Shape& shape : shapes) {
    Engine engine(world(), {.queues = shape.queues, .mode = EngineMode::on, .n_threads = shape.n_threads});
    ASSERT_TRUE(engine.is_on());
    for (std::uint64_t which = 100; which < 102; ++which) {
      RandomMessages messages(which, 200'000);
      RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first, {.engine = &engine});
      for (std::uint64_t round = 0; round < 5; ++round) {
        messages.clear();
        exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
        compute_a_while(exchange, which, round);
        for (std::size_t n = 0; round % 2 == 1 && n < messages.in.size(); ++n) {
          const auto one = round == 1 || n == 0 ? exchange.wait_for_arrived() : exchange.next_arrived();
          EXPECT_TRUE(!one || messages.is_right(*one, round));
        }
        exchange.end();
        EXPECT_EQ(exchange.statistics().strategy, Strategy::thread);
        for (std::size_t i = 0; i < messages.in.size(); ++i) EXPECT_TRUE(messages.is_right(i, round));
      }
    }
  }
}

TEST(Engine, SeveralThreadsBeginExchangesOfTheirOwn) {
  constexpr std::size_t n_callers = 3;
  Engine engine(world(), {.queues = Queues::two, .mode = EngineMode::on, .n_threads = 2});
  std::vector<std::unique_ptr<RandomMessages>> messages;
  std::vector<std::unique_ptr<RepeatedExchange>> exchanges;
  for (std::size_t i = 0; i < n_callers; ++i) {
    messages.push_back(std::make_unique<RandomMessages>(110 + i, 100'000));
    exchanges.push_back(std::make_unique<RepeatedExchange>(world(), messages[i]->out, messages[i]->in,
                                                           world().take_tags(1).first,
                                                           RepeatedExchangeOptions{.engine = &engine}));
  }
  std::vector<std::thread> callers;
  std::array<int, n_callers> n_wrong{};
  for (std::size_t caller = 0; caller < n_callers; ++caller) {
    callers.emplace_back([&, caller] {
      RepeatedExchange& exchange = *exchanges[caller];
      for (std::uint64_t round = 0; round < 10; ++round) {
        exchange.begin([&](std::size_t i) { messages[caller]->pack(exchange, i, round); });
        compute_a_while(exchange, 110 + caller, round);
        exchange.end();
        for (std::size_t i = 0; i < messages[caller]->in.size(); ++i)
          if (!messages[caller]->is_right(i, round)) ++n_wrong[caller];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int n : n_wrong) EXPECT_EQ(n, 0);
}

TEST(Engine, AnExchangeOfNothingIsDoneAtOnce) {
  Engine engine(world(), {.mode = EngineMode::on});
  for (int i = 0; i < 100; ++i) {
    RepeatedExchange exchange(world(), {}, {}, 100, {.engine = &engine});
    exchange.begin();
    EXPECT_TRUE(exchange.progress());
    exchange.end();
  }
}

TEST(Engine, CallsAFunctionOnTheThreadThatOwnsMpi) {
  Engine engine(world(), {.mode = EngineMode::on});
  std::thread::id where;
  int sum = 0;
  engine.call([&] {
    where = std::this_thread::get_id();
    sum = mpi::sum(world(), 1);
  });
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_EQ(sum, world().size());
  EXPECT_THROW(engine.call([] { throw Error(ErrorCode::failed, {.subject = "a", .cause = "b"}); }), Error);
}

TEST(Engine, CallsFromItsOwnThreadAtOnce) {
  Engine engine(world(), {.mode = EngineMode::on});
  int n_calls = 0;
  engine.call([&] { engine.call([&] { n_calls += 1; }); });
  EXPECT_EQ(n_calls, 1);
}

TEST(Engine, AReductionKeepsApartFromExchangesThatItHoldsBack) {
  // A ring: each rank owns a range of values, and copies those of the next rank.
  constexpr std::int64_t n_owned = 3000;
  const std::int64_t first = n_owned * world().rank();
  std::vector<GlobalId> copies;
  std::vector<Rank> owners;
  const Rank next = (world().rank() + 1) % world().size();
  for (std::int64_t i = 0; i < n_owned && next != world().rank(); ++i) {
    copies.push_back(GlobalId{n_owned * next + i});
    owners.push_back(next);
  }
  const auto plan = std::make_shared<const HaloPlan>(
      plan_halo(world(), copies, owners, local_id(n_owned), [&](GlobalId id) { return local_id(value(id) - first); }));
  for (const Shape& shape : shapes) {
    Engine engine(world(), {.queues = shape.queues, .mode = EngineMode::on, .n_threads = shape.n_threads});
    std::vector<double> travelling(n_owned + copies.size());
    std::vector<double> reduced(travelling.size());
    HaloExchange<double> exchange(world(), plan, travelling, 1, {.engine = &engine});
    HaloExchange<double> reduction(world(), plan, reduced, 1, {.engine = &engine});
    for (int round = 0; round < 20; ++round) {
      std::ranges::fill(travelling, world().rank() + 100.0 * round);
      std::ranges::fill(reduced, 1.0);
      exchange.begin();
      reduction.reduce(Reduction::sum);
      exchange.end();
      const double copied = copies.empty() ? 0.0 : travelling.back();
      EXPECT_EQ(copied, copies.empty() ? 0.0 : next + 100.0 * round);
      EXPECT_EQ(reduced.front(), copies.empty() ? 1.0 : 2.0);
    }
  }
}

TEST(Engine, IsOffWhereNoCoreIsSpareAndExchangesGoOn) {
  // More threads than any machine has cores.
  Engine engine(world(), {.n_computing_threads = 100'000});
  EXPECT_FALSE(engine.is_on());
  EXPECT_NE(engine.why_off().find("cores"), std::string::npos) << engine.why_off();
  for (const Strategy strategy : {Strategy::automatic, Strategy::thread}) {
    RandomMessages messages(120, 10'000);
    RepeatedExchange exchange(world(), messages.out, messages.in, world().take_tags(1).first,
                              {.strategy = strategy, .engine = &engine});
    exchange.begin([&](std::size_t i) { messages.pack(exchange, i, 0); });
    exchange.end();
    EXPECT_NE(exchange.statistics().strategy, Strategy::thread);
    for (std::size_t i = 0; i < messages.in.size(); ++i) EXPECT_TRUE(messages.is_right(i, 0));
  }
  int called = 0;
  engine.call([&] { ++called; });
  EXPECT_EQ(called, 1);
}

TEST(Engine, CountsTheCoresOfTheNode) {
  const mpi::NodeCores cores = mpi::find_node_cores(world(), 2);
  EXPECT_GE(cores.mine, 1);
  EXPECT_GE(cores.all, cores.mine);
  EXPECT_EQ(cores.n_computing, 2 * world().size());  // a test's ranks share a node
  EXPECT_EQ(cores.n_ranks_compute, world().size());
  EXPECT_FALSE(cores.spare.empty());
  const Engine engine(world());
  EXPECT_EQ(engine.is_on(), cores.all >= 2 * world().size());
}

TEST(Engine, RefusesNumbersThatMakeNoSense) {
  EXPECT_THROW(Engine(world(), {.n_threads = 0}), Error);
  EXPECT_THROW(Engine(world(), {.n_computing_threads = -1}), Error);
}

}  // namespace
}  // namespace barrio::exchange
