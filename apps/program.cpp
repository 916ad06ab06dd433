#include "apps/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "apps/command.hpp"

namespace barrio::apps {
namespace {

constexpr int cannot_start = 127;

}  // namespace

std::filesystem::path folder_of_program() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::filesystem::path preloaded_library(const std::string& name) {
  for (const char* folder : {"lib", BARRIO_INSTALL_LIBDIR "/barrio"}) {
    std::filesystem::path library = folder_of_program().parent_path() / folder / name;
    if (std::filesystem::exists(library)) return library;
  }
  return {};
}

std::string why_not_startable(const std::string& program) {
  const auto verdict = [](const std::filesystem::path& path) -> std::string {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return "does not exist";
    if (std::filesystem::is_directory(path, ignored)) return "is a folder, not a program";
    return ::access(path.c_str(), X_OK) == 0 ? "" : "may not be executed";
  };
  if (program.find('/') != std::string::npos) return verdict(program);
  std::stringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (verdict(std::filesystem::path(folder.empty() ? "." : folder) / program).empty()) return "";
  return verdict(std::filesystem::path(program)).empty() ? "is not in PATH; write ./" + program : "is not in PATH";
}

int run_program(const std::vector<std::string>& command, ProgramOutput output) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction interrupt{}, quit{};
  ::sigaction(SIGINT, &ignore, &interrupt);
  ::sigaction(SIGQUIT, &ignore, &quit);
  const pid_t child = ::fork();
  if (child == 0) {
    ::sigaction(SIGINT, &interrupt, nullptr);
    ::sigaction(SIGQUIT, &quit, nullptr);
    if (output == ProgramOutput::dropped) ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    try {
      become(command);
    } catch (...) {
      std::_Exit(cannot_start);
    }
  }
  int status = 0;
  pid_t ended = child;
  while (child > 0 && (ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGQUIT, &quit, nullptr);
  if (ended < 0) return cannot_start;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path place = parent.empty() ? fs::temp_directory_path() : parent;
  std::string pattern = (place / fmt::format(".{}.XXXXXX", name)).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(ErrorCode::failed, {.subject = (place / name).string(),
                                    .cause = fmt::format("cannot be written: {}", std::strerror(errno)),
                                    .remedy = "choose another place, or make the folder and rights for it"});
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace barrio::apps
