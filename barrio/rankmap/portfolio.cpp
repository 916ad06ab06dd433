#include "barrio/rankmap/detail/portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "barrio/base/hash.hpp"
#include "barrio/rankmap/anneal.hpp"
#include "barrio/rankmap/construct.hpp"
#include "barrio/rankmap/detail/regroup.hpp"
#include "barrio/rankmap/exchange.hpp"
#include "barrio/rankmap/multisect.hpp"
#include "barrio/rankmap/tabu.hpp"

namespace barrio::rankmap::detail {
namespace {

// Shares of the time, and moves of a run: measured on halo graphs of 64 to 4 096 ranks.
constexpr double start_share = 0.25;
constexpr double start_share_without_table = 0.6;  // moves cost more there, and gain less
constexpr int max_bisections = 32;
constexpr double moves_per_rank = 20'000;  // of a run that leaves little to a longer one
constexpr double group_moves_per_group = 400;
constexpr double first_round = 0.1;  // of such a run
constexpr double second_round = 0.4;
constexpr double first_share = 0.4;  // of a tournament's moves
constexpr int survivors = 4;         // one of so many
constexpr double first_tournament = 4.0;
constexpr double group_share = 0.05;  // of the time, for moving whole groups after one bisection
constexpr double tabu_share = 0.8;    // on machines without structure
constexpr double polish_share = 0.4;
constexpr double polish_edge_seconds = 3e-6;
constexpr double choice_seconds = 3e-9;
constexpr double greedy_share = 0.1;
constexpr double bisection_edge_seconds = 0.15e-6;  // and level
constexpr double bisection_group_seconds = 100e-6;
constexpr double heats[] = {0.1, 0.1, 0.25};
constexpr double heat_without_table = 0.03;

// Beyond some hundred groups their table leaves the caches.
double group_move_seconds(const Machine& machine) noexcept { return machine.n_groups() <= 512 ? 60e-9 : 700e-9; }

class Portfolio {
 public:
  Portfolio(const CommunicationGraph& graph, const Machine& machine, const SearchPlan& plan, Deadline deadline)
      : graph_(graph),
        machine_(machine),
        plan_(plan),
        deadline_(deadline),
        move_seconds_(std::max(nominal_move_seconds(graph, machine), 1e-9)),
        left_seconds_(plan.seconds) {}

  Candidate run(const Candidate& given) {
    found_.push_back(given);
    const bool is_for_tabu = machine_.is_dense() && machine_.n_cores() <= max_cores_for_tabu;
    const double tabu_seconds = is_for_tabu ? tabu_share * plan_.seconds : 0.0;
    left_seconds_ -= tabu_seconds;
    if (!ends_with_all_pairs(graph_, machine_))
      left_seconds_ -=
          std::min(polish_share * plan_.seconds, polish_edge_seconds * static_cast<double>(graph_.partners.size()));
    make_starts(given);
    const double full = moves_per_rank * graph_.n_ranks();
    double size = first_tournament * full;
    while (moves_left() > 0.0 && !is_late()) {
      const bool is_last = moves_left() < 2.5 * size;
      hold_tournament(is_last ? moves_left() : size);
      if (is_last) break;
      make_starts(given);
      size *= 2;
    }
    if (is_for_tabu) search_tabu(tabu_seconds);
    polish(best());
    return best();
  }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  [[nodiscard]] double next_heat() noexcept {
    return has_gain_table(graph_, machine_) ? heats[n_runs_++ % std::size(heats)] : heat_without_table;
  }
  [[nodiscard]] std::uint64_t next_seed() noexcept { return mix64(plan_.seed ^ mix64(++n_seeds_)); }
  [[nodiscard]] Candidate& best() { return *std::ranges::min_element(found_, {}, &Candidate::cost); }

  [[nodiscard]] Candidate candidate(Placement placement, std::string method) const {
    const double cost_now = cost(graph_, machine_, placement);
    return {std::move(placement), cost_now, std::move(method)};
  }

