#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::apps {

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
  /// @param context  null for a command that is not parallel
  virtual Json run(mpi::Context* context) = 0;
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
std::unique_ptr<Command> make_load();
std::unique_ptr<Command> make_map();
std::unique_ptr<Command> make_seat();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_doctor();
/// @param n_ranks  value of --ranks, read when the command runs
std::unique_ptr<Command> make_exec(const int& n_ranks);
/// As make_exec.
std::unique_ptr<Command> make_bench(const int& n_ranks);
/// As make_exec.
std::unique_ptr<Command> make_record(const int& n_ranks);
/// As make_exec.
std::unique_ptr<Command> make_probe(const int& n_ranks);

/// All of them, in the order of --help. @param n_ranks  value of --ranks, for commands that look at it themselves
std::vector<std::unique_ptr<Command>> all_commands(const int& n_ranks);

/// Start this program again under the MPI launcher it was built for, with the same arguments but for --ranks. Does not
/// return if it succeeds. @throws Error{usage} if a launcher started this process already, {failed} if there is none
[[noreturn]] void restart_with_ranks(int n_ranks, const std::vector<std::string>& arguments);
/// What the launcher says itself. Quiet is right for barrio's own programs, which say all that is to be said of a
/// failure; for others it would also hide what MPI says of a fatal error.
enum class LauncherSpeech { quiet, plain };
/// Run a program under the launcher in this process's place, and say on stderr how. As restart_with_ranks.
[[noreturn]] void launch(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                         LauncherSpeech speech);
/// The command line that does it, with the variables it sets in front.
std::vector<std::string> launch_line(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                                     LauncherSpeech speech);
/// Ranks of the launcher that started this process; 0 if none did.
int ranks_of_launcher();
/// Whether this process is the one that speaks for all, before MPI is there to say so.
bool is_first_of_launcher();

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
