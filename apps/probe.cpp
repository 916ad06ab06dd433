#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "apps/command.hpp"
#include "apps/launch/child.hpp"
#include "apps/text/probe_text.hpp"
#include "barrio/base/log.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/stored_profile.hpp"
#include "barrio/probe/probe.hpp"
#include "barrio/probe/transports.hpp"

namespace barrio::apps {
namespace {

constexpr int default_ranks = 2;
constexpr double default_limit_seconds = 60.0;
constexpr double min_run_seconds = 1.0;  // a launch takes about half of that

/// Return the seconds that a run takes where no other work uses the cores, with its launch.
double usual_seconds(const std::string& depth) { return depth == "all" ? 5.0 : depth == "limits" ? 2.5 : 1.0; }

/// The time that the whole command may take: nothing begins after it.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double spent() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double left() const { return seconds_ - spent(); }
  /// Return the time of the next run: at most half of the whole, so that one that stalls leaves time for others.
  [[nodiscard]] double share() const { return std::min(seconds_ / 2, left()); }
  [[nodiscard]] bool is_over() const { return left() < std::min(min_run_seconds, seconds_ / 4); }
  [[nodiscard]] std::string reason() const {
    return fmt::format("the limit of {:g} s was reached (--limit)", seconds_);
  }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

constexpr const char* other_work = "other work uses the cores and disturbed the run before";

/// File for the results of a child, in its own folder. Both are removed with this object.
class ResultFile {
 public:
  ResultFile() {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::temp_directory_path(error);
    folder_ = (place / "barrio-probe-XXXXXX").string();
    if (error || ::mkdtemp(folder_.data()) == nullptr)
      throw Error(ErrorCode::failed, {.subject = error ? "TMPDIR" : folder_,
                                      .cause = "no folder can be made there for results",
                                      .remedy = "set TMPDIR to a folder that can be written"});
  }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path() const { return folder_ + "/found.json"; }

 private:
  std::string folder_;
};

/// Return the most telling line of a failure: barrio's first error, or else the last line that is not empty.
std::string reason_of(const ChildEnd& end) {
  std::string reason;
  std::size_t begin = 0;
  while (begin < end.errors.size()) {
    const std::size_t line_end = std::min(end.errors.find('\n', begin), end.errors.size());
    const std::string line = end.errors.substr(begin, line_end - begin);
    begin = line_end + 1;
    const std::size_t error = line.find("error: ");
    if (error != std::string::npos) return line.substr(error + 7);
    const bool is_rule = line.find_first_not_of("-= \t") == std::string::npos;
    if (!is_rule && line.find("info") == std::string::npos) reason = line;
  }
  return reason.empty() ? fmt::format("ended with code {}", end.exit_code) : reason;
}

class Probe : public Command {
 public:
  explicit Probe(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "probe"; }
  [[nodiscard]] std::string summary() const override {
    return "Measure how this MPI behaves between two ranks over each transport, and store a profile that tunes barrio";
  }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 2 --result probe.json probe"; }
  [[nodiscard]] bool is_parallel() const override { return ranks_of_launcher() > 0; }
  [[nodiscard]] GlobalUse global_use() const override { return {.ranks = true, .phases = is_parallel()}; }
  void add_options(CLI::App& app) override {
    app.add_option("--transport", wanted_, "Transports to try (shm, tcp, ucx-shm, ucx-tcp); all by default")
        ->delimiter(',');
    app.add_option("--depth", depth_,
                   "all: every experiment; limits: those that a profile needs; check: test in a second whether the "
                   "stored profile holds")
        ->check(CLI::IsMember({"all", "limits", "check"}))
        ->capture_default_str();
    app.add_option("--limit", limit_seconds_,
                   "Seconds for the whole: nothing is begun after them, and one run gets at most half of them")
        ->check(positive_number())
        ->capture_default_str();
    app.add_flag("--no-settings", skips_settings_, "Skip the runs with other eager limits and socket buffers");
    app.add_flag("--no-store", is_not_stored_, "Do not store the profiles; --result still has them");
  }
  Json run(mpi::Context* context) override { return context != nullptr ? measure(*context) : run_all(); }
  [[nodiscard]] std::string render(const Json& result) const override { return probe_text(result); }

