#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

constexpr double seconds_of_transport = 120.0;  // enough on a busy host too; after that a child counts as stalled
constexpr int default_ranks = 2;

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
    const probe::Findings found = probe::run(context, {.depth = depth});
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
      context.log().notice(fmt::format(
          "other work took {:.0f} % of the time of a rank, so these figures are unreliable and no profile is stored: "
          "probe again on an idle host, with a core for each of the two ranks",
          100 * found.document["lost_time"].get<double>()));
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
    const auto start = std::chrono::steady_clock::now();
    Json result = json_document("barrio.probe", 1);
    result["mpi"] = mpi::mpi_library();
    result["ranks"] = n_ranks;
    result["left_aside"] = Json::array();
    for (const std::string& name : names_of_variables())
      if (std::getenv(name.c_str()) != nullptr) result["left_aside"].push_back(name);
    for (const char* part : {"transports", "absent", "stalled", "settings"}) result[part] = Json::array();
    try_all(n_ranks, result);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    result["seconds"] = seconds.count();
    const std::string path = mpi::stored_profiles_path();
    const bool is_any_stored = std::ranges::any_of(
        result["transports"], [](const Json& transport) { return transport.value("is_stored", false); });
    result["stored_in"] = is_any_stored ? path : "";
    if (result["transports"].empty())
      throw Error(ErrorCode::failed,
                  {.subject = "probe",
                   .cause = result["absent"].empty() && !result["stalled"].empty()
                                ? "every transport stalled"
                                : fmt::format("no transport works: {}", result["absent"].front().value("reason", "")),
                   .remedy = "barrio doctor says what is missing"});
    return result;
  }

  void try_all(int n_ranks, Json& result) {
    const std::vector<probe::Transport> transports = choose_transports();
    std::vector<probe::Setting> settings;
    if (depth_ == "all" && !skips_settings_) settings = probe::settings_of(BARRIO_MPI_FLAVOUR);
    Progress progress("barrio probe", true);
    progress.begin("barrio probe", transports.size() + settings.size());
    std::int64_t n_done = 0;
    for (const probe::Transport& transport : transports) {
      try_transport(transport, n_ranks, result);
      progress.update(++n_done);
    }
    for (const probe::Setting& setting : settings) {
      try_setting(setting, n_ranks, result);
      progress.update(++n_done);
    }
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

  /// Run a child with these variables. @return its results, null if it failed, and its end with the reason
  std::pair<Json, ChildEnd> launch_child(const std::vector<std::string>& variables, const std::string& depth,
                                         int n_ranks) {
    const ResultFile file;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> arguments{"--result", file.path(), "probe", "--depth", depth};
    if (is_not_stored_) arguments.emplace_back("--no-store");
    std::vector<std::string> line = launch_line(n_ranks, self, arguments, LauncherSpeech::plain);
    line.insert(line.begin(), variables.begin(), variables.end());
    ChildEnd end = run_child(line, seconds_of_transport, names_of_variables());
    if (end.exit_code != 0 || end.is_stopped) return {Json(), std::move(end)};
    try {
      return {read_json_document(file.path(), "barrio.probe", 1).at("transports").at(0), std::move(end)};
    } catch (const Error&) {
      end.errors = "error: the results of rank 0 are not on this host; launch on this one, or probe under the launcher";
      return {Json(), std::move(end)};
    }
  }

  [[nodiscard]] static std::string stalled_reason() {
    return fmt::format("it did not end within {} s: a pair may wait for ever over it", seconds_of_transport);
  }

  /// Return the variables that choose a transport. One set in this shell would be measured under another's name.
  [[nodiscard]] static std::vector<std::string> names_of_variables() {
    std::vector<std::string> names;
    for (const probe::Transport& transport : probe::transports_of(BARRIO_MPI_FLAVOUR))
      for (const std::string& variable : transport.variables) names.push_back(variable.substr(0, variable.find('=')));
    sort_unique(names);
    return names;
  }

  void try_transport(const probe::Transport& transport, int n_ranks, Json& result) {
    auto [found, end] = launch_child(transport.variables, depth_, n_ranks);
    const Json about{{"name", transport.name},
                     {"summary", transport.summary},
                     {"variables", fmt::format("{}", fmt::join(transport.variables, " "))}};
    if (!found.is_null()) {
      found.update(about);
      result["transports"].push_back(std::move(found));
      return;
    }
    Json entry = about;
    entry["reason"] = end.is_stopped ? stalled_reason() : reason_of(end);
    result[end.is_stopped ? "stalled" : "absent"].push_back(std::move(entry));
  }

  void try_setting(const probe::Setting& setting, int n_ranks, Json& result) {
    std::vector<std::string> variables = setting.variables;
    bool is_known = false;
    for (const probe::Transport& transport : probe::transports_of(BARRIO_MPI_FLAVOUR))
      if (transport.name == setting.transport)
        variables.insert(variables.end(), transport.variables.begin(), transport.variables.end());
    for (const Json& transport : result["transports"])
      if (transport["name"] == setting.transport) is_known = true;
    if (!is_known) return;
    const auto [found, end] = launch_child(variables, "limits", n_ranks);
    Json entry = probe::to_json(setting);
    if (found.is_null()) {
      entry["reason"] = end.is_stopped ? stalled_reason() : reason_of(end);
    } else {
      for (const char* part : {"limits", "latencies", "overlap", "is_disturbed"}) entry[part] = found[part];
    }
    result["settings"].push_back(std::move(entry));
  }

  const GlobalOptions& options_;
  std::vector<std::string> wanted_;
  std::string depth_ = "all";
  bool skips_settings_ = false;
  bool is_not_stored_ = false;
};

}  // namespace

std::unique_ptr<Command> make_probe(const GlobalOptions& options) { return std::make_unique<Probe>(options); }

}  // namespace barrio::apps
