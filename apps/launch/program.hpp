#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barrio::apps {

/// Where this program is.
std::filesystem::path folder_of_program();

/// Find a library of barrio's that is loaded into other programs. @return its path; empty if it is not there
std::filesystem::path preloaded_library(const std::string& name);

/// Whether the shell would start a program of this name. A name without a slash is looked for in PATH.
/// @return why not; empty if it would
std::string why_not_startable(const std::string& program);

/// Added to a signal it makes the exit code of what the signal has ended, as in shells.
inline constexpr int signal_code = 128;
/// Exit code of a program that cannot be started, as in shells.
inline constexpr int cannot_start = 127;

/// How a program ended that this one has waited for.
struct ProgramEnd {
  int code = 0;    ///< its exit code, 128 + signal if one ended it, `cannot_start`
  int signal = 0;  ///< that this process was told to end by meanwhile, SIGINT and SIGTERM among them; 0 if none
};

/// Run a command line with the terminal of this one and wait for it. What asks this process to end is handed on; it
/// waits for the program's own end all the same. If this process dies, the program is told to end. Local.
/// @param output  where its standard output goes: with this one's, to standard error, or nowhere
enum class ProgramOutput { shown, to_errors, dropped };
ProgramEnd watch_program(const std::vector<std::string>& command, ProgramOutput output = ProgramOutput::shown);
/// As watch_program. @return the code
int run_program(const std::vector<std::string>& command, ProgramOutput output = ProgramOutput::shown);
/// As run_program, and keep its standard output. @param[out] text  all of it @throws Error{failed} without a place for
/// it
int run_program(const std::vector<std::string>& command, std::string& text);

/// A folder for files that a command needs for a while; removed at the end.
class ScratchFolder {
 public:
  /// @param parent  where to make it; empty: where the system keeps such @throws Error{failed}
  explicit ScratchFolder(const std::filesystem::path& parent = {}, const std::string& name = "barrio");
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const& noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The command line that makes a report page of result documents with the Python package, and prints its name.
/// @throws Error{failed} if there is no Python with the package and what it draws with
std::vector<std::string> report_line(const std::vector<std::string>& runs, const std::string& output);

}  // namespace barrio::apps