 private:
  /// Measure the transport of this job. Called under a launcher.
  Json measure(mpi::Context& context) {
    const probe::Depth depth = depth_ == "all"      ? probe::Depth::all
                               : depth_ == "limits" ? probe::Depth::limits
                                                    : probe::Depth::check;
    if (!wanted_.empty())
      throw AgreedError(ErrorCode::usage, {.subject = "--transport",
                                           .cause = "is fixed when a job is launched, and this job runs already",
                                           .remedy = "leave it out, or let barrio launch: " + example()});
    if (context.is_root()) announce(1, 0);
    const probe::Findings found = probe::run(context, {.depth = depth, .max_seconds = limit_seconds_});
    Json result = mpi::document(context, "barrio.probe", 1);
    result["transports"] = Json::array();
    const auto add = [&](Json transport) {
      transport["name"] = transport["platform"]["transport"];
      transport["variables"] = transport["platform"]["settings"];
      transport.erase("on_node");
      result["transports"].push_back(std::move(transport));
    };
    add(found.document);
    if (found.document.contains("on_node")) add(found.document["on_node"]);
    if (found.document.value("is_disturbed", false))
      context.log().notice(
          fmt::format("{}: no profile is stored. Probe again on an idle host, with a core for each of "
                      "the two ranks",
                      disturbance_text(found.document)));
    const bool is_stored = store(context, found.document);
    for (Json& transport : result["transports"]) transport["is_stored"] = is_stored && probe::has_profile(transport);
    return result;
  }

  /// Store the profiles of the findings. @return whether they are stored; on rank 0
  bool store(mpi::Context& context, const Json& found) {
    const std::string path = mpi::stored_profiles_path();
    if (is_not_stored_ || path.empty() || !context.is_root()) return false;
    try {
      probe::store(path, found);
      return true;
    } catch (const Error& error) {
      context.log().notice(fmt::format("the profile is not stored: {}: {}", error.subject(), error.cause()));
    }
    return false;
  }

  /// Launch this program once for each transport and setting. Called without a launcher.
  Json run_all() {
    const int n_ranks = options_.n_ranks > 0 ? options_.n_ranks : default_ranks;
    if (n_ranks == 1)
      throw Error(
          ErrorCode::usage,
          {.subject = "--ranks 1", .cause = "is too few: a probe needs at least two ranks", .remedy = example()});
    const TimeLimit limit(limit_seconds_);
    Json result = json_document("barrio.probe", 1);
    result["mpi"] = mpi::mpi_library();
    result["ranks"] = n_ranks;
    result["left_aside"] = Json::array();
    for (const std::string& name : names_of_variables())
      if (std::getenv(name.c_str()) != nullptr) result["left_aside"].push_back(name);
    result["limit_seconds"] = limit.seconds();
    for (const char* part : {"transports", "absent", "stalled", "settings", "not_tried"}) result[part] = Json::array();
    try_all(n_ranks, limit, result);
    result["seconds"] = limit.spent();
    const std::string path = mpi::stored_profiles_path();
    const bool is_any_stored = std::ranges::any_of(
        result["transports"], [](const Json& transport) { return transport.value("is_stored", false); });
    result["stored_in"] = is_any_stored ? path : "";
    if (result["transports"].empty()) throw nothing_measured(limit, result);
    return result;
  }

  static Error nothing_measured(const TimeLimit& limit, const Json& result) {
    if (result["absent"].empty())
      return {ErrorCode::failed,
              {.subject = "probe",
               .cause = fmt::format("no run ended within its share of {:g} s (--limit)", limit.seconds()),
               .remedy = "end other work on this host, or give more time, as in --limit 300; if that does not help, a "
                         "transport stalls"}};
    return {ErrorCode::failed,
            {.subject = "probe",
             .cause = fmt::format("no transport works: {}", result["absent"].front().value("reason", "")),
             .remedy = "barrio doctor says what is missing"}};
  }