  void make_starts(const Candidate& given) {
    if (starts_.empty()) {
      starts_.push_back(given);
      if (plan_.construction != nullptr) starts_.push_back(candidate(*plan_.construction, "construction"));
      const double choices =
          (static_cast<double>(graph_.partners.size()) / 2 + 2.0 * graph_.n_ranks()) * machine_.n_groups();
      if (plan_.is_fixed.empty() && choices * choice_seconds < greedy_share * plan_.seconds)
        starts_.push_back(candidate(construct_nearest(graph_, machine_), "greedy construction"));
    }
    // No more parts of the machine are cut than ranks.
    const int n_parts = std::min(machine_.n_groups(), graph_.n_ranks());
    const double n_levels = std::log2(std::max(2, n_parts));
    const double one = bisection_edge_seconds * static_cast<double>(graph_.partners.size()) * n_levels +
                       bisection_group_seconds * n_parts;
    const bool moves_groups = can_move_groups(machine_);
    const double most_group_moves = group_share * left_seconds_ / group_move_seconds(machine_);
    const auto n_group_moves = static_cast<std::uint64_t>(
        moves_groups ? std::clamp(most_group_moves, 0.0, group_moves_per_group * machine_.n_groups()) : 0.0);
    const double group_seconds = group_move_seconds(machine_) * static_cast<double>(n_group_moves);
    const double share = has_gain_table(graph_, machine_) ? start_share : start_share_without_table;
    // One at least, but for a machine without structure, which bisection knows little of.
    const double n_affordable =
        std::max(machine_.is_dense() ? 0.0 : 1.0, share * left_seconds_ / (one + group_seconds));
    const int n = static_cast<int>(std::min<double>(n_affordable, max_bisections));
    for (int i = 0; i < n && !is_late(); ++i) {
      Placement placement = multisect(graph_, machine_, next_seed(), &given.placement, plan_.is_fixed, deadline_);
      if (moves_groups) move_groups(graph_, machine_, placement, plan_.is_fixed, n_group_moves, next_seed(), deadline_);
      starts_.push_back(candidate(std::move(placement), "bisection"));
    }
    left_seconds_ -= n * (one + group_seconds);
    std::ranges::stable_sort(starts_, {}, &Candidate::cost);
    found_.push_back(starts_.front());
    if (mean_loss_ == 0.0) mean_loss_ = mean_loss(graph_, machine_, starts_.front().placement, plan_.seed);
  }

  bool is_late() {
    if (deadline_.has_passed_now()) is_complete_ = false;
    return !is_complete_;
  }

  [[nodiscard]] double moves_left() const noexcept { return std::max(0.0, left_seconds_ / move_seconds_); }

  Candidate anneal_from(const Candidate& start, double n_moves) {
    if (n_moves < 1 || is_late()) return start;
    Placement placement = start.placement;
    const SearchCounts counts = anneal(graph_, machine_, placement,
                                       {.n_moves = static_cast<std::uint64_t>(n_moves),
                                        .seed = next_seed(),
                                        .hottest = next_heat() * mean_loss_,
                                        .is_fixed = plan_.is_fixed},
                                       deadline_);
    is_complete_ = is_complete_ && counts.is_complete;
    left_seconds_ -= n_moves * move_seconds_;
    return candidate(std::move(placement),
                     start.method.ends_with("annealing") ? start.method : start.method + " + annealing");
  }

  /// Short runs from many starts, longer ones from the best of these, what is left from the best of all.
  void hold_tournament(double n_moves) {
    const double full = moves_per_rank * graph_.n_ranks();
    const auto n_first =
        std::min(starts_.size(), static_cast<std::size_t>(first_share * n_moves / (first_round * full)));
    std::vector<Candidate> running(starts_.begin(),
                                   starts_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(n_first, 1)));
    starts_.erase(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(running.size()));
    double left = n_moves;
    for (const double round : {first_round, second_round}) {
      if (running.size() < 2) break;
      for (Candidate& one : running) {
        one = anneal_from(one, round * full);
        left -= round * full;
      }
      std::ranges::stable_sort(running, {}, &Candidate::cost);
      running.resize((running.size() + survivors - 1) / survivors);
    }
    found_.push_back(anneal_from(running.front(), left));
  }

  void search_tabu(double seconds) {
    const auto n_steps = static_cast<std::uint64_t>(seconds / nominal_tabu_step_seconds(machine_));
    if (n_steps == 0 || is_late()) return;
    const Candidate start = best();
    Placement placement = start.placement;
    const TabuCounts counts = tabu_search(
        graph_, machine_, placement, {.n_steps = n_steps, .seed = next_seed(), .is_fixed = plan_.is_fixed}, deadline_);
    is_complete_ = is_complete_ && counts.is_complete;
    found_.push_back(candidate(std::move(placement), start.method + " + tabu search"));
  }

  void polish(Candidate& candidate) {
    // Runs may end with all pairs; then nothing is left to do.
    const bool is_annealed = candidate.method.ends_with("annealing") && ends_with_all_pairs(graph_, machine_);
    if (is_annealed || candidate.method.ends_with("tabu search")) return;
    const SearchCounts counts =
        exchange_near_partners(graph_, machine_, candidate.placement, 0, deadline_, plan_.is_fixed);
    is_complete_ = is_complete_ && counts.is_complete;
    if (counts.n_exchanged > 0) candidate.method += " + exchange near partners";
    candidate.cost = cost(graph_, machine_, candidate.placement);
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  const SearchPlan& plan_;
  Deadline deadline_;
  double move_seconds_;
  double left_seconds_;
  double mean_loss_ = 0.0;
  std::uint64_t n_seeds_ = 0;
  bool is_complete_ = true;
  std::size_t n_runs_ = 0;
  std::vector<Candidate> starts_;  // best first, not annealed yet
  std::vector<Candidate> found_;
};

}  // namespace

Candidate search(const CommunicationGraph& graph, const Machine& machine, const Candidate& given,
                 const SearchPlan& plan, Deadline deadline, bool& is_complete) {
  if (graph.n_ranks() == 0 || machine.n_groups() < 2) return given;
  Portfolio portfolio(graph, machine, plan, deadline);
  Candidate found = portfolio.run(given);
  is_complete = portfolio.is_complete();
  return found.cost < given.cost ? found : given;
}

}  // namespace barrio::rankmap::detail
