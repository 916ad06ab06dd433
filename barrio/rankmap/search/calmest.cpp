#include "barrio/rankmap/search/calmest.hpp"

#include <utility>

#include "barrio/rankmap/search/bottleneck.hpp"

namespace barrio::rankmap::detail {
namespace {

constexpr double first_rung_seconds = 0x1p-10;

}  // namespace

Calmest::Calmest(const CommunicationGraph& graph, const Machine& machine, const Candidate& given,
                 const ReliefPlan& plan, Deadline deadline)
    : graph_(graph),
      machine_(machine),
      plan_(plan),
      deadline_(deadline),
      best_(given),
      mixed_given_(mixed(given)),
      mixed_best_(mixed_given_) {}

double Calmest::mixed(const Candidate& one) const {
  return mixed_cost(graph_, machine_, one.placement, plan_.bottleneck);
}

void Calmest::relieve(const Candidate& found, double seconds) {
  if (!(plan_.bottleneck > 0.0)) return;
  const bool is_new = std::exchange(last_cost_, found.cost) > found.cost;
  // The given order may be the better start here, though not in Z.
  Candidate one = is_new && mixed(found) <= mixed_given_ ? found : best_;
  const bool is_whole = relieve_bottleneck(graph_, machine_, one.placement, plan_.bottleneck, plan_.is_fixed, deadline_,
                                           seconds, plan_.seed + n_calls_++);
  is_complete_ = is_complete_ && is_whole;
  const double mixed_now = mixed(one);
  if (mixed_now >= mixed_best_) return;
  constexpr const char* relief = " + relief of the busiest node";
  if (!one.method.ends_with(relief)) one.method += relief;
  one.cost = cost(graph_, machine_, one.placement);
  best_ = std::move(one);
  mixed_best_ = mixed_now;
}

void Calmest::relieve_in_rungs(const Candidate& found, double seconds) {
  double spent = 0.0, rung = first_rung_seconds;
  do {
    relieve(found, rung);
    spent += rung;
    rung *= 2;
  } while (spent + rung <= seconds);
}

}  // namespace barrio::rankmap::detail
