#include "barrio/probe/probe.hpp"

#include <algorithm>
#include <optional>
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
constexpr const char* time_is_over = "the time is over";

/// The experiments with a pair, in order, until the time is over. Both sides of the pair.
class Experiments {
 public:
  Experiments(Pair& pair, double max_seconds, Profile& profile)
      : pair_(pair), end_(pair.now() + max_seconds), profile_(profile) {}

  Json run(Depth depth) {
    // Before and after the experiments: a busy host is usually busy at both times.
    lost_ = find_lost_time(pair_);
    find_times(depth);
    if (depth == Depth::check) return found_;
    find_profile();
    found_["lost_time"] = lost_;
    found_["is_disturbed"] = is_disturbed();
    if (depth == Depth::limits) return found_;
    find_details();
    found_["lost_time"] = lost_;
    found_["is_disturbed"] = is_disturbed();
    return found_;
  }

 private:
  [[nodiscard]] bool is_disturbed() const { return lost_ > max_lost_time || (limits_ && !limits_->are_found()); }
  [[nodiscard]] double seconds_left() { return -pair_.max(pair_.now() - end_); }

  /// Store what an experiment finds, unless the time is over.
  template <class Find>
  void add(const char* name, const Find& find) {
    if (seconds_left() > 0.0) {
      found_[name] = find();
    } else {
      leave_out(name, time_is_over);
    }
  }
  /// As add, for what needs a host without other work. Once that disturbs, all of these are left out.
  template <class Find>
  void add_undisturbed(const char* name, const Find& find) {
    if (is_disturbed()) {
      leave_out(name, "other work disturbs the measurement");
    } else if (limits_) {
      add(name, find);
    } else {
      leave_out(name, time_is_over);
    }
  }
  void leave_out(const char* name, const char* reason) {
    found_["not_tried"].push_back({{"name", name}, {"reason", reason}});
  }

  void find_times(Depth depth) {
    const IdleCalls idle = time_idle_calls(pair_);
    profile_.test_seconds = idle.test_seconds;
    found_["idle_calls"] = to_json(idle);
    Json latencies = Json::array();
    for (std::uint64_t n = 8; n <= largest_message; n *= depth == Depth::check ? 512 : 8) {
      if (n > 8 && seconds_left() <= 0.0) {
        leave_out("latencies of larger messages", time_is_over);
        break;
      }
      latencies.push_back({{"bytes", n}, {"seconds", ping_pong_seconds(pair_, n)}});
    }
    found_["latencies"] = std::move(latencies);
    if (depth == Depth::check) add("check", [&] { return check_profile(pair_, profile_); });
  }

  /// Other work leaves the limits as they are, while it makes all times too long.
  void find_profile() {
    add("limits", [&] {
      limits_ = find_limits(pair_, std::min(longest_search_seconds, seconds_left()));
      profile_.eager_bytes = limits_->eager_bytes.value_or(profile_.eager_bytes);
      profile_.detached_bytes = limits_->detached_bytes.value_or(profile_.detached_bytes);
      return to_json(*limits_);
    });
    lost_ = std::max(lost_, find_lost_time(pair_));
    add_undisturbed("overlap", [&] { return find_overlap(pair_, profile_); });
    add_undisturbed("streams", [&] { return find_streams(pair_, profile_); });
    lost_ = std::max(lost_, find_lost_time(pair_));
    profile_.is_measured = found_.contains("overlap") && found_.contains("streams");
  }

  void find_details() {
    add_undisturbed("blocking_calls", [&] { return find_blocking_calls(pair_); });
    add_undisturbed("early_waits", [&] { return find_early_waits(pair_); });
    add_undisturbed("releases", [&] { return find_releases(pair_, *limits_); });
    add_undisturbed("deadlocks", [&] { return find_deadlocks(pair_); });
    add_undisturbed("figures", [&] { return draw_figures(pair_, *limits_); });
    add_undisturbed("programs", [&] { return run_programs(pair_, *limits_); });
    lost_ = std::max(lost_, find_lost_time(pair_));
  }

  Pair& pair_;
  double end_;
  Profile& profile_;
  Json found_ = Json::object();
  std::optional<MessageLimits> limits_;
  double lost_ = 0.0;
};

/// Run the experiments with one pair of ranks. Collective. @return null, with the profile unchanged, if there is no
/// such pair
Json run_with(mpi::Context& context, Partner partner, const ProbeOptions& options, Profile& profile) {
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
    Json found = Experiments(pair, options.max_seconds, profile).run(options.depth);
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
  findings.document = run_with(context, Partner::far, options, findings.profile);
  if (options.depth == Depth::check || !findings.document["is_between_nodes"].get<bool>()) return findings;
  Profile near = context.profile();
  const double seconds_left = options.max_seconds - findings.document["seconds"].get<double>();
  if (seconds_left <= 0.0) {
    findings.document["not_tried"].push_back({{"name", "on_node"}, {"reason", time_is_over}});
    return findings;
  }
  Json on_node = run_with(context, Partner::near, {.depth = Depth::limits, .max_seconds = seconds_left}, near);
  if (on_node.is_null()) return findings;
  if (findings.document.contains("streams") && on_node.contains("streams"))
    findings.profile.near_cost = std::min(small_message_rate(findings.document) / small_message_rate(on_node), 1.0);
  findings.document["profile"] = mpi::to_json(findings.profile);
  findings.document["on_node"] = std::move(on_node);
  return findings;
}

bool has_profile(const Json& document) {
  return document.contains("limits") && document.contains("streams") && !document.value("is_disturbed", false);
}

void store(const std::string& path, const Json& document) {
  const auto store_one = [&](const Json& one) {
    if (has_profile(one))
      mpi::store_profile(path, mpi::platform_from_json(one["platform"]), mpi::profile_from_json(one["profile"]));
  };
  store_one(document);
  if (document.contains("on_node")) store_one(document["on_node"]);
}

}  // namespace barrio::probe