  /// Tell on stderr what will be measured, and how long that takes.
  void announce(std::size_t n_transports, std::size_t n_settings) const {
    const double usual = static_cast<double>(n_transports) * usual_seconds(depth_) +
                         static_cast<double>(n_settings) * usual_seconds("limits");
    Log().notice(fmt::format(
        "measuring messages between two ranks over {} transport{}{}: about {:.0f} s where no other work uses the "
        "cores, at most {:g} s (--limit)",
        n_transports, n_transports == 1 ? "" : "s",
        n_settings == 0 ? "" : fmt::format(", and with {} other settings of MPI", n_settings), std::ceil(usual),
        limit_seconds_));
  }

  void try_all(int n_ranks, const TimeLimit& limit, Json& result) {
    const std::vector<probe::Transport> transports = choose_transports();
    std::vector<probe::Setting> settings;
    if (depth_ == "all" && !skips_settings_) settings = probe::settings_of(BARRIO_MPI_FLAVOUR);
    std::erase_if(settings, [&](const probe::Setting& setting) {
      return std::ranges::find(transports, setting.transport, &probe::Transport::name) == transports.end();
    });
    announce(transports.size(), settings.size());
    Progress progress("barrio probe", true);
    progress.begin("barrio probe", std::ssize(transports) + std::ssize(settings));
    std::int64_t n_done = 0;
    for (const probe::Transport& transport : transports) {
      try_transport(transport, n_ranks, limit, result);
      progress.update(++n_done);
    }
    for (const probe::Setting& setting : settings) {
      try_setting(setting, n_ranks, limit, result);
      progress.update(++n_done);
    }
  }

  /// Note what is not tried any more. @return whether there is a reason not to try it
  bool leave_out(const std::string& name, const TimeLimit& limit, Json& result) const {
    if (!limit.is_over() && !is_disturbed_) return false;
    result["not_tried"].push_back({{"name", name}, {"reason", limit.is_over() ? limit.reason() : other_work}});
    return true;
  }

  [[nodiscard]] std::vector<probe::Transport> choose_transports() const {
    std::vector<probe::Transport> all = probe::transports_of(BARRIO_MPI_FLAVOUR);
    if (wanted_.empty()) {
      if (depth_ == "check") all.resize(1);
      return all;
    }
    std::vector<std::string> names;
    for (const probe::Transport& transport : all) names.push_back(transport.name);
    for (const std::string& name : wanted_)
      if (std::ranges::find(names, name) == names.end())
        throw Error(ErrorCode::usage, {.subject = fmt::format("--transport {}", name),
                                       .cause = fmt::format("is not a transport that barrio can request from {}.{}",
                                                            mpi::mpi_library(), did_you_mean(name, names)),
                                       .remedy = fmt::format("choose one of: {}", fmt::join(names, ", "))});
    std::erase_if(all, [&](const probe::Transport& transport) {
      return std::ranges::find(wanted_, transport.name) == wanted_.end();
    });
    return all;
  }

  /// A run of this program under the launcher: its results, null if it failed, and its end with the reason.
  struct Run {
    Json found = {};
    ChildEnd end = {};
    double share_seconds = 0.0;
  };

  /// Run a child with these variables, and once more if other work disturbed it and there is time enough.
  Run launch_child(const std::vector<std::string>& variables, const std::string& depth, int n_ranks,
                   const TimeLimit& limit) {
    constexpr double part = 0.25;
    const double before = limit.spent();
    Run run = launch_once(variables, depth, n_ranks, limit.share());
    const auto is_disturbed = [&] { return !run.found.is_null() && run.found.value("is_disturbed", false); };
    if (is_disturbed() && limit.spent() - before < part * limit.left()) {
      Run again = launch_once(variables, depth, n_ranks, limit.share());
      if (!again.found.is_null()) run = std::move(again);
    }
    is_disturbed_ = is_disturbed();
    return run;
  }

