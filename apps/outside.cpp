#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "apps/command.hpp"

// Commands whose work is done by another program of barrio: the Python reports and the doctor's script.

namespace barrio::apps {
namespace {

std::filesystem::path folder_of_program() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

/// Run a program and wait for it. @return its exit code, 127 if it cannot be started
int run_program(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      become(command);
    } catch (...) {
      std::_Exit(127);
    }
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

class Report : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "report"; }
  [[nodiscard]] std::string summary() const override {
    return "Make one self-contained HTML page of results: pictures, plots, tables";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio report load.json heat.json map.json heat.vtkhdf -o report.html";
  }
  void add_options(CLI::App& app) override {
    app.add_option("RUN", runs_, "Result documents (.json) and VTKHDF files, or a folder of them")->required();
    app.add_option("-o,--output", output_, "Page to write")->capture_default_str();
  }
  Json run(mpi::Context*) override {
    const std::string python = find_python();
    const std::filesystem::path built = folder_of_program().parent_path() / "python";
    std::string path = std::getenv("PYTHONPATH") != nullptr ? std::getenv("PYTHONPATH") : "";
    if (std::filesystem::exists(built / "barrio")) path = built.string() + (path.empty() ? "" : ":" + path);
    if (!path.empty()) ::setenv("PYTHONPATH", path.c_str(), 1);
    if (run_program({python, "-c", "import barrio.report"}) != 0) {
      throw Error(
          ErrorCode::failed,
          {.subject = "barrio report",
           .cause = fmt::format("the Python package barrio with its report is not there for {}", python),
           .remedy = "pip install barrio, or set BARRIO_PYTHON to a Python that has it; barrio doctor says more"});
    }
    std::vector<std::string> command{python, "-m", "barrio.report", "-o", output_};
    command.insert(command.end(), runs_.begin(), runs_.end());
    code_ = run_program(command);
    Json result = json_document("barrio.report", 1);
    result["output"] = output_;
    result["code"] = code_;
    return result;
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  static std::string find_python() {
    if (const char* chosen = std::getenv("BARRIO_PYTHON")) return chosen;
    if (std::filesystem::exists(BARRIO_BUILD_PYTHON)) return BARRIO_BUILD_PYTHON;
    return "python3";
  }
  std::vector<std::string> runs_;
  std::string output_ = "report.html";
  int code_ = 0;
};

class Exec : public Command {
 public:
  explicit Exec(const int& n_ranks) : n_ranks_(n_ranks) {}
  [[nodiscard]] std::string name() const override { return "exec"; }
  [[nodiscard]] std::string summary() const override {
    return "Run a program of yours on --ranks ranks, with the launcher and the flags that barrio uses itself";
  }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 4 exec ./heat wing8.h5m"; }
  void add_options(CLI::App& app) override {
    // What follows belongs to the program, options too.
    app.prefix_command();
    app.fallthrough(false);
    app_ = &app;
  }
  Json run(mpi::Context*) override {
    std::vector<std::string> arguments = app_->remaining();
    if (arguments.empty())
      throw Error(ErrorCode::usage,
                  {.subject = "barrio exec", .cause = "a program to run is needed", .remedy = example()});
    const std::string program = arguments.front();
    arguments.erase(arguments.begin());
    if (program.find('/') != std::string::npos && !std::filesystem::exists(program))
      throw Error(ErrorCode::failed, {.subject = program, .cause = "does not exist"});
    launch(n_ranks_ > 0 ? n_ranks_ : 1, program, arguments);
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }

 private:
  const int& n_ranks_;
  CLI::App* app_ = nullptr;
};

class Doctor : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "doctor"; }
  [[nodiscard]] std::string summary() const override {
    return "Say what was found on this machine, what is missing, and how to get it";
  }
  [[nodiscard]] std::string example() const override { return "barrio doctor"; }
  void add_options(CLI::App&) override {}
  Json run(mpi::Context*) override {
    for (const std::filesystem::path& script : {folder_of_program().parent_path() / "share" / "barrio" / "doctor",
                                                std::filesystem::path(BARRIO_SOURCE_DIR) / "tools" / "doctor"}) {
      if (!std::filesystem::exists(script)) continue;
      code_ = run_program({"sh", script.string()});
      Json result = json_document("barrio.doctor", 1);
      result["code"] = code_;
      return result;
    }
    throw Error(ErrorCode::failed,
                {.subject = "barrio doctor", .cause = "its script is not installed", .remedy = "install barrio again"});
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  int code_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }
std::unique_ptr<Command> make_exec(const int& n_ranks) { return std::make_unique<Exec>(n_ranks); }
std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace barrio::apps
