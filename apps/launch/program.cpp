#include "apps/launch/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "apps/command.hpp"

namespace barrio::apps {
namespace {

// Process that is told to end when this one is, and the latest signal that did so.
volatile sig_atomic_t told_to_end = 0;
volatile sig_atomic_t last_signal = 0;
volatile sig_atomic_t first_term_becomes = SIGTERM;

/// Lock a folder. @return its descriptor, which holds the lock; -1 if it is locked or cannot be
int lock_of(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

void hand_on_signal(int signal, siginfo_t* info, void*) {
  last_signal = signal;
  // Ctrl-C reaches both processes; a signal of a person or a batch system may reach only this one.
  const bool is_of_terminal = info->si_code > 0;
  int passed_on = signal;
  if (signal == SIGTERM) {
    passed_on = first_term_becomes;
    first_term_becomes = SIGTERM;
  }
  if (told_to_end > 0 && !is_of_terminal) ::kill(static_cast<pid_t>(told_to_end), passed_on);
}

/// Pass a signal on during a scope, unless it is ignored (nohup, a job in the background).
class SignalScope {
 public:
  explicit SignalScope(int signal) : signal_(signal) {
    ::sigaction(signal_, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction action = {};
    action.sa_sigaction = hand_on_signal;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(signal_, &action, nullptr);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  ~SignalScope() { restore(); }
  void restore() const { ::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ = {};
};

/// As watch_program, with the program's standard output at a descriptor.
ProgramEnd watch_writing_to(int output, const std::vector<std::string>& command) {
  told_to_end = 0;
  last_signal = 0;
  const pid_t parent = ::getpid();
  pid_t child = 0, ended = 0;
  int status = 0;
  {
    const SignalScope scopes[] = {SignalScope(SIGINT), SignalScope(SIGQUIT), SignalScope(SIGTERM), SignalScope(SIGHUP)};
    child = ::fork();
    if (child == 0) {
      for (const SignalScope& scope : scopes) scope.restore();
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) std::_Exit(cannot_start);  // the parent died before that
      if (output != STDOUT_FILENO) ::dup2(output, STDOUT_FILENO);
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
  ProgramEnd end{.code = cannot_start, .signal = last_signal};
  if (child > 0 && ended > 0) end.code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_code + WTERMSIG(status);
  return end;
}

/// Return the reason why a file cannot be run as a program; empty if it can.
std::string fault_of_program(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return "does not exist";
  if (std::filesystem::is_directory(path, ignored)) return "is a folder, not a program";
  return ::access(path.c_str(), X_OK) == 0 ? "" : "may not be executed";
}

}  // namespace

void pass_first_term_on_as(int signal) noexcept { first_term_becomes = signal; }

std::filesystem::path folder_of_program() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::filesystem::path preloaded_library(const std::string& name) {
  for (const char* folder : {"lib", BARRIO_INSTALL_LIBDIR "/barrio"}) {
    std::filesystem::path library = folder_of_program().parent_path() / folder / name;
    if (std::filesystem::exists(library)) return library;
  }
  return {};
}

std::string path_of_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  std::stringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder.empty() ? "." : folder) / program;
    if (fault_of_program(path).empty()) return path.string();
  }
  return {};
}

std::string why_not_startable(const std::string& program) {
  if (program.find('/') != std::string::npos) return fault_of_program(program);
  if (!path_of_program(program).empty()) return "";
  return fault_of_program(program).empty() ? "is not in PATH; write ./" + program : "is not in PATH";
}

ProgramEnd watch_program(const std::vector<std::string>& command, ProgramOutput output) {
  if (output == ProgramOutput::shown) return watch_writing_to(STDOUT_FILENO, command);
  if (output == ProgramOutput::to_errors) return watch_writing_to(STDERR_FILENO, command);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const ProgramEnd end = watch_writing_to(nothing, command);
  ::close(nothing);
  return end;
}

int run_program(const std::vector<std::string>& command, ProgramOutput output) {
  return watch_program(command, output).code;
}

int run_program(const std::vector<std::string>& command, std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file)
    throw Error(ErrorCode::failed, {.subject = command.front(),
                                    .cause = fmt::format("has no place for its output: {}", std::strerror(errno)),
                                    .remedy = "make room in " P_tmpdir ""});
  const int code = watch_writing_to(::fileno(file.get()), command).code;
  std::rewind(file.get());
  std::array<char, 4096> piece{};
  text.clear();
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), file.get())) text.append(piece.data(), n);
  return code;
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path place = parent.empty() ? fs::temp_directory_path() : parent;
  std::string pattern = (place / fmt::format(".{}.XXXXXX", name)).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(ErrorCode::failed, {.subject = (place / name).string(),
                                    .cause = fmt::format("cannot be written: {}", std::strerror(errno)),
                                    .remedy = "choose another path, or create the folder and check permissions"});
  path_ = pattern;
  lock_ = lock_of(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void ScratchFolder::remove_left(const std::filesystem::path& parent, const std::string& name) noexcept try {
  namespace fs = std::filesystem;
  constexpr std::chrono::minutes being_made{1};  // one that was made just now may not be locked yet
  const std::string begin = fmt::format(".{}.", name);
  constexpr std::size_t n_random = 6;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent.empty() ? fs::path(".") : parent)) {
    const std::string found = entry.path().filename().string();
    if (!found.starts_with(begin) || found.size() != begin.size() + n_random || !entry.is_directory()) continue;
    if (fs::file_time_type::clock::now() - entry.last_write_time() < being_made) continue;
    const int lock = lock_of(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path());
    ::close(lock);
  }
} catch (const std::exception&) {  // what cannot be removed stays
}

}  // namespace barrio::apps
