#include "benchmarks/adapt/shares.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "barrio/mpi/collectives.hpp"
#include "benchmarks/spread.hpp"

namespace barrio::bench {
namespace {

constexpr std::array<const char*, n_shares> names{"modification", "exchange", "migration", "waiting",
                                                  "view",         "balance",  "rest"};

/// Shares of the regions of both methods. Other regions count for the one around them.
constexpr std::array<std::pair<std::string_view, Share>, 13> share_of_region{{
    {"adapt", Share::rest},
    {"adapt.take", Share::view},
    {"adapt.give", Share::view},
    {"adapt.rounds", Share::modification},
    {"adapt.pass", Share::modification},
    {"adapt.border", Share::exchange},
    {"adapt.exchange", Share::exchange},
    {"adapt.balance", Share::balance},
    {"adapt.by_migration", Share::rest},
    {"adapt.view", Share::view},
    {"adapt.modify", Share::modification},
    {"adapt.wait", Share::waiting},
    {"adapt.migrate", Share::migration},
}};

double& at(std::array<double, n_shares>& of, Share share) { return of[static_cast<std::size_t>(share)]; }

/// Count the interface entities, each on its owner.
std::int64_t n_owned_and_shared(const mesh::Mesh& mesh) {
  const auto owned = [&](LocalId id) { return index(id) < mesh.n_owned(mesh::Dim::vertex); };
  return std::ranges::count_if(mesh.vertices().shared, owned);
}

}  // namespace

Watch::Watch(mpi::Context& context) : context_(context), mode_(context.trace().mode()) {
  context.trace().set_mode(Trace::Mode::events);
  n_events_before_ = context.trace().events().size();
  mpi::barrier(context);
  before_ = context.counters();
}

Watch::~Watch() { context_.trace().set_mode(mode_); }

// Events are ordered by their ends: inner events come first, and are subtracted from the one around them.
std::array<double, n_shares> Watch::seconds_of_shares() const {
  const Trace& trace = context_.trace();
  std::array<double, n_shares> seconds{};
  std::vector<Trace::Event> ended;
  for (std::size_t i = n_events_before_; i < trace.events().size(); ++i) {
    const Trace::Event& event = trace.events()[i];
    const auto known =
        std::ranges::find(share_of_region, trace.region_name(event.region), &std::pair<std::string_view, Share>::first);
    if (known == share_of_region.end()) continue;
    double own = event.end_seconds - event.begin_seconds;
    for (; !ended.empty() && ended.back().begin_seconds >= event.begin_seconds; ended.pop_back())
      own -= ended.back().end_seconds - ended.back().begin_seconds;
    ended.push_back(event);
    at(seconds, known->second) += own;
  }
  return seconds;
}

Json Watch::result(const mesh::Mesh& mesh) const {
  const mpi::Counters now = context_.counters();
  std::array<double, n_shares> seconds = seconds_of_shares();
  const Json of_modification = spread(context_, at(seconds, Share::modification));
  // In rounds, ranks wait in exchanges, at least until the busiest rank has finished its cavities.
  const double behind = of_modification["max"].get<double>() - at(seconds, Share::modification);
  const double waited = std::min(at(seconds, Share::exchange), behind);
  at(seconds, Share::waiting) += waited;
  at(seconds, Share::exchange) -= waited;
  const double all = mpi::sum(context_, std::accumulate(seconds.begin(), seconds.end(), 0.0));
  Json row{{"seconds_of_cavities", of_modification},
           {"neighbours", spread(context_, static_cast<double>(mesh.neighbours().size()))}};
  add_counts(row, context_, before_, now);
  for (std::size_t i = 0; i < n_shares; ++i) row["shares"][names[i]] = mpi::sum(context_, seconds[i]) / all;
  row["shared_vertices"] = static_cast<double>(mpi::sum(context_, n_owned_and_shared(mesh))) /
                           static_cast<double>(mesh.n_global(mesh::Dim::vertex));
  return row;
}

}  // namespace barrio::bench
