#include "barrio/base/abort.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace barrio {
namespace {
AbortHook installed_hook;

// One write per message keeps lines of several ranks apart.
void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(n);
  }
}
}  // namespace

AbortHook set_abort_hook(AbortHook hook) noexcept { return std::exchange(installed_hook, hook); }

void let_long_files_fail() noexcept {
  struct ::sigaction known{};
  if (::sigaction(SIGXFSZ, nullptr, &known) != 0 || known.sa_handler != SIG_DFL) return;
  known.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &known, nullptr);
}

AbortHook abort_hook() noexcept { return installed_hook; }

void abort_job(ErrorCode code, std::string_view message) noexcept {
  try {
    write_stderr(fmt::format("[rank {}/{}] {}\n", installed_hook.rank, installed_hook.size, message));
  } catch (...) {  // too little memory for the formatted line
    std::array<char, 64> who{};
    const auto end =
        fmt::format_to_n(who.data(), who.size(), "[rank {}/{}] ", installed_hook.rank, installed_hook.size);
    write_stderr({who.data(), std::min(end.size, who.size())});
    write_stderr(message);
    write_stderr("\n");
  }
  if (installed_hook.end_job != nullptr) installed_hook.end_job(exit_code(code));
  std::_Exit(exit_code(code));
}

}  // namespace barrio
