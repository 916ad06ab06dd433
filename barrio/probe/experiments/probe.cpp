#include "barrio/probe/probe.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/platform.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/stored_profile.hpp"
#include "barrio/probe/experiments/blocking.hpp"
#include "barrio/probe/experiments/figures.hpp"
#include "barrio/probe/experiments/limits.hpp"
#include "barrio/probe/experiments/overlap.hpp"

namespace barrio::probe {
namespace {

constexpr double max_lost_time = 0.05;

Json experiment(Pair& pair, Depth depth, Profile& profile) {
  Json found = Json::object();
  // Before and after the experiments: a busy host is usually busy at both times.
  double lost = find_lost_time(pair);
  const IdleCalls idle = time_idle_calls(pair);
  profile.test_seconds = idle.test_seconds;
  found["idle_calls"] = to_json(idle);
  Json latencies = Json::array();
  for (std::uint64_t n = 8; n <= largest_message; n *= depth == Depth::check ? 512 : 8)
    latencies.push_back({{"bytes", n}, {"seconds", ping_pong_seconds(pair, n)}});
  found["latencies"] = std::move(latencies);
  if (depth == Depth::check) {
    found["check"] = check_profile(pair, profile);
    return found;
  }

  const MessageLimits limits = find_limits(pair);
  profile.eager_bytes = limits.eager_bytes.value_or(profile.eager_bytes);
  profile.detached_bytes = limits.detached_bytes.value_or(profile.detached_bytes);
  found["limits"] = to_json(limits);
  found["overlap"] = find_overlap(pair, profile);
  found["streams"] = find_streams(pair, profile);
  profile.is_measured = true;
  lost = std::max(lost, find_lost_time(pair));
  found["lost_time"] = lost;
  found["is_disturbed"] = lost > max_lost_time || !limits.are_found();
  if (depth == Depth::limits) return found;

  found["blocking_calls"] = find_blocking_calls(pair);
  found["early_waits"] = find_early_waits(pair);
  found["releases"] = find_releases(pair, limits);
  found["deadlocks"] = find_deadlocks(pair);
  found["figures"] = draw_figures(pair, limits);
  found["programs"] = run_programs(pair, limits);
  lost = std::max(lost, find_lost_time(pair));
  found["lost_time"] = lost;
  found["is_disturbed"] = lost > max_lost_time || !limits.are_found();
  return found;
}

/// Run the experiments with one pair of ranks. Collective. @return null, with the profile unchanged, if there is no
/// such pair
Json run_with(mpi::Context& context, Partner partner, Depth depth, Profile& profile) {
  Pair pair(context, partner);
  if (!pair.exists()) return {};
  Json document = mpi::document(context, "barrio.probe.transport", 1);
  mpi::Platform platform = mpi::find_platform(context);
  if (partner == Partner::near) platform = mpi::platform_on_node(std::move(platform));
  document["is_between_nodes"] = pair.is_apart();
  const double start = MPI_Wtime();
  std::string text;
  const Status status = capture([&] {
    if (!pair.takes_part()) return;
    Json found = experiment(pair, depth, profile);
    found["platform"] = mpi::to_json(platform);
    if (context.is_root()) text = found.dump();
  });
  rest(context, pair);
  agree(context, status);
  mpi::broadcast(context, text);
  mpi::broadcast(context, std::span(&profile, 1));
  document.update(Json::parse(text));
  document["seconds"] = mpi::max(context, MPI_Wtime() - start);
  document["profile"] = mpi::to_json(profile);
  return document;
}

/// Return messages per second, of the smallest size in the streams.
double small_message_rate(const Json& document) {
  const Json& smallest = document["streams"]["sizes"][0];
  return smallest["bytes_per_second"].get<double>() / smallest["bytes"].get<double>();
}

}  // namespace

Findings run(mpi::Context& context, const ProbeOptions& options) {
  Findings findings{.document = {}, .profile = context.profile()};
  findings.document = run_with(context, Partner::far, options.depth, findings.profile);
  if (options.depth == Depth::check || !findings.document["is_between_nodes"].get<bool>()) return findings;
  Profile near = context.profile();
  Json on_node = run_with(context, Partner::near, Depth::limits, near);
  if (on_node.is_null()) return findings;
  findings.profile.near_cost = std::min(small_message_rate(findings.document) / small_message_rate(on_node), 1.0);
  findings.document["profile"] = mpi::to_json(findings.profile);
  findings.document["on_node"] = std::move(on_node);
  return findings;
}

bool has_profile(const Json& document) { return document.contains("limits") && !document.value("is_disturbed", false); }

void store(const std::string& path, const Json& document) {
  const auto store_one = [&](const Json& one) {
    if (has_profile(one))
      mpi::store_profile(path, mpi::platform_from_json(one["platform"]), mpi::profile_from_json(one["profile"]));
  };
  store_one(document);
  if (document.contains("on_node")) store_one(document["on_node"]);
}

}  // namespace barrio::probe
