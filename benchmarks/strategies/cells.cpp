#include <fmt/format.h>

#include <algorithm>

#include "barrio/exchange/strategy.hpp"
#include "benchmarks/strategies/result.hpp"
#include "benchmarks/strategies/workload.hpp"

namespace barrio::bench {
namespace {

using exchange::Strategy;

constexpr double shortest_cell_seconds = 20e-6;
constexpr double compute_of_cell = 2.0;  // computing of a round, relative to its exchange alone

/// Measure one cell. @param rounds_of_life  after which each exchange is remade; 0: never
Json measure_cell(mpi::Context& context, const StrategyOptions& options, Computing& computing, std::uint64_t n_bytes,
                  double imbalance, int n_messages, std::uint64_t rounds_of_life) {
  std::vector<Strategy> strategies;
  for (const Strategy strategy : exchange::all_strategies)
    if (strategy != Strategy::thread) strategies.push_back(strategy);
  RingMessages messages(context, n_bytes, n_messages);
  std::vector<std::unique_ptr<exchange::RepeatedExchange>> exchanges;
  const std::string message_class =
      rounds_of_life > 0 ? fmt::format("{} x {}, {}", n_bytes, n_messages, imbalance) : "";
  const auto make = [&](Strategy strategy) {
    return messages.make_exchange({.strategy = strategy, .message_class = message_class});
  };
  for (const Strategy strategy : strategies) exchanges.push_back(make(strategy));

  double alone = 1e30;
  for (int i = 0; i < 10; ++i)
    alone = std::min(alone, time_round(context, messages, *exchanges[1], computing, 0, i).total);
  const double compute = std::max(shortest_cell_seconds, compute_of_cell * alone);
  const double mine = context.rank() % 2 == 1 ? compute * (1.0 + imbalance) : compute;
  const std::uint64_t n_rows = computing.rows_of(mine);
  const double round = compute * (1.0 + imbalance) + alone;
  const std::uint64_t n_lives =
      rounds_of_life == 0
          ? 1
          : std::max<std::uint64_t>(
                static_cast<std::uint64_t>(options.batch_seconds / round / static_cast<double>(rounds_of_life)), 1);
  const std::uint64_t n_rounds =
      rounds_of_life > 0 ? rounds_of_life
                         : std::max<std::uint64_t>(static_cast<std::uint64_t>(options.batch_seconds / round), 8);

  std::vector<std::vector<double>> times(strategies.size());
  bool is_right = true;
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      // Rotate, so that the predecessor of a strategy varies.
      const std::size_t which = (i + static_cast<std::size_t>(repeat)) % strategies.size();
      messages.clear();
      double seconds = 0.0;
      for (std::uint64_t life = 0; life < n_lives; ++life) {
        if (rounds_of_life > 0) exchanges[which] = make(strategies[which]);
        const RoundTimes found = time_rounds(context, messages, *exchanges[which], computing, n_rows, n_rounds);
        seconds += found.total / static_cast<double>(n_lives);
        is_right = is_right && found.is_right;
      }
      times[which].push_back(seconds);
    }
  }
  check_contents(is_right, "cells");

  Json cell{{"bytes", n_bytes},       {"imbalance", imbalance},       {"messages", n_messages},
            {"alone_seconds", alone}, {"rounds", n_lives * n_rounds}, {"compute_seconds", compute}};
  double best = 1e30;
  double delayed = 0.0;
  double automatic = 0.0;
  std::string best_name;
  for (std::size_t which = 0; which < strategies.size(); ++which) {
    const double seconds = median(times[which]);
    cell["strategies"].push_back({{"name", exchange::name_of(strategies[which])},
                                  {"seconds", seconds},
                                  {"shortest_seconds", *std::ranges::min_element(times[which])}});
    if (strategies[which] == Strategy::delayed_waits) delayed = seconds;
    if (strategies[which] == Strategy::automatic) {
      automatic = seconds;
    } else if (seconds < best) {
      best = seconds;
      best_name = exchange::name_of(strategies[which]);
    }
  }
  cell["best_fixed"] = best_name;
  cell["automatic_chose"] = exchange::name_of(exchanges.back()->statistics().strategy);
  cell["automatic_of_best"] = automatic / best;
  cell["automatic_of_delayed"] = automatic / delayed;
  return cell;
}

}  // namespace

Json measure_cells(mpi::Context& context, const StrategyOptions& options, std::uint64_t rounds_of_life) {
  Computing computing;
  Json cells = Json::array();
  for (const std::uint64_t n_bytes : options.sizes)
    for (const double imbalance : options.imbalances)
      for (const int n_messages : options.messages)
        cells.push_back(measure_cell(context, options, computing, n_bytes, imbalance, n_messages, rounds_of_life));
  return cells;
}

}  // namespace barrio::bench
