#include "barrio/rankmap/search/portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "barrio/base/hash.hpp"
#include "barrio/rankmap/search/anneal.hpp"
#include "barrio/rankmap/search/bottleneck.hpp"
#include "barrio/rankmap/search/calmest.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "barrio/rankmap/search/multisect.hpp"
#include "barrio/rankmap/search/regroup.hpp"
#include "barrio/rankmap/search/tabu.hpp"

namespace barrio::rankmap::detail {
namespace {

// Shares of a rung, and moves of a run: measured on halo graphs of 64 to 4 096 ranks.
constexpr double start_share = 0.25;
constexpr double start_share_without_table = 0.6;  // moves there cost more, and gain less
constexpr int max_bisections = 32;
constexpr double moves_per_rank = 20'000;  // of a run after which a longer one gains little
constexpr double group_moves_per_group = 400;
constexpr double first_round = 0.1;  // of such a run
constexpr double second_round = 0.4;
constexpr double first_share = 0.4;  // of a tournament's moves
constexpr int survivors = 4;         // one of this many
constexpr double min_start_seconds = 0.5e-3;
constexpr double annealing_of_first = 0.5;  // of the time of the first start
constexpr double first_rung = 1.25;         // ends after this many times the first start
constexpr double group_share = 0.05;        // of a rung, for moving whole groups after one bisection
constexpr double tabu_share = 0.8;          // on machines without structure
constexpr double polish_edge_seconds = 3e-6;
constexpr double choice_seconds = 3e-9;
constexpr double greedy_share = 0.1;
constexpr double bisection_edge_seconds = 0.15e-6;  // and per level
constexpr double bisection_group_seconds = 100e-6;
constexpr double heats[] = {0.1, 0.1, 0.25};
constexpr double heat_without_table = 0.03;
constexpr double rounding = 1 + 1e-9;

// Beyond some hundred groups the table no longer fits into the caches.
double group_move_seconds(const Machine& machine) noexcept { return machine.n_groups() <= 512 ? 60e-9 : 700e-9; }

/// The search as pieces of work, whose order and sizes do not depend on the total time. They form rungs, each of which
/// ends at a power of two of seconds. More time means the same pieces, and then more of them.
class Portfolio {
 public:
  Portfolio(const CommunicationGraph& graph, const Machine& machine, const Candidate& given, const SearchPlan& plan,
            Deadline deadline)
      : graph_(graph),
        machine_(machine),
        plan_(plan),
        deadline_(deadline),
        move_seconds_(std::max(nominal_move_seconds(graph, machine), 1e-9)),
        is_for_tabu_(machine.is_dense() && machine.n_cores() <= max_cores_for_tabu),
        is_polished_(!ends_with_all_pairs(graph, machine) && !is_for_tabu_),
        given_(given),
        best_(given),
        calmest_(graph, machine, given, {plan.bottleneck, plan.seed, plan.is_fixed}, deadline) {}

  Candidate run() {
    make_first_start();
    double end = std::exp2(std::ceil(std::log2(first_rung * spent_seconds_)));
    while (climb(end - spent_seconds_)) {
      spent_seconds_ = end;  // without the remainder of rounding
      end *= 2;
    }
    return plan_.bottleneck > 0.0 ? calmest_.best() : best_;
  }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_ && calmest_.is_complete(); }

 private:
  [[nodiscard]] double next_heat() noexcept {
    return has_gain_table(graph_, machine_) ? heats[n_runs_++ % std::size(heats)] : heat_without_table;
  }
  [[nodiscard]] std::uint64_t next_seed() noexcept { return mix64(plan_.seed ^ mix64(++n_seeds_)); }

  [[nodiscard]] Candidate candidate(Placement placement, std::string method) const {
    const double cost_now = cost(graph_, machine_, placement);
    return {std::move(placement), cost_now, std::move(method)};
  }

  /// Keep the better one; of two with the same cost, the one with the smaller load on its busiest node.
  void keep(const Candidate& found) {
    const auto load = [&](const Candidate& one) { return busiest_load(graph_, machine_, one.placement); };
    if (found.cost < best_.cost || (found.cost == best_.cost && load(found) < load(best_))) best_ = found;
  }

