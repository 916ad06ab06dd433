#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "apps/command.hpp"
#include "barrio/base/log.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/run.hpp"

// Benchmarks are separate programs beside this one. They write documents with goals.

namespace barrio::apps {
namespace {

struct Run {
  int n_ranks;
  std::vector<std::string> arguments;
};

/// A benchmark, and the runs that together measure all its goals.
struct Benchmark {
  const char* name;
  const char* summary;
  int n_ranks;  // by default
  std::vector<Run> runs;
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all{
      {"exchange",
       "messages of 8 bytes to neighbours",
       2,
       {{2, {"--pattern", "ring", "--iterations", "1024", "61440", "491520"}},
        {16, {"--pattern", "tile", "--iterations", "64", "2048"}},
        {16, {"--pattern", "meet", "--iterations", "64"}},
        {2, {"--work", "gather"}},
        {2, {"--work", "transfer"}}}},
      {"adapt", "a cube adapted to a shock, and to moving bubbles", 2, {{2, {}}}},
      {"amr", "structured AMR of compressible flow", 1, {{1, {}}, {2, {"--parts", "rm3d"}}}},
      {"delaunay", "quality triangulation on one core", 1, {{1, {}}}},
      {"mesh", "read a mesh, resolve shared entities, add ghosts", 2, {{2, {}}}},
      {"mobile", "messages to mobile objects, and outside rounds", 2, {{2, {}}}},
      {"rankmap", "placements of ranks on machines", 1, {{1, {}}}},
      {"strategies", "strategies of a repeated exchange", 2, {{2, {}}}},
  };
  return all;
}

class Bench : public Command {
 public:
  explicit Bench(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "bench"; }
  [[nodiscard]] std::string summary() const override {
    return "Run a benchmark against the alternatives to barrio; bench NAME --help shows its options. bench all runs "
           "all of them, or those named after it, and lists every goal, missed ones first";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 bench exchange --pattern ring --iterations 1024 61440";
  }
  [[nodiscard]] std::string more_help() const override {
    std::string text = "Benchmarks, and the ranks that they have by default:\n";
    for (const Benchmark& one : benchmarks())
      text += fmt::format("\t{}\t{} ({})\n", one.name, one.summary, one.n_ranks);
    return text + "\n";
  }
  void add_options(CLI::App& app) override {
    app.prefix_command();  // all following words belong to the benchmark
    app.fallthrough(false);
    app_ = &app;
  }
  [[nodiscard]] GlobalUse global_use() const override { return {.ranks = true, .phases = true}; }
  [[nodiscard]] bool is_prefix() const override { return true; }
  std::vector<std::string>* forwarded_words() override {
    arguments_ = app_->remaining();
    return &arguments_;
  }
  Json run(mpi::Context*) override {
    std::vector<std::string> arguments = arguments_;
    const std::string wanted = arguments.empty() ? "" : arguments.front();
    if (!arguments.empty()) arguments.erase(arguments.begin());
    is_all_ = wanted == "all";
    if (is_all_) return run_all(arguments);
    const Benchmark& benchmark = find(wanted, true);
    for (const std::string& word : words_of(options_)) arguments.push_back(word);
    const std::string program = program_of(benchmark);
    if (const std::string reason = why_not_startable(program); !reason.empty()) throw not_built(program, reason);
    if (ranks_of_launcher() > 0 && options_.n_ranks == 0) {
      arguments.insert(arguments.begin(), program);
      become(arguments);
    }
    const RanksEnd end = run_ranks(n_ranks_of(benchmark), program, arguments);
    code_ = end.code;
    if (end.fault) {
      print_failure(*end.fault, options_);
      mpi::print_error(*end.fault);
    }
    return {};
  }
  [[nodiscard]] bool is_printed_elsewhere() const override { return !is_all_; }
  [[nodiscard]] std::string render(const Json& result) const override {
    if (!is_all_) return "";
    std::string text;
    for (const Json& one : result["goals"])
      text += fmt::format("{} {:<10} {:<44} {:>11.4g} {} (goal {} {:.4g})\n",
                          one["met"].get<bool>() ? "met    " : "NOT MET", one["benchmark"].get<std::string>(),
                          one["id"].get<std::string>(), one["value"].get<double>(), one["unit"].get<std::string>(),
                          one["better"] == "higher" ? ">=" : "<=", one["goal"].get<double>());
    text += fmt::format("{} of {} goals are met\n", result["n_met"].get<std::int64_t>(), result["goals"].size());
    for (const Json& one : result["not_run"])
      text += fmt::format("not run: {}: {}\n", one["benchmark"].get<std::string>(), one["reason"].get<std::string>());
    return text;
  }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  [[nodiscard]] static Error not_built(const std::string& program, const std::string& reason) {
    return {ErrorCode::failed,
            {.subject = program, .cause = reason, .remedy = "build barrio's benchmarks: make bench"}};
  }
  [[nodiscard]] static std::string program_of(const Benchmark& benchmark) {
    return (folder_of_program() / fmt::format("barrio-bench-{}", benchmark.name)).string();
  }
  [[nodiscard]] int n_ranks_of(const Benchmark& benchmark) const {
    return options_.n_ranks > 0 ? options_.n_ranks : benchmark.n_ranks;
  }
  [[nodiscard]] static const Benchmark& find(const std::string& wanted, bool may_be_all) {
    std::vector<std::string> known;
    for (const Benchmark& one : benchmarks()) {
      if (one.name == wanted) return one;
      known.emplace_back(one.name);
    }
    if (may_be_all) known.emplace_back("all");
    throw Error(ErrorCode::usage, {.subject = fmt::format("benchmark '{}'", wanted),
                                   .cause = "is not known." + did_you_mean(wanted, known),
                                   .remedy = fmt::format("choose one of: {}", fmt::join(known, ", "))});
  }

