#include "barrio/rankmap/solve.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/rankmap/construct.hpp"
#include "barrio/rankmap/exchange.hpp"

namespace barrio::rankmap {
namespace {

constexpr int paper_block = 64;
constexpr int max_cores_for_all_pairs = 1024;

[[noreturn]] void refuse_task(std::string subject, std::string cause, std::string remedy) {
  throw Error(ErrorCode::usage,
              {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
}

void check(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options) {
  if (traffic.n_ranks() > machine.n_cores())
    refuse_task(fmt::format("machine '{}'", machine.text()),
                fmt::format("has {} cores for {} ranks", machine.n_cores(), traffic.n_ranks()),
                "describe a machine with at least one core per rank");
  if (options.block < 0) refuse_task("block", fmt::format("is {}", options.block), "use 0 (automatic) or more");
  if (!(options.time_limit_seconds >= 0.0))
    refuse_task("time limit", fmt::format("is {} s", options.time_limit_seconds), "use 0 s or more");
  if (options.given && (options.given->n_ranks() != traffic.n_ranks() || options.given->n_cores() != machine.n_cores()))
    refuse_task("given placement",
                fmt::format("is of {} ranks on {} cores, not {} on {}", options.given->n_ranks(),
                            options.given->n_cores(), traffic.n_ranks(), machine.n_cores()),
                "give the placement of this job on this machine");
  if (traffic.has(options.weight)) return;
  for (const Weight other : {Weight::bytes, Weight::points, Weight::messages})
    if (traffic.has(other))
      refuse_task(fmt::format("weight '{}'", name_of(options.weight)), "is zero in all of this traffic",
                  fmt::format("use weight '{}'", name_of(other)));
}

struct Candidate {
  Placement placement;
  std::string method;
};

class Solver {
 public:
  Solver(const CommunicationGraph& graph, const Machine& machine, const MapOptions& options)
      : graph_(graph), machine_(machine), options_(options), deadline_(options.time_limit_seconds) {
    const bool all = machine.n_cores() <= max_cores_for_all_pairs;
    block_ = options.block != automatic_block ? options.block : all ? machine.n_cores() : paper_block;
  }

  // Pair exchange, then what it left: with all pairs in one block that is nothing.
  Candidate improve(Placement placement, std::string_view start) {
    search_blocks(placement);
    if (block_ >= machine_.n_cores()) return {std::move(placement), describe(start, "", "")};
    search_near(placement, 0);
    return {std::move(placement), describe(start, "", near)};
  }

  // The other way round, in the random order of the seed.
  Candidate improve_near_first(Placement placement, std::string_view start) {
    search_near(placement, options_.seed);
    search_blocks(placement);
    return {std::move(placement), describe(start, near, "")};
  }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  static constexpr std::string_view near = " + exchange near partners";

  void search_blocks(Placement& placement) {
    if (!exchange_in_blocks(graph_, machine_, placement, block_, deadline_).is_complete) is_complete_ = false;
  }
  void search_near(Placement& placement, std::uint64_t seed) {
    if (!exchange_near_partners(graph_, machine_, placement, seed, deadline_).is_complete) is_complete_ = false;
  }
  [[nodiscard]] std::string describe(std::string_view start, std::string_view before, std::string_view after) const {
    return fmt::format("{}{} + pair exchange ({}){}", start, before,
                       block_ >= machine_.n_cores() ? "all pairs" : fmt::format("blocks of {}", block_), after);
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  const MapOptions& options_;
  Deadline deadline_;
  int block_;
  bool is_complete_ = true;
};

}  // namespace

MapResult map(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options) {
  check(traffic, machine, options);
  const double begin_seconds = Trace::steady_seconds();
  const CommunicationGraph graph = traffic.compute_graph(options.weight);
  Solver solver(graph, machine, options);

  MapResult result;
  result.weight = options.weight;
  result.given = options.given ? *options.given : Placement::in_order(traffic.n_ranks(), machine.n_cores());
  result.cost_before = cost(graph, machine, result.given);
  result.placement = result.given;
  result.cost_after = result.cost_before;
  result.method = "given order";

  const double least_gain = 1e-12 * result.cost_before;
  const auto take_if_better = [&](Candidate candidate) {
    const double cost_now = cost(graph, machine, candidate.placement);
    if (!(cost_now < result.cost_after - least_gain)) return;
    result.placement = std::move(candidate.placement);
    result.cost_after = cost_now;
    result.method = std::move(candidate.method);
  };
  const Placement constructed = construct(graph, machine);
  result.cost_construction = cost(graph, machine, constructed);
  take_if_better({constructed, "construction"});
  take_if_better(solver.improve(constructed, "construction"));
  take_if_better(solver.improve(result.given, "given order"));
  if (options.seed != 0) {
    take_if_better(solver.improve_near_first(constructed, "construction"));
    take_if_better(solver.improve_near_first(result.given, "given order"));
  }

  result.is_complete = solver.is_complete();
  result.seconds = Trace::steady_seconds() - begin_seconds;
  result.lower_bound = compute_lower_bound(graph, machine);
  result.before = compute_figures(traffic, machine, result.given, options.weight);
  result.after = compute_figures(traffic, machine, result.placement, options.weight);
  return result;
}

}  // namespace barrio::rankmap