  Run launch_once(const std::vector<std::string>& variables, const std::string& depth, int n_ranks, double seconds) {
    constexpr double part = 0.75;  // the rest is for the launch, and for the end of an experiment
    const ResultFile file;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> arguments{
        "--result", file.path(), "probe", "--depth", depth, "--limit", fmt::format("{}", part * seconds)};
    if (is_not_stored_) arguments.emplace_back("--no-store");
    std::vector<std::string> line = launch_line(n_ranks, self, arguments, LauncherSpeech::plain);
    line.insert(line.begin(), variables.begin(), variables.end());
    line.insert(line.begin(), "BARRIO_LOG=error");  // its messages are looked through for the reason of a failure
    Run run{.end = run_child(line, seconds, names_of_variables()), .share_seconds = seconds};
    if (run.end.exit_code != 0 || run.end.is_stopped) return run;
    try {
      run.found = read_json_document(file.path(), "barrio.probe", 1).at("transports").at(0);
    } catch (const Error&) {
      run.end.errors =
          "error: the results of rank 0 are not on this host; launch on this one, or probe under the launcher";
    }
    return run;
  }

  /// Say why a run has no results.
  [[nodiscard]] static std::string reason_without(const Run& run) {
    if (!run.end.is_stopped) return reason_of(run.end);
    return fmt::format(
        "it did not end within {:.3g} s: other work may slow it down, or a pair may wait for ever over it",
        run.share_seconds);
  }

  /// Tell whether a run was stopped because the limit was near, and not after the longest time that one run gets.
  [[nodiscard]] static bool is_cut(const Run& run, const TimeLimit& limit) {
    return run.end.is_stopped && run.share_seconds < limit.seconds() / 2;
  }

  /// Return the variables that choose a transport. One set in this shell would be measured under another's name.
  [[nodiscard]] static std::vector<std::string> names_of_variables() {
    std::vector<std::string> names;
    for (const probe::Transport& transport : probe::transports_of(BARRIO_MPI_FLAVOUR))
      for (const std::string& variable : transport.variables) names.push_back(variable.substr(0, variable.find('=')));
    sort_unique(names);
    return names;
  }

  void try_transport(const probe::Transport& transport, int n_ranks, const TimeLimit& limit, Json& result) {
    if (leave_out(transport.name, limit, result)) return;
    Run run = launch_child(transport.variables, depth_, n_ranks, limit);
    const Json about{{"name", transport.name},
                     {"summary", transport.summary},
                     {"variables", fmt::format("{}", fmt::join(transport.variables, " "))}};
    if (!run.found.is_null()) {
      run.found.update(about);
      result["transports"].push_back(std::move(run.found));
      return;
    }
    Json entry = about;
    entry["reason"] = is_cut(run, limit) ? limit.reason() : reason_without(run);
    result[is_cut(run, limit) ? "not_tried" : run.end.is_stopped ? "stalled" : "absent"].push_back(std::move(entry));
  }

  void try_setting(const probe::Setting& setting, int n_ranks, const TimeLimit& limit, Json& result) {
    const auto is_named = [&](const Json& one) { return one["name"] == setting.transport; };
    const std::string name = fmt::format("{}, {}", setting.transport, probe::name_of(setting));
    const bool is_known = std::ranges::any_of(result["transports"], is_named);
    if (!is_known && std::ranges::none_of(result["not_tried"], is_named)) return;
    if (leave_out(name, limit, result)) return;
    std::vector<std::string> variables = setting.variables;
    for (const probe::Transport& transport : probe::transports_of(BARRIO_MPI_FLAVOUR))
      if (transport.name == setting.transport)
        variables.insert(variables.end(), transport.variables.begin(), transport.variables.end());
    const Run run = launch_child(variables, "limits", n_ranks, limit);
    if (is_cut(run, limit)) {
      result["not_tried"].push_back({{"name", name}, {"reason", limit.reason()}});
      return;
    }
    Json entry = probe::to_json(setting);
    if (run.found.is_null()) {
      entry["reason"] = reason_without(run);
    } else {
      for (const char* part : {"limits", "latencies", "overlap", "is_disturbed", "lost_time", "not_tried"})
        if (run.found.contains(part)) entry[part] = run.found[part];
    }
    result["settings"].push_back(std::move(entry));
  }

  const GlobalOptions& options_;
  std::vector<std::string> wanted_;
  std::string depth_ = "all";
  bool skips_settings_ = false;
  bool is_not_stored_ = false;
  double limit_seconds_ = default_limit_seconds;
  bool is_disturbed_ = false;  // the last run, twice if there was time
};

}  // namespace

std::unique_ptr<Command> make_probe(const GlobalOptions& options) { return std::make_unique<Probe>(options); }

}  // namespace barrio::apps
