#include <fmt/format.h>

#include <csignal>

#include "apps/command.hpp"
#include "barrio/base/text.hpp"
#include "barrio/cases/case_run.hpp"

namespace barrio::apps {
namespace {

class Amr : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "amr"; }
  [[nodiscard]] std::string summary() const override {
    return "Compute compressible flow on levels of cells that follow it (structured AMR)";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 amr examples/15-amr/sod.toml --set grid.levels=3";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  void show_on(Progress& progress, mpi::Context&) override { progress_ = &progress; }
  void add_options(CLI::App& app) override {
    app.add_option("CASE", job_.file, "Case file in TOML; docs/reference/case-file.md lists the keys")->required();
    app.add_option("--set", job_.settings,
                   "Value that replaces one of the file, such as grid.levels=3 or run.end_time=0.1; may be repeated")
        ->allow_extra_args(false);  // CASE may follow
    app.add_option("--restart", job_.restart,
                   "Checkpoint to continue from; the result is the same, bit by bit, as without the restart");
  }
  Json run(mpi::Context* context) override {
    cases::CaseRun run(*context, job_);
    run.run(progress_);
    return run.result();
  }
  [[nodiscard]] int exit_code(const Json& result) const override {
    constexpr int signal_code = 128;  // as in shells
    if (result.value("ended_by", "") == "SIGTERM") return signal_code + SIGTERM;
    return barrio::exit_code(result["is_met"].get<bool>() ? ErrorCode::ok : ErrorCode::differs);
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    std::string text =
        fmt::format("{}: {} steps to time {:.6g}, {} cell steps in {} ({:.2f} M a second)\n",
                    r["title"].get<std::string>(), format_count(r["steps"].get<std::int64_t>()),
                    r["simulated_time"].get<double>(), format_count(r["updates"].get<std::int64_t>()),
                    format_seconds(r["seconds"].get<double>()), r["updates_per_second"].get<double>() / 1e6);
    if (const auto n = r["fallbacks"].get<std::int64_t>(); n > 0)
      text += fmt::format("  first order {} times, to keep the pressure positive\n", format_count(n));
    int level = 0;
    for (const Json& one : r["levels"])
      text +=
          fmt::format("  level {}: {} cells in {} blocks\n", level++, format_count(one["cells"].get<std::int64_t>()),
                      format_count(one["blocks"].get<std::int64_t>()));
    if (r.contains("errors")) {
      for (const Json& one : r["errors"]) {
        text += fmt::format("  error of {}: {:.4g}", one["quantity"].get<std::string>(), one["error"].get<double>());
        if (one.contains("max_error"))
          text += fmt::format(", {} {:.4g}", one["is_met"].get<bool>() ? "at most" : "MORE THAN",
                              one["max_error"].get<double>());
        text += "\n";
      }
    }
    for (const auto& [name, values] : r["series"].items())
      if (name != "time")
        text += fmt::format("  {}: {:.6g} at the start, {:.6g} at the end\n", name, values.front().get<double>(),
                            values.back().get<double>());
    if (r.contains("output"))
      text +=
          fmt::format("  {}: {} states\n", r["output"]["file"].get<std::string>(), r["output"]["states"].get<int>());
    if (r.contains("ended_by"))
      text += fmt::format("  ended early by {}: {}\n", r["ended_by"].get<std::string>(),
                          r.contains("checkpoint") ? "continue with --restart" : "no checkpoint was asked for");
    if (r.contains("checkpoint")) text += fmt::format("  {}\n", r["checkpoint"].get<std::string>());
    for (const Json& one : r["slices"])
      text += fmt::format("  {}: {} at time {:.4g}, from {:.4g} to {:.4g}\n", one["file"].get<std::string>(),
                          one["quantity"].get<std::string>(), one["time"].get<double>(), one["min"].get<double>(),
                          one["max"].get<double>());
    return text + fmt::format("  checksum {}\n", r["checksum"].get<std::string>());
  }

 private:
  cases::CaseJob job_;
  Progress* progress_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_amr() { return std::make_unique<Amr>(); }

}  // namespace barrio::apps
