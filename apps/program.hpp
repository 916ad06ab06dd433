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

/// Run a command line with the terminal of this one and wait for it; what interrupts both is left to it. Local.
/// @param output  where its standard output goes: with this one's, or nowhere
/// @return its exit code, 128 + signal if one ended it, 127 if it cannot be started
enum class ProgramOutput { shown, dropped };
int run_program(const std::vector<std::string>& command, ProgramOutput output = ProgramOutput::shown);

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

/// Make a report page of result documents with the Python package. @return the package's exit code
/// @throws Error{failed} if there is no Python with the package and what it draws with
int make_report_page(const std::vector<std::string>& runs, const std::string& output,
                     ProgramOutput said = ProgramOutput::shown);

}  // namespace barrio::apps
