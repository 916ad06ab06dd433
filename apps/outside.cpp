#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "apps/command.hpp"
#include "apps/launch/paths.hpp"
#include "apps/launch/program.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/run.hpp"

// Commands that run another program: the Python reports, a program of the user, the doctor's script.

namespace barrio::apps {
namespace {

std::string find_python() {
  if (const char* chosen = std::getenv("BARRIO_PYTHON")) return chosen;
  // pip installs the command beside the Python that has the package
  if (const auto beside = folder_of_program() / "python3"; std::filesystem::exists(beside)) return beside.string();
  if (std::filesystem::exists(build_python)) return build_python;
  return "python3";
}

/// Split the output of another program into lines.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Report : public Command {
 public:
  explicit Report(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "report"; }
  [[nodiscard]] std::string summary() const override {
    return "Make one self-contained HTML page of results: pictures, plots, tables";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio report load.json heat.json map.json heat.vtkhdf -o report.html";
  }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("RUN", runs_, "Result documents (.json) and VTKHDF files, or a folder of them")->required();
    app.add_option("-o,--output", output_, "Page to write")->capture_default_str();
  }
  Json run(mpi::Context*) override {
    const std::vector<std::string> line = report_line(runs_, output_);
    Json result = json_document("barrio.report", 1);
    result["output"] = output_;
    if (options_.is_json) {
      std::string pages;
      code_ = run_program(line, pages);
      result["pages"] = lines_of(pages);
    } else {
      code_ = run_program(line);
    }
    result["code"] = code_;
    return result;
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  const GlobalOptions& options_;
  std::vector<std::string> runs_;
  std::string output_ = "report.html";
  int code_ = 0;
};

class Exec : public Command {
 public:
  explicit Exec(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "exec"; }
  [[nodiscard]] std::string summary() const override {
    return "Run a program of yours on --ranks ranks, with the launcher and flags that barrio itself uses";
  }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 4 exec ./heat wing8.h5m"; }
  void add_options(CLI::App& app) override {
    // All following words belong to the program, options included.
    app.prefix_command();
    app.fallthrough(false);
    app_ = &app;
  }
  [[nodiscard]] GlobalUse global_use() const override { return {.ranks = true, .result = false}; }
  [[nodiscard]] bool is_prefix() const override { return true; }
  Json run(mpi::Context*) override {
    std::vector<std::string> arguments = app_->remaining();
    if (arguments.empty())
      throw Error(ErrorCode::usage,
                  {.subject = "barrio exec", .cause = "a program to run is needed", .remedy = example()});
    const std::string program = arguments.front();
    arguments.erase(arguments.begin());
    if (program.starts_with("-"))
      throw Error(ErrorCode::usage, {.subject = fmt::format("'{}'", program),
                                     .cause = "stands where the program to run is expected",
                                     .remedy = "options of barrio go before the program: " + example()});
    if (const std::string reason = why_not_startable(program); !reason.empty())
      throw Error(ErrorCode::failed, {.subject = program, .cause = reason, .remedy = "name a program to run"});
    launch(options_.n_ranks > 0 ? options_.n_ranks : 1, program, arguments);
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }

 private:
  const GlobalOptions& options_;
  CLI::App* app_ = nullptr;
};

class Doctor : public Command {
 public:
  explicit Doctor(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "doctor"; }
  [[nodiscard]] std::string summary() const override {
    return "Report what this machine has, what is missing, and how to get it";
  }
  [[nodiscard]] std::string example() const override { return "barrio doctor"; }
  void add_options(CLI::App&) override {}
  Json run(mpi::Context*) override {
    for (const std::filesystem::path& script : {folder_of_program().parent_path() / "share" / "barrio" / "doctor",
                                                std::filesystem::path(source_folder) / "tools" / "doctor"}) {
      if (!std::filesystem::exists(script)) continue;
      if (!options_.is_json) code_ = run_program({"sh", script.string()});
      if (!options_.is_json && options_.result_file.empty()) return {};
      std::string text;
      code_ = run_program({"sh", script.string(), "--json"}, text);
      Json result = json_document("barrio.doctor", 1);
      const Json found = Json::parse(text, nullptr, false);
      if (!found.is_object())
        throw Error(ErrorCode::failed, {.subject = script.string(),
                                        .cause = fmt::format("ended with code {} and no document", code_),
                                        .remedy = "install barrio again"});
      for (const char* part : {"items", "ok"}) result[part] = found.at(part);
      return result;
    }
    throw Error(ErrorCode::failed,
                {.subject = "barrio doctor", .cause = "its script is not installed", .remedy = "install barrio again"});
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  const GlobalOptions& options_;
  int code_ = 0;
};

}  // namespace

std::vector<std::string> python_line(const std::string& command, const std::vector<std::string>& arguments) {
  const std::string python = find_python();
  std::string path = std::getenv("PYTHONPATH") != nullptr ? std::getenv("PYTHONPATH") : "";
  const std::filesystem::path prefix = folder_of_program().parent_path();
  // in the build tree, and in an installation
  for (const std::filesystem::path& folder : {prefix / "python", prefix / BARRIO_INSTALL_LIBDIR / "barrio" / "python"})
    if (std::filesystem::exists(folder / "barrio")) path = folder.string() + (path.empty() ? "" : ":" + path);
  if (!path.empty()) ::setenv("PYTHONPATH", path.c_str(), 1);
  // The exit code tells which part is missing, without a traceback.
  constexpr int no_pictures = 12;
  const int found = run_program({python, "-c",
                                 "import sys\nfrom importlib.util import find_spec\n"
                                 "try:\n import barrio.report\nexcept ImportError: sys.exit(1)\n"
                                 "sys.exit(0 if find_spec('matplotlib') and find_spec('pyvista') else 12)"});
  if (found == no_pictures) {
    throw Error(ErrorCode::failed,
                {.subject = command,
                 .cause = fmt::format("{} lacks the packages that draw pictures", python),
                 .remedy = "python3 -m venv --system-site-packages ~/barrio && ~/barrio/bin/pip "
                           "install matplotlib pyvista && export BARRIO_PYTHON=~/barrio/bin/python"});
  }
  if (found != 0) {
    throw Error(ErrorCode::failed,
                {.subject = command,
                 .cause = fmt::format("{} has no Python package barrio with reports", python),
                 .remedy = "install it in barrio's source folder, pip install '.[report]', or set BARRIO_PYTHON to "
                           "a Python that has it"});
  }
  std::vector<std::string> line{python};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

std::vector<std::string> report_line(const std::vector<std::string>& runs, const std::string& output) {
  std::vector<std::string> line = python_line("barrio report", {"-m", "barrio.report", "-o", output});
  line.insert(line.end(), runs.begin(), runs.end());
  return line;
}

std::unique_ptr<Command> make_report(const GlobalOptions& options) { return std::make_unique<Report>(options); }
std::unique_ptr<Command> make_exec(const GlobalOptions& options) { return std::make_unique<Exec>(options); }
std::unique_ptr<Command> make_doctor(const GlobalOptions& options) { return std::make_unique<Doctor>(options); }

}  // namespace barrio::apps
