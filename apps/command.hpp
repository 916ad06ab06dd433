#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/global_options.hpp"
#include "apps/launch/program.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::apps {

/// Which options of all commands mean something to a command.
struct GlobalUse {
  bool ranks = false;   ///< --ranks
  bool result = true;   ///< --json and --result
  bool phases = false;  ///< --times and --trace
};

/// One subcommand of `barrio`: its options, its work, and its result as text for people.
/// The work returns a JSON document; `--json` prints it, otherwise `render` does.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// One sentence.
  [[nodiscard]] virtual std::string summary() const = 0;
  /// One line that works, shown by --help.
  [[nodiscard]] virtual std::string example() const = 0;
  /// Whether it needs MPI; the others never initialise it, so they work on a login node.
  [[nodiscard]] virtual bool is_parallel() const { return false; }
  virtual void add_options(CLI::App& app) = 0;
  [[nodiscard]] virtual GlobalUse global_use() const { return {.ranks = is_parallel(), .phases = is_parallel()}; }
  /// Whether what follows its name belongs to another program, but for options of all commands in front of that.
  [[nodiscard]] virtual bool is_prefix() const { return false; }
  /// Words for another program of barrio, among which options of all commands may stand too; null if there are none.
  /// Asked for once the command line is read.
  virtual std::vector<std::string>* forwarded_words() { return nullptr; }
  /// The regions of its work in their order, with the shares of the time that they take as a rule, for a bar.
  [[nodiscard]] virtual std::span<const WorkStep> work_steps() const { return {}; }
  /// Have the progress of its work shown, on all ranks. It outlives the work.
  virtual void show_on(Progress& progress, mpi::Context& context) { progress.follow(context.trace(), work_steps()); }
  /// @param context  null for a command that is not parallel
  virtual Json run(mpi::Context* context) = 0;
  /// Whether another program has printed the result, as JSON too where that was asked for.
  [[nodiscard]] virtual bool is_printed_elsewhere() const { return false; }
  /// Text for people; empty if the command has printed what there is to say.
  [[nodiscard]] virtual std::string render(const Json& result) const = 0;
  /// Exit code of a result that is no error.
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
/// As make_exec.
std::unique_ptr<Command> make_report(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_doctor(const GlobalOptions& options);
/// @param options  read when the command runs; outlive it
std::unique_ptr<Command> make_exec(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_bench(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_record(const GlobalOptions& options);
/// As make_exec.
std::unique_ptr<Command> make_probe(const GlobalOptions& options);

/// All of them, in the order of --help. @param options  for commands that look at them themselves
std::vector<std::unique_ptr<Command>> all_commands(const GlobalOptions& options);

/// How a job of ranks ended.
struct RanksEnd {
  int code = 0;  ///< for this process: 128 + signal if one ended a rank or this process was told to end
  std::optional<Error> fault = {};  ///< a rank that a signal has ended; all else its ranks have said themselves
};

/// Start this program again under the MPI launcher it was built for, with the same arguments but for --ranks, and wait
/// for it. @throws Error{usage} if a launcher started this process already
RanksEnd restart_with_ranks(int n_ranks, const std::vector<std::string>& arguments);
/// Run a program of barrio under the launcher, say on stderr how, and wait for it. As restart_with_ranks.
RanksEnd run_ranks(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                   ProgramOutput output = ProgramOutput::shown);
/// What the launcher says itself. Quiet is right for barrio's own programs, which say all that is to be said of a
/// failure; for others it would also hide what MPI says of a fatal error.
enum class LauncherSpeech { quiet, plain };
/// Run any program under the launcher in this process's place, and say on stderr how. Does not return if it succeeds.
/// @throws Error{usage} if a launcher started this process already, {failed} if there is none
[[noreturn]] void launch(int n_ranks, const std::string& program, const std::vector<std::string>& arguments);
/// The command line that does it, with the variables it sets in front.
std::vector<std::string> launch_line(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                                     LauncherSpeech speech);
/// Ranks of the launcher that started this process; 0 if none did.
int ranks_of_launcher();
/// Let MPI start sooner where no launcher has started this process. To be called before MPI is initialised: it sets an
/// environment variable.
void expect_no_other_processes();

/// Run a program in this process's place with standard input and output. Does not return if it succeeds. @throws
/// Error{failed}
[[noreturn]] void become(const std::vector<std::string>& command);

/// Accept a whole number of 1 or more; CLI11's own check prints 300 digits.
inline CLI::Validator at_least_one() {
  return {[](const std::string& text) {
            std::int64_t n = 0;
            return CLI::detail::lexical_cast(text, n) && n >= 1 ? std::string()
                                                                : text + " is not a whole number of 1 or more";
          },
          "POSITIVE"};
}

/// Accept names that end in a suffix: readers choose by it.
inline CLI::Validator suffix(const std::string& wanted) {
  return {[wanted](const std::string& text) {
            return text.ends_with(wanted) ? std::string() : "'" + text + "' does not end in " + wanted;
          },
          "FILE" + wanted};
}

/// The reference page of all commands in Markdown, written from the parser.
std::string reference_page(const CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace barrio::apps
