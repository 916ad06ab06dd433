#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/global_options.hpp"
#include "apps/launch/program.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::apps {

/// Options of all commands that one command uses.
struct GlobalUse {
  bool ranks = false;   ///< --ranks
  bool result = true;   ///< --json and --result
  bool phases = false;  ///< --times and --trace
};

/// A file that a command writes; an empty path means none.
struct Output {
  std::string path;
  WrittenAs as = WrittenAs::file;
};

/// One subcommand of `barrio`: its options, its work, and its result as text for people.
/// The work returns a JSON document; `--json` prints it, otherwise `render` does.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Return one sentence.
  [[nodiscard]] virtual std::string summary() const = 0;
  /// Return one command line that works, shown by --help.
  [[nodiscard]] virtual std::string example() const = 0;
  /// Return further lines for --help, each paragraph with its end of line; most commands have none.
  [[nodiscard]] virtual std::string more_help() const { return ""; }
  /// Tell whether it needs MPI; other commands never initialise it, so they work on a login node.
  [[nodiscard]] virtual bool is_parallel() const { return false; }
  virtual void add_options(CLI::App& app) = 0;
  [[nodiscard]] virtual GlobalUse global_use() const { return {.ranks = is_parallel(), .phases = is_parallel()}; }
  /// Tell whether the words after its name belong to another program, except options of all commands in front of it.
  [[nodiscard]] virtual bool is_prefix() const { return false; }
  /// Return words for another program of barrio, possibly mixed with options of all commands; null if there are none.
  /// Called after the command line is parsed.
  virtual std::vector<std::string>* forwarded_words() { return nullptr; }
  /// Return the regions of its work in order, with their usual shares of the time, for a progress bar.
  [[nodiscard]] virtual std::span<const WorkStep> work_steps() const { return {}; }
  /// Show the progress of its work, on all ranks. `progress` outlives the work.
  virtual void show_on(Progress& progress, mpi::Context& context) { progress.follow(context.trace(), work_steps()); }
  /// Return the files that it will write, as far as its options tell: they are tried before the work.
  [[nodiscard]] virtual std::vector<Output> outputs() const { return {}; }
  /// Do the work. @param context  null for a command that is not parallel
  virtual Json run(mpi::Context* context) = 0;
  /// Tell whether another program has printed the result, also as JSON if requested.
  [[nodiscard]] virtual bool is_printed_elsewhere() const { return false; }
  /// Format the result for people; empty if the command has printed everything itself.
  [[nodiscard]] virtual std::string render(const Json& result) const = 0;
  /// Return the exit code of a result that is not an error.
  [[nodiscard]] virtual int exit_code(const Json&) const { return 0; }
};

std::unique_ptr<Command> make_info();
std::unique_ptr<Command> make_generate();
std::unique_ptr<Command> make_convert();
std::unique_ptr<Command> make_partition();
std::unique_ptr<Command> make_join();
std::unique_ptr<Command> make_adapt();
std::unique_ptr<Command> make_amr();
std::unique_ptr<Command> make_delaunay();
std::unique_ptr<Command> make_load();
std::unique_ptr<Command> make_map();
std::unique_ptr<Command> make_seat();
std::unique_ptr<Command> make_show();
/// As make_exec.
std::unique_ptr<Command> make_report(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_doctor(const GlobalOptions& options);
/// @param options  read when the command runs; must outlive it
std::unique_ptr<Command> make_exec(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_bench(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_record(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_probe(const GlobalOptions& options);

/// Make all commands, in the order of --help. @param options  for commands that read them themselves
std::vector<std::unique_ptr<Command>> all_commands(const GlobalOptions& options);

/// End of a job of ranks.
struct RanksEnd {
  int code = 0;  ///< for this process: 128 + signal if one ended a rank or this process was told to end
  std::optional<Error> fault = {};  ///< if a signal ended a rank; ranks report all other faults themselves
};

/// Start this program again under the MPI launcher it was built for, with the same arguments except --ranks, and
/// wait for it. @throws Error{usage} if a launcher started this process already
RanksEnd restart_with_ranks(int n_ranks, const std::vector<std::string>& arguments);
/// Run a program of barrio under the launcher, log the launch line on stderr, and wait. Errors as restart_with_ranks.
RanksEnd run_ranks(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                   ProgramOutput output = ProgramOutput::shown);
/// Verbosity of the launcher. Quiet suits barrio's own programs, which report failures themselves; for other programs
/// it would also hide MPI's report of a fatal error.
enum class LauncherSpeech { quiet, plain };
/// Replace this process by the launcher of any program, and log its line on stderr. Does not return if it succeeds.
/// @throws Error{usage} if a launcher started this process already, {failed} if there is none
[[noreturn]] void launch(int n_ranks, const std::string& program, const std::vector<std::string>& arguments);
/// Return the command line of a launch, with its variable assignments in front.
std::vector<std::string> launch_line(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                                     LauncherSpeech speech);
/// Return the number of ranks of the launcher that started this process; 0 if none did.
int ranks_of_launcher();
/// Make MPI start faster in a process without a launcher. Call it before MPI is initialised: it sets environment
/// variables.
void expect_no_other_processes();

/// Replace this process by a program, with the same standard input and output. Does not return if it succeeds.
/// @throws Error{failed}
[[noreturn]] void become(const std::vector<std::string>& command);

/// Accept a whole number of 1 or more; CLI11's own check prints 300 digits.
inline CLI::Validator positive_integer() {
  return {[](const std::string& text) {
            std::int64_t n = 0;
            return CLI::detail::lexical_cast(text, n) && n >= 1 ? std::string()
                                                                : text + " is not a whole number of 1 or more";
          },
          "POSITIVE"};
}

/// Accept a finite number above 0.
inline CLI::Validator positive_number() {
  return {[](const std::string& text) {
            double number = 0.0;
            return CLI::detail::lexical_cast(text, number) && number > 0.0 && std::isfinite(number)
                       ? std::string()
                       : text + " is not a number above 0";
          },
          "POSITIVE"};
}

/// Accept a finite number of 0 or more.
inline CLI::Validator number_from_0() {
  return {[](const std::string& text) {
            double number = -1.0;
            return CLI::detail::lexical_cast(text, number) && number >= 0.0 && std::isfinite(number)
                       ? std::string()
                       : text + " is not a number of 0 or more";
          },
          "NONNEGATIVE"};
}

/// Accept names that end in a suffix: readers choose the format by it.
inline CLI::Validator suffix(const std::string& wanted) {
  return {[wanted](const std::string& text) {
            return text.ends_with(wanted) ? std::string() : "'" + text + "' does not end in " + wanted;
          },
          "FILE" + wanted};
}

/// Write the reference page of all commands in Markdown from the parser.
std::string reference_page(const CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace barrio::apps