  /// Take the time for the next piece of work. @return false from the first piece on for which there is no time
  bool take(double seconds) {
    if (deadline_.has_passed_now()) is_complete_ = false;
    is_over_ = is_over_ || !is_complete_ || spent_seconds_ + seconds > rounding * plan_.seconds;
    if (!is_over_) spent_seconds_ += seconds;
    return !is_over_;
  }

  /// Make the first start, whatever the time.
  void make_first_start() {
    starts_.push_back(given_);
    if (plan_.construction != nullptr) add_start(candidate(*plan_.construction, "construction"));
    double seconds = min_start_seconds;
    // Bisection is of little use on a machine without structure.
    if (!machine_.is_dense()) {
      bisect(0);
      seconds += bisection_seconds();
    }
    mean_loss_ = mean_loss(graph_, machine_, starts_.front().placement, plan_.seed);
    Candidate first = starts_.front();
    anneal_on(first, annealing_of_first * seconds / move_seconds_);
    polish();
    calmest_.relieve(best_, seconds);
    spent_seconds_ = (1 + annealing_of_first) * seconds + polish_seconds();
  }

  /// Run one rung. @return whether there was time for all of it
  bool climb(double seconds) {
    const double polishing = polish_seconds();
    const double tabu = is_for_tabu_ ? tabu_share * seconds : 0.0;
    double left = seconds - polishing - tabu;
    if (!make_starts(left)) return false;
    std::optional<Candidate> winner = hold_tournament(left);
    if (!winner) return false;
    if (is_polished_) {
      if (!take(polishing)) return false;
      polish();
    }
    if (is_for_tabu_ && !search_tabu(std::move(*winner), tabu)) return false;
    calmest_.relieve(best_, seconds);
    return true;
  }

  void add_start(Candidate start) {
    keep(start);
    starts_.insert(std::ranges::upper_bound(starts_, start.cost, {}, &Candidate::cost), std::move(start));
    if (starts_.size() > max_bisections) starts_.pop_back();
  }

  [[nodiscard]] double bisection_seconds() const {
    // The number of parts is at most the number of ranks.
    const int n_parts = std::min(machine_.n_groups(), graph_.n_ranks());
    const double n_levels = std::log2(std::max(2, n_parts));
    return bisection_edge_seconds * graph_.n_edge_ends() * n_levels + bisection_group_seconds * n_parts;
  }

  void bisect(std::uint64_t n_group_moves) {
    Placement placement = multisect(graph_, machine_, next_seed(), &given_.placement, plan_.is_fixed, deadline_);
    if (n_group_moves > 0)
      move_groups(graph_, machine_, placement, plan_.is_fixed, n_group_moves, next_seed(), deadline_);
    add_start(candidate(std::move(placement), "bisection"));
  }

  /// @param[in,out] left  seconds of the rung
  bool make_starts(double& left) {
    const double choices = (graph_.n_edge_ends() / 2 + 2.0 * graph_.n_ranks()) * machine_.n_groups();
    const double greedy = choices * choice_seconds;
    if (!has_greedy_start_ && plan_.is_fixed.empty() && greedy < greedy_share * left) {
      if (!take(greedy)) return false;
      has_greedy_start_ = true;
      add_start(candidate(construct_nearest(graph_, machine_), "greedy construction"));
      left -= greedy;
    }
    const double max_group_moves = can_move_groups(machine_) ? group_share * left / group_move_seconds(machine_) : 0.0;
    const double n_group_moves = std::clamp(max_group_moves, 0.0, group_moves_per_group * machine_.n_groups());
    const double one = bisection_seconds() + group_move_seconds(machine_) * n_group_moves;
    const double share = has_gain_table(graph_, machine_) ? start_share : start_share_without_table;
    const int n = static_cast<int>(std::min<double>(share * left / one, max_bisections));
    for (int i = 0; i < n; ++i) {
      if (!take(one)) return false;
      bisect(static_cast<std::uint64_t>(n_group_moves));
      left -= one;
    }
    return true;
  }

  void anneal_on(Candidate& one, double n_moves) {
    const SearchCounts counts = anneal(graph_, machine_, one.placement,
                                       {.n_moves = static_cast<std::uint64_t>(n_moves),
                                        .seed = next_seed(),
                                        .hottest = next_heat() * mean_loss_,
                                        .is_fixed = plan_.is_fixed},
                                       deadline_);
    is_complete_ = is_complete_ && counts.is_complete;
    one.cost = cost(graph_, machine_, one.placement);
    if (one.method.find("annealing") == std::string::npos) one.method += " + annealing";
    keep(one);
  }

