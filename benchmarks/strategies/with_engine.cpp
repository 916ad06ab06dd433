#include <algorithm>

#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/strategy.hpp"
#include "benchmarks/strategies/result.hpp"
#include "benchmarks/strategies/workload.hpp"

namespace barrio::bench {
namespace {

using exchange::Engine;
using exchange::Queues;
using exchange::Strategy;

// The spare core copies for both ranks, message by message and from the caches of other cores, which took up to four
// times as long as two cores. Computing is long enough to hide this.
constexpr double compute_of_exchange = 8.0;
constexpr std::uint64_t smallest_bytes = std::uint64_t{64} << 10U;  // below, there is nothing to hide

struct Kind {
  const char* name;
  Queues queues;
  int n_threads;
};
constexpr std::array kinds{Kind{"one queue, 1 thread", Queues::one, 1}, Kind{"one queue, 2 threads", Queues::one, 2},
                           Kind{"two queues, 1 thread each", Queues::two, 1},
                           Kind{"two queues, 2 threads each", Queues::two, 2}};

constexpr std::array plain{Strategy::delayed_waits, Strategy::staggered_tests, Strategy::persistent};

struct Shortest {
  double alone = 1e30;
  double compute = 1e30;
  std::array<double, plain.size()> without = {1e30, 1e30, 1e30};
  double with = 1e30;
};

/// Measure one engine at a time: threads of another would use its core.
Json measure_kind(mpi::Context& context, const StrategyOptions& options, Computing& computing, std::uint64_t n_bytes,
                  const Kind& kind) {
  // Rank 0 computes; the others wait and yield their cores.
  const bool computes = context.is_root();
  Engine engine(context, {.queues = kind.queues, .n_threads = kind.n_threads, .n_computing_threads = computes ? 1 : 0});
  RingMessages messages(context, n_bytes, 1);
  std::vector<std::unique_ptr<exchange::RepeatedExchange>> without;
  for (const Strategy strategy : plain) without.push_back(messages.make_exchange({.strategy = strategy}));
  const auto with = messages.make_exchange({.strategy = Strategy::automatic, .engine = &engine});
  std::uint64_t round = 0;
  bool is_right = true;
  const auto shorten = [&](double& shortest, exchange::RepeatedExchange& exchange, std::uint64_t n_rows) {
    const RoundTimes times = time_round(context, messages, exchange, computing, computes ? n_rows : 0, ++round);
    is_right = is_right && times.is_right;
    shortest = std::min(shortest, times.total);
  };
  Shortest shortest;
  for (int i = 0; i < 20; ++i) shorten(shortest.alone, *without[0], 0);
  const std::uint64_t n_rows = computing.rows_of(compute_of_exchange * shortest.alone);
  for (int repeat = 0; repeat < 5 * options.n_repeats; ++repeat) {
    shorten(shortest.alone, *without[0], 0);
    shortest.compute =
        std::min(shortest.compute, time_caller(context, messages, *with, computing, computes ? n_rows : 0, ++round));
    for (std::size_t i = 0; i < plain.size(); ++i) shorten(shortest.without[i], *without[i], n_rows);
    shorten(shortest.with, *with, n_rows);
  }
  check_contents(is_right, "engine");
  Json row{{"bytes", n_bytes},
           {"engine", kind.name},
           {"is_on", engine.is_on()},
           {"why_off", engine.why_off()},
           {"alone_seconds", shortest.alone},
           {"compute_seconds", shortest.compute},
           {"with_seconds", shortest.with},
           {"done_before_end", with->statistics().n_done_before_end},
           {"rounds", with->statistics().n_rounds},
           {"hidden", 1.0 - (shortest.with - shortest.compute) / shortest.alone}};
  for (std::size_t i = 0; i < plain.size(); ++i)
    row["without"].push_back({{"name", exchange::name_of(plain[i])}, {"seconds", shortest.without[i]}});
  const double best = *std::ranges::min_element(shortest.without);
  row["best_without_seconds"] = best;
  row["best_without_hidden"] = 1.0 - (best - shortest.compute) / shortest.alone;
  return row;
}

}  // namespace

Json measure_engine(mpi::Context& outer, const StrategyOptions& options) {
  mpi::WaitPolicy wait = outer.wait_policy();
  if (!outer.is_root()) wait.spin_polls = 0;
  mpi::Context context(outer.comm(), {.profile = outer.profile(), .wait = wait});
  Computing computing;
  Json result = Json::object();
  {
    const Engine everyone(context, {.n_computing_threads = 1});
    result["with_all_computing"] = {{"is_on", everyone.is_on()}, {"why_off", everyone.why_off()}};
  }
  result["cases"] = Json::array();
  for (const std::uint64_t n_bytes : options.sizes)
    for (const Kind& kind : kinds)
      if (n_bytes >= smallest_bytes)
        result["cases"].push_back(measure_kind(context, options, computing, n_bytes, kind));
  return result;
}

}  // namespace barrio::bench
