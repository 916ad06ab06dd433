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

// Who is told to end when this process is.
volatile sig_atomic_t told_to_end = 0;
void hand_on_signal(int signal) {
  if (told_to_end > 0) ::kill(static_cast<pid_t>(told_to_end), signal);
}

/// Have a signal handled in another way for a while.
class SignalScope {
 public:
  SignalScope(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ::sigaction(signal_, &action, &before_);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  ~SignalScope() { restore(); }
  void restore() const { ::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ = {};
};

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
  told_to_end = 0;
  pid_t child = 0, ended = 0;
  int status = 0;
  {
    // Ctrl-C reaches both; what a batch system sends to end a job may reach this process alone.
    const SignalScope scopes[] = {
        {SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, hand_on_signal}, {SIGHUP, hand_on_signal}};
    child = ::fork();
    if (child == 0) {
      for (const SignalScope& scope : scopes) scope.restore();
      if (output == ProgramOutput::dropped) ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
      try {
        become(command);
      } catch (...) {
        std::_Exit(cannot_start);
      }
    }
    told_to_end = child;
    while (child > 0 && (ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
  }
  if (child < 0 || ended < 0) return cannot_start;
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
