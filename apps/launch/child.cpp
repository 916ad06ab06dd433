#include "apps/launch/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "apps/command.hpp"
#include "apps/launch/program.hpp"

namespace barrio::apps {
namespace {

constexpr long max_error_bytes = 8192;

std::string end_of(std::FILE* file) {
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::fseek(file, size > max_error_bytes ? size - max_error_bytes : 0, SEEK_SET);
  std::string text(size > max_error_bytes ? max_error_bytes : size, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

[[noreturn]] void start(const std::vector<std::string>& command, int errors, pid_t parent,
                        const std::vector<std::string>& unset) {
  ::setpgid(0, 0);  // so the launcher and everything it starts can be ended together
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(cannot_start);  // the parent died before that
  for (const std::string& name : unset) ::unsetenv(name.c_str());
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  try {
    become(command);
  } catch (...) {
    std::_Exit(cannot_start);
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, double limit_seconds,
                   const std::vector<std::string>& unset) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), &std::fclose);
  if (!errors) return {.exit_code = cannot_start, .errors = "no temporary file can be made"};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return {.exit_code = cannot_start, .errors = "no process can be made"};
  if (child == 0) start(command, ::fileno(errors.get()), parent, unset);
  ::setpgid(child, child);
  ChildEnd end;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_seconds);
  constexpr useconds_t nap_microseconds = 5000;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > give_up) {
      end.is_stopped = true;
      // The launcher takes seconds to end ranks, which are in groups of their own. Then kill the remainder.
      ::kill(-child, SIGTERM);
      constexpr int max_naps = 1000;
      pid_t ended = 0;
      for (int nap = 0; nap < max_naps && ended == 0; ++nap) {
        ::usleep(nap_microseconds);
        ended = ::waitpid(child, &status, WNOHANG);
      }
      ::kill(-child, SIGKILL);
      if (ended == 0) ::waitpid(child, &status, 0);
      break;
    }
    ::usleep(nap_microseconds);
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_code + WTERMSIG(status);
  end.errors = end_of(errors.get());
  return end;
}

}  // namespace barrio::apps
