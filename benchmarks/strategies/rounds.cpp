#include "barrio/exchange/strategy.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/strategies/result.hpp"
#include "benchmarks/strategies/workload.hpp"

namespace barrio::bench {

using exchange::Strategy;

Json measure_rounds(mpi::Context& context, const StrategyOptions& options) {
  constexpr std::uint64_t n_rounds = 10;
  Computing computing;
  Json rows = Json::array();
  for (const std::uint64_t n_bytes : options.sizes) {
    RingMessages messages(context, n_bytes, 1);
    for (const Strategy strategy : exchange::all_strategies) {
      if (strategy == Strategy::thread) continue;
      const auto exchange = messages.make_exchange({.strategy = strategy});
      time_rounds(context, messages, *exchange, computing, 0, 2);
      const mpi::Counters before = context.counters();
      const RoundTimes times = time_rounds(context, messages, *exchange, computing, 0, n_rounds);
      check_contents(times.is_right, "rounds");
      // The benchmark's own barrier and reduction around the rounds.
      constexpr std::uint64_t own_collectives = 2;
      const auto n_messages = static_cast<double>(context.counters().messages_sent - before.messages_sent);
      const auto n_collectives =
          static_cast<double>(context.counters().collectives - before.collectives - own_collectives);
      rows.push_back({{"name", exchange::name_of(strategy)},
                      {"bytes", n_bytes},
                      {"seconds", times.total},
                      {"messages_of_a_rank", mpi::max(context, n_messages) / n_rounds},
                      {"collectives", mpi::max(context, n_collectives)}});
    }
  }
  return rows;
}

}  // namespace barrio::bench