  /// Run benchmarks and collect all their goals. @param only  names; empty: all
  [[nodiscard]] Json run_all(const std::vector<std::string>& only) {
    if (ranks_of_launcher() > 0)
      throw Error(ErrorCode::usage, {.subject = "bench all",
                                     .cause = "starts its ranks itself, but a launcher has started it",
                                     .remedy = "start it without a launcher"});
    if (options_.n_ranks > 0)
      throw Error(ErrorCode::usage, {.subject = fmt::format("--ranks {}", options_.n_ranks),
                                     .cause = "cannot be given to bench all: each run has the ranks of its goals",
                                     .remedy = "leave it out, or run one benchmark"});
    std::vector<const Benchmark*> chosen;
    for (const std::string& name : only) chosen.push_back(&find(name, false));
    if (only.empty())
      for (const Benchmark& one : benchmarks()) chosen.push_back(&one);
    Json result = json_document("barrio.bench.all", 1);
    result["runs"] = Json::array();
    result["not_run"] = Json::array();
    std::vector<Json> goals;
    const ScratchFolder folder;
    for (const Benchmark* benchmark : chosen) {
      const std::string program = program_of(*benchmark);
      if (const std::string reason = why_not_startable(program); !reason.empty()) {
        if (chosen.size() == 1) throw not_built(program, reason);
        result["not_run"].push_back({{"benchmark", benchmark->name}, {"reason", reason + " (make bench)"}});
        continue;
      }
      for (const auto& [n_ranks, words] : benchmark->runs) {
        std::vector<std::string> arguments = words;
        const std::string file = folder.file("result.json");
        arguments.insert(arguments.end(), {"--result", file});
        if (std::string_view(benchmark->name) == "mesh")
          arguments.insert(arguments.end(), {"--folder", folder.path().string()});
        if (options_.shows_times) arguments.emplace_back("--times");
        const auto begin = std::chrono::steady_clock::now();
        const RanksEnd end = run_ranks(n_ranks, program, arguments, ProgramOutput::to_errors);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        result["runs"].push_back({{"benchmark", benchmark->name},
                                  {"arguments", words},
                                  {"ranks", n_ranks},
                                  {"code", end.code},
                                  {"seconds", seconds.count()}});
        if (end.code != 0) {
          code_ = std::max(code_, end.code);
          result["not_run"].push_back(
              {{"benchmark", benchmark->name},
               {"reason", fmt::format("{} ended with code {}", fmt::join(words, " "), end.code)}});
          if (end.code >= signal_code) break;
          continue;
        }
        const Json document = read_json_file(file);
        for (Json goal : document["goals"]) {
          goal["benchmark"] = benchmark->name;
          goals.push_back(std::move(goal));
        }
      }
    }
    std::ranges::stable_partition(goals, [](const Json& goal) { return !goal["met"].get<bool>(); });
    result["n_met"] = std::ranges::count_if(goals, [](const Json& goal) { return goal["met"].get<bool>(); });
    result["goals"] = goals;
    return result;
  }

  const GlobalOptions& options_;
  CLI::App* app_ = nullptr;
  std::vector<std::string> arguments_;
  bool is_all_ = false;
  int code_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_bench(const GlobalOptions& options) { return std::make_unique<Bench>(options); }

}  // namespace barrio::apps
