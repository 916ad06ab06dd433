#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barrio::apps {

/// Return the folder of this program.
std::filesystem::path folder_of_program();

/// Find a library of barrio that is loaded into other programs. @return its path; empty if it is missing
std::filesystem::path preloaded_library(const std::string& name);

/// Tell why the shell would not start a program of this name. A name without a slash is looked up in PATH.
/// @return the reason; empty if the shell would start it
std::string why_not_startable(const std::string& program);
/// Find a program in PATH; one with a folder stays as it is. Local. @return empty if it is not there
std::string path_of_program(const std::string& program);

/// Exit code of a process that a signal ended, less that signal, as in shells.
inline constexpr int signal_code = 128;
/// Exit code of a program that cannot be started, as in shells.
inline constexpr int cannot_start = 127;

/// End of a program that this one has waited for.
struct ProgramEnd {
  int code = 0;    ///< its exit code, 128 + signal if one ended it, `cannot_start`
  int signal = 0;  ///< latest signal that told this process to end meanwhile, such as SIGTERM; 0 if none
};

/// Pass the first SIGTERM on as another signal, to a program that ends in order then and needs time for it: launchers
/// kill soon after they have passed a SIGTERM on. Local; until the end of this process.
void pass_first_term_on_as(int signal) noexcept;

/// Destination of a program's standard output: that of this process, standard error, or nowhere.
enum class ProgramOutput { shown, to_errors, dropped };
/// Run a command line on the terminal of this process and wait for it. Signals that tell this process to end are passed
/// on; it still waits for the program's own end. If this process dies, the program is told to end. Local.
ProgramEnd watch_program(const std::vector<std::string>& command, ProgramOutput output = ProgramOutput::shown);
/// As watch_program. @return the code
int run_program(const std::vector<std::string>& command, ProgramOutput output = ProgramOutput::shown);
/// As run_program, and store its standard output. @param[out] text  all of it
/// @throws Error{failed} if there is no temporary file for it
int run_program(const std::vector<std::string>& command, std::string& text);

/// Temporary folder for files of a command; removed at the end.
class ScratchFolder {
 public:
  /// Make the folder. @param parent  its place; empty: the system's temporary folder @throws Error{failed}
  explicit ScratchFolder(const std::filesystem::path& parent = {}, const std::string& name = "barrio");
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  /// Remove folders of this name that processes left when they were killed. Those in use are locked, and stay, as do
  /// all where the file system has no locks, and those of the last minute. Local.
  static void remove_left(const std::filesystem::path& parent, const std::string& name) noexcept;
  [[nodiscard]] const std::filesystem::path& path() const& noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // descriptor of the folder, locked
};

/// Return a command line of the Python that has barrio's package with its drawing libraries. Sets PYTHONPATH for it.
/// @param command  of barrio, for messages @throws Error{failed} if no Python has them
std::vector<std::string> python_line(const std::string& command, const std::vector<std::string>& arguments);

/// Return the command line that makes a report page of result documents with the Python package, and prints its name.
/// @throws Error{failed} if no Python has the package and its drawing libraries
std::vector<std::string> report_line(const std::vector<std::string>& runs, const std::string& output);

}  // namespace barrio::apps