  /// Run briefly from many starts, longer from the best of these, and for the remaining time from the best of all.
  /// @return the last, unless the time ended
  std::optional<Candidate> hold_tournament(double seconds) {
    double left = seconds / move_seconds_;
    const double full = moves_per_rank * graph_.n_ranks();
    const double n_affordable = std::max(1.0, first_share * left / (first_round * full));
    const double n_first = std::min(static_cast<double>(starts_.size()), std::floor(n_affordable));
    const auto end = starts_.begin() + static_cast<std::ptrdiff_t>(n_first);
    std::vector<Candidate> running(starts_.begin(), end);
    starts_.erase(starts_.begin(), end);
    for (const double round : {first_round, second_round}) {
      if (running.size() < 2) break;
      for (Candidate& one : running) {
        if (!take(round * full * move_seconds_)) return {};
        anneal_on(one, round * full);
        left -= round * full;
      }
      std::ranges::stable_sort(running, {}, &Candidate::cost);
      running.resize((running.size() + survivors - 1) / survivors);
    }
    // Tabu search stays in one valley: a rung that begins in another one finds more.
    const bool is_best = running.empty() || (!is_for_tabu_ && best_.cost < running.front().cost);
    Candidate last = is_best ? best_ : std::move(running.front());
    if (left < 1) return last;
    if (!take(left * move_seconds_)) return {};
    anneal_on(last, left);
    return last;
  }

  /// Run tabu search, cut off at the end of the time: with more time, the same steps come first.
  bool search_tabu(Candidate start, double seconds) {
    const bool is_whole = take(seconds);
    const double left = is_whole ? seconds : plan_.seconds - spent_seconds_;
    if (left <= 0.0 || !is_complete_) return false;
    const auto n_steps = static_cast<std::uint64_t>(left / nominal_tabu_step_seconds(machine_));
    const TabuCounts counts =
        tabu_search(graph_, machine_, start.placement,
                    {.n_steps = n_steps, .seed = next_seed(), .is_fixed = plan_.is_fixed}, deadline_);
    is_complete_ = is_complete_ && counts.is_complete;
    constexpr const char* tabu = " + tabu search";
    keep(candidate(std::move(start.placement), start.method.ends_with(tabu) ? start.method : start.method + tabu));
    return is_whole;
  }

  [[nodiscard]] double polish_seconds() const {
    return is_polished_ ? polish_edge_seconds * graph_.n_edge_ends() : 0.0;
  }

  void polish() {
    if (!is_polished_ || best_.cost >= polished_cost_) return;
    Candidate polished = best_;
    const SearchCounts counts =
        exchange_near_partners(graph_, machine_, polished.placement, 0, deadline_, plan_.is_fixed);
    is_complete_ = is_complete_ && counts.is_complete;
    constexpr const char* exchange = " + exchange near partners";
    if (counts.n_exchanged > 0 && !polished.method.ends_with(exchange)) polished.method += exchange;
    polished.cost = cost(graph_, machine_, polished.placement);
    keep(polished);
    polished_cost_ = best_.cost;
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  const SearchPlan& plan_;
  Deadline deadline_;
  double move_seconds_;
  double spent_seconds_ = 0.0;
  bool is_for_tabu_, is_polished_;
  const Candidate& given_;
  Candidate best_;
  Calmest calmest_;
  double mean_loss_ = 0.0;
  std::uint64_t n_seeds_ = 0;
  bool is_complete_ = true, is_over_ = false;
  bool has_greedy_start_ = false;
  std::size_t n_runs_ = 0;
  std::vector<Candidate> starts_;  // best first, not annealed yet
  double polished_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Candidate search(const CommunicationGraph& graph, const Machine& machine, const Candidate& given,
                 const SearchPlan& plan, Deadline deadline, bool& is_complete) {
  if (graph.n_ranks() == 0 || machine.n_groups() < 2) return given;
  Portfolio portfolio(graph, machine, given, plan, deadline);
  Candidate found = portfolio.run();
  is_complete = portfolio.is_complete();
  return found;
}

}  // namespace barrio::rankmap::detail
