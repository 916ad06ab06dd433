#include <algorithm>
#include <vector>

#include "barrio/exchange/strategy.hpp"
#include "benchmarks/strategies/result.hpp"
#include "benchmarks/strategies/workload.hpp"

namespace barrio::bench {
namespace {

using exchange::Strategy;

constexpr double shortest_compute_seconds = 200e-6;

struct Best {
  double total = 1e30;
  std::vector<double> waits;
  [[nodiscard]] double wait() {
    std::ranges::sort(waits);
    return waits[waits.size() / 2];
  }
};

}  // namespace

Json measure_overlap(mpi::Context& context, const StrategyOptions& options) {
  const std::vector<Strategy> strategies{Strategy::delayed_waits, Strategy::staggered_tests, Strategy::probe_pump,
                                         Strategy::persistent, Strategy::automatic};
  constexpr int n_inner = 10;  // rounds of each strategy in a repetition
  Computing computing;
  Json rows = Json::array();
  for (const std::uint64_t n_bytes : options.sizes) {
    RingMessages messages(context, n_bytes, 1);
    std::vector<std::unique_ptr<exchange::RepeatedExchange>> exchanges;
    for (const Strategy strategy : strategies) exchanges.push_back(messages.make_exchange({.strategy = strategy}));
    std::uint64_t round = 0;
    bool is_right = true;
    const auto run = [&](std::size_t which, std::uint64_t n_rows) {
      const RoundTimes times = time_round(context, messages, *exchanges[which], computing, n_rows, ++round);
      is_right = is_right && times.is_right;
      return times;
    };
    double alone = 1e30;
    for (int i = 0; i < 20; ++i) alone = std::min(alone, run(0, 0).total);
    const std::uint64_t n_rows = computing.rows_of(std::max(shortest_compute_seconds, 4 * alone));
    std::vector<Best> best(strategies.size());
    double compute = 1e30;
    // What is copied is as cold then as it is beside computing.
    double copy = 1e30;
    RingMessages nothing(context, 0, 0);
    const auto idle = nothing.make_exchange({.strategy = Strategy::delayed_waits});
    for (int repeat = 0; repeat < options.n_repeats * n_inner; ++repeat) {
      compute = std::min(compute, time_round(context, nothing, *idle, computing, n_rows, 0).total);
      copy = std::min(copy, run(strategies.size() - 1, 0).total);
      for (std::size_t which = 0; which < strategies.size(); ++which) {
        const RoundTimes times = run(which, n_rows);
        best[which].total = std::min(best[which].total, times.total);
        best[which].waits.push_back(times.wait);
      }
    }
    check_contents(is_right, "overlap");
    Json row{{"bytes", n_bytes}, {"copy_seconds", copy}, {"compute_seconds", compute}};
    for (std::size_t which = 0; which < strategies.size(); ++which)
      row["strategies"].push_back({{"name", exchange::name_of(strategies[which])},
                                   {"wait_seconds", best[which].wait()},
                                   {"total_seconds", best[which].total}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace barrio::bench
