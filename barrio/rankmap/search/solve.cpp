#include "barrio/rankmap/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/rankmap/search/bottleneck.hpp"
#include "barrio/rankmap/search/calmest.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "barrio/rankmap/search/portfolio.hpp"
#include "barrio/rankmap/text/words.hpp"

namespace barrio::rankmap {
namespace {

constexpr double few_ranks = 128, many_ranks = 8192;  // a second between them
constexpr double min_seconds = 0.01, max_seconds = 1e6;
constexpr double max_construction_choices = 32e6;

constexpr std::array<std::pair<std::string_view, Method>, 4> methods{
    {{"best", Method::best},
     {"paper-construction", Method::paper_construction},
     {"paper-improvement", Method::paper_improvement},
     {"paper-from-given", Method::paper_from_given}}};

void check_weight(const TrafficMatrix& traffic, const MapOptions& options) {
  if (!(options.message_bytes >= 0.0 && options.message_bytes <= 1e12))
    refuse(ErrorCode::usage, "bytes per message", fmt::format("is {}", options.message_bytes), "use 0 or more");
  if (options.message_bytes > 0.0 && options.weight != Weight::bytes)
    refuse(ErrorCode::usage, "bytes per message", fmt::format("is given with weight '{}'", name_of(options.weight)),
           "use weight 'bytes'");
  if (traffic.has(options.weight)) return;
  for (const Weight other : {Weight::bytes, Weight::points, Weight::messages})
    if (traffic.has(other))
      refuse(ErrorCode::usage, fmt::format("weight '{}'", name_of(options.weight)), "is zero in all of this traffic",
             fmt::format("use weight '{}'", name_of(other)));
}

void check(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options) {
  if (traffic.n_ranks() > machine.n_cores())
    refuse(ErrorCode::usage, fmt::format("machine '{}'", machine.text()),
           fmt::format("has {} cores for {} ranks", machine.n_cores(), traffic.n_ranks()),
           "describe a machine with at least one core per rank");
  if (options.block < 1) refuse(ErrorCode::usage, "block", fmt::format("is {}", options.block), "use 1 core or more");
  if (options.seconds != automatic_seconds && !(options.seconds >= 0.0 && options.seconds <= max_seconds))
    refuse(ErrorCode::usage, "time", fmt::format("is {} s", options.seconds), "use 0 to a million seconds");
  if (!(options.patience > 0.0))
    refuse(ErrorCode::usage, "patience", fmt::format("is {}", options.patience), "use a number above 0, or infinity");
  if (!(options.bottleneck >= 0.0 && options.bottleneck <= 1.0))
    refuse(ErrorCode::usage, "bottleneck", fmt::format("is {}", options.bottleneck), "use a share, 0 to 1");
  if (options.given && (options.given->n_ranks() != traffic.n_ranks() || options.given->n_cores() != machine.n_cores()))
    refuse(ErrorCode::usage, "given placement",
           fmt::format("has {} ranks on {} cores, but must have {} on {}", options.given->n_ranks(),
                       options.given->n_cores(), traffic.n_ranks(), machine.n_cores()),
           "give the placement of this job on this machine");
  check_weight(traffic, options);
}

/// Return the given order after each pinned rank was exchanged with the rank on its core.
Placement pinned(Placement placement, const std::vector<Pin>& pins, std::vector<bool>& is_fixed) {
  if (pins.empty()) return placement;
  is_fixed.assign(placement.n_ranks(), false);
  const Placement given = placement;
  for (const Pin& pin : pins) {
    if (pin.rank < 0 || pin.rank >= placement.n_ranks())
      refuse(ErrorCode::usage, fmt::format("pin of rank {}", pin.rank),
             fmt::format("must be of a rank in 0..{}", placement.n_ranks() - 1), "pin ranks of this job");
    if (pin.core >= placement.n_cores())
      refuse(ErrorCode::usage, fmt::format("pin of rank {}", pin.rank),
             fmt::format("core {} is not in 0..{}", pin.core, placement.n_cores() - 1), "name a core of the machine");
    const int core = pin.core < 0 ? given.core_of(pin.rank) : pin.core;
    const Rank there = placement.rank_at(core);
    const auto is_pinned = [&](Rank rank) { return rank != no_rank && is_fixed[rank]; };
    if (is_pinned(pin.rank) || is_pinned(there))
      refuse(ErrorCode::usage, fmt::format("pin of rank {}", pin.rank),
             is_pinned(pin.rank) ? "is given twice" : fmt::format("core {} has rank {} by another pin", core, there),
             "give each rank one core of its own");
    placement.exchange(placement.core_of(pin.rank), core);
    is_fixed[pin.rank] = true;
  }
  return placement;
}

/// Run the paper's methods unchanged.
detail::Candidate by_the_paper(const CommunicationGraph& graph, const Machine& machine, const MapOptions& options,
                               const detail::Candidate& given, const Placement& construction) {
  if (!options.pins.empty())
    refuse(ErrorCode::usage, fmt::format("method '{}'", name_of(options.method)), "cannot keep a rank on its core",
           "use method 'best'");
  detail::Candidate found = given;
  if (options.method != Method::paper_from_given) found = {construction, 0.0, "construction"};
  if (options.method != Method::paper_construction) {
    exchange_in_blocks(graph, machine, found.placement, options.block);
    found.method += fmt::format(" + pair exchange (blocks of {})", options.block);
  }
  found.cost = cost(graph, machine, found.placement);
  return found;
}

/// Tell whether the construction method is affordable: it visits all groups of cores for each rank.
bool has_time_to_construct(const CommunicationGraph& graph, const Machine& machine) {
  const double n_ranks = graph.n_ranks();
  return n_ranks * machine.n_groups() <= max_construction_choices;
}

/// Search with core costs. They are represented as distances from one extra core, on which one extra rank is pinned: a
/// rank sends its traffic to itself there.
MapResult map_with_core_costs(const TrafficMatrix& traffic, const Machine& machine, MapOptions options) {
  if (options.method != Method::best)
    refuse(ErrorCode::usage, fmt::format("method '{}'", name_of(options.method)),
           "cannot weigh the diagonals of this problem", "use method 'best'");
  if (options.bottleneck > 0.0)
    refuse(ErrorCode::usage, "bottleneck", "is given for a problem with diagonals, which has no nodes", "leave it out");
  const int n_cores = machine.n_cores(), n_ranks = traffic.n_ranks();
  std::vector<double> distances;
  for (int core = 0; core <= n_cores; ++core) {
    for (int other = 0; other <= n_cores; ++other) {
      const bool is_inside = core < n_cores && other < n_cores;
      distances.push_back(is_inside       ? machine.distance(core, other)
                          : core == other ? 0.0
                                          : machine.core_cost(std::min(core, other)));
    }
  }
  std::vector<TrafficEntry> entries(traffic.entries().begin(), traffic.entries().end());
  for (TrafficEntry& entry : entries)
    if (entry.from == entry.to) entry.to = n_ranks;
  const auto with_one_more = [&](const Placement& placement) {
    std::vector<int> cores(placement.core_of_rank().begin(), placement.core_of_rank().end());
    cores.push_back(n_cores);
    return Placement(std::move(cores), n_cores + 1);
  };
  const auto without_it = [&](const Placement& placement) {
    const auto cores = placement.core_of_rank().first(n_ranks);
    return Placement({cores.begin(), cores.end()}, n_cores);
  };
  options.given = with_one_more(options.given ? *options.given : Placement::in_order(n_ranks, n_cores));
  options.pins.push_back({.rank = n_ranks, .core = n_cores});
  MapResult result =
      map(TrafficMatrix(n_ranks + 1, std::move(entries)), Machine::dense(n_cores + 1, std::move(distances)), options);
  result.given = without_it(result.given);
  result.placement = without_it(result.placement);
  const Weighing weighing(options.weight, options.message_bytes);
  result.before = compute_figures(traffic, machine, result.given, weighing);
  result.after = compute_figures(traffic, machine, result.placement, weighing);
  return result;
}

double seconds_of(const MapOptions& options, int n_ranks) {
  if (options.seconds != automatic_seconds) return options.seconds;
  const double seconds = std::max({min_seconds, std::min(1.0, n_ranks / few_ranks), n_ranks / many_ranks});
  return std::exp2(std::ceil(std::log2(seconds)));  // the end of a rung of the search
}

}  // namespace

std::string_view name_of(Method method) noexcept { return methods[static_cast<std::size_t>(method)].first; }

Method parse_method(std::string_view word) { return detail::value_of_word("method", word, methods); }

MapResult map(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options) {
  check(traffic, machine, options);
  if (machine.has_core_costs()) return map_with_core_costs(traffic, machine, options);
  const double begin_seconds = Trace::steady_seconds();
  const Weighing weighing(options.weight, options.message_bytes);
  const CommunicationGraph graph = traffic.compute_graph(weighing);

  MapResult result;
  result.weight = options.weight;
  std::vector<bool> is_fixed;
  result.given = pinned(options.given ? *options.given : Placement::in_order(traffic.n_ranks(), machine.n_cores()),
                        options.pins, is_fixed);
  result.cost_before = cost(graph, machine, result.given);
  const bool is_constructed = options.method != Method::best || has_time_to_construct(graph, machine);
  const Placement construction = is_constructed ? construct(graph, machine) : Placement();
  result.cost_construction =
      is_constructed ? cost(graph, machine, construction) : std::numeric_limits<double>::quiet_NaN();
  const detail::Candidate given{result.given, result.cost_before, "given order"};
  detail::Candidate found = given;
  const double seconds = seconds_of(options, traffic.n_ranks());
  // One start and one check of all partners are made whatever the time.
  const double least = min_seconds * 4 + 4e-6 * static_cast<double>(graph.partners.size() + graph.offsets.size());
  const Deadline deadline(options.patience * (seconds + least));
  if (options.method == Method::best) {
    found = detail::search(graph, machine, given,
                           {.seconds = seconds,
                            .seed = options.seed,
                            .is_fixed = is_fixed,
                            .construction = is_constructed && is_fixed.empty() ? &construction : nullptr,
                            .bottleneck = options.bottleneck},
                           deadline, result.is_complete);
  } else {
    found = by_the_paper(graph, machine, options, given, construction);
    if (options.bottleneck > 0.0) {
      detail::Calmest calmest(graph, machine, given, {options.bottleneck, options.seed, is_fixed}, deadline);
      calmest.relieve_in_rungs(found, seconds);
      result.is_complete = calmest.is_complete();
      found = calmest.best();
    }
  }
  const auto mixed = [&](const Placement& placement) {
    return mixed_cost(graph, machine, placement, options.bottleneck);
  };
  result.mixed_before = mixed(given.placement);
  result.mixed_after = mixed(found.placement);
  // A difference by rounding is not a gain.
  const double rounding = 1e-12 * result.mixed_before;
  const bool is_tie = std::abs(result.mixed_after - result.mixed_before) <= rounding;
  const auto load = [&](const Placement& placement) { return busiest_load(graph, machine, placement); };
  if (is_tie ? load(found.placement) >= (1 - 1e-12) * load(given.placement)
             : result.mixed_after > result.mixed_before) {
    found = given;
    result.mixed_after = result.mixed_before;
  }
  // Of placements with the same cost, choose the one that changes least.
  const bool may_rearrange = options.method == Method::best && is_fixed.empty();
  result.placement =
      may_rearrange ? keep_in_place(found.placement, given.placement, machine) : std::move(found.placement);
  result.cost_after = cost(graph, machine, result.placement);
  result.method = std::move(found.method);

  result.seconds = Trace::steady_seconds() - begin_seconds;
  result.lower_bound = compute_lower_bound(graph, machine);
  result.before = compute_figures(traffic, machine, result.given, weighing);
  result.after = compute_figures(traffic, machine, result.placement, weighing);
  return result;
}

}  // namespace barrio::rankmap
