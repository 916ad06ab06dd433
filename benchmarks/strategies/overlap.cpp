#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "barrio/exchange/strategy.hpp"
#include "benchmarks/strategies/result.hpp"
#include "benchmarks/strategies/workload.hpp"

namespace barrio::bench {
namespace {

using exchange::Strategy;

constexpr double shortest_overlapped_seconds = 200e-6;

/// Times of all interleaved repetitions.
struct Seen {
  std::vector<double> totals;
  std::vector<double> waits;
};

/// Return the mean without the longest fifth. The clock has steps of 10 ns, and so would a median.
double trimmed_mean(std::vector<double> values) {
  std::ranges::sort(values);
  values.resize(std::max<std::size_t>(values.size() * 4 / 5, 1));
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Return the shortest round relative to the shortest computing with its copy. Other work of the machine affects
/// neither. Both are minima over the same number of sums. The min computing plus the min copy, each over all
/// repetitions, would be below any round, more so the more the copy varies.
double min_of_least(const std::vector<double>& totals, const std::vector<double>& apart) {
  return std::ranges::min(totals) / std::ranges::min(apart);
}

/// Tell whether the second half did not improve the min time of the first half: then more rounds are useless. Times are
/// those of the slowest rank, so all ranks agree.
bool is_settled(const std::vector<double>& times) {
  constexpr double max_gain = 0.001;  // ratios are reported to a hundredth
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  return *std::min_element(times.begin(), middle) <= (1 + max_gain) * *std::min_element(middle, times.end());
}

/// Return the median over repetitions of the total relative to computing and copy.
double paired(const std::vector<double>& totals, const std::vector<double>& apart) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < totals.size(); ++i) ratios.push_back(totals[i] / apart[i]);
  return median(std::move(ratios));
}

}  // namespace

Json measure_overlap(mpi::Context& context, const StrategyOptions& options) {
  const std::vector<Strategy> strategies{Strategy::delayed_waits, Strategy::staggered_tests, Strategy::persistent,
                                         Strategy::automatic};
  constexpr int n_inner = 40;     // rounds of each strategy in a repetition
  constexpr int max_repeats = 4;  // multiple of the requested repetitions, while times still improve
  Computing computing;
  Json rows = Json::array();
  for (const std::uint64_t n_bytes : options.sizes) {
    RingMessages messages(context, n_bytes, 1);
    std::vector<std::unique_ptr<exchange::RepeatedExchange>> exchanges;
    for (const Strategy strategy : strategies) exchanges.push_back(messages.make_exchange({.strategy = strategy}));
    exchanges.push_back(messages.make_exchange({.strategy = Strategy::delayed_waits}));  // for the copy
    std::uint64_t round = 0;
    bool is_right = true;
    const auto run = [&](std::size_t which, std::uint64_t n_rows) {
      const RoundTimes times = time_round(context, messages, *exchanges[which], computing, n_rows, ++round);
      is_right = is_right && times.is_right;
      return times;
    };
    double alone = 1e30;
    for (int i = 0; i < 20; ++i) alone = std::min(alone, run(0, 0).total);
    const std::uint64_t n_rows = computing.rows_of(std::max(shortest_overlapped_seconds, 4 * alone));
    std::vector<Seen> seen(strategies.size());
    std::vector<double> computes;
    // A separate exchange, so that the copied data is as cold in cache as that of the others.
    std::vector<double> copies;
    std::vector<double> apart;  // computing, then the copy
    RingMessages nothing(context, 0, 0);
    const auto idle = nothing.make_exchange({.strategy = Strategy::delayed_waits});
    const auto all_settled = [&] {
      return is_settled(apart) &&
             std::ranges::all_of(seen, [](const Seen& of_one) { return is_settled(of_one.totals); });
    };
    const int n_asked = options.n_repeats * n_inner;
    for (int repeat = 0; repeat < max_repeats * n_asked; ++repeat) {
      if (repeat >= n_asked && repeat % n_inner == 0 && all_settled()) break;
      computes.push_back(time_round(context, nothing, *idle, computing, n_rows, 0).total);
      copies.push_back(run(strategies.size(), 0).total);
      apart.push_back(computes.back() + copies.back());
      for (std::size_t which = 0; which < strategies.size(); ++which) {
        const RoundTimes times = run(which, n_rows);
        seen[which].totals.push_back(times.total);
        seen[which].waits.push_back(times.wait);
      }
    }
    check_contents(is_right, "overlap");
    Json row{{"bytes", n_bytes}, {"copy_seconds", median(copies)}, {"compute_seconds", median(computes)}};
    for (std::size_t which = 0; which < strategies.size(); ++which)
      row["strategies"].push_back({{"name", exchange::name_of(strategies[which])},
                                   {"wait_seconds", trimmed_mean(seen[which].waits)},
                                   {"total_seconds", median(seen[which].totals)},
                                   {"total_of_computing_and_copy", min_of_least(seen[which].totals, apart)},
                                   {"median_of_computing_and_copy", paired(seen[which].totals, apart)}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace barrio::bench
